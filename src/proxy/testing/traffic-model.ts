/** Builders of proxy models for the traffic suite and the tests of appliers; each names only what a case is about. */
import { hostPort } from "../compute/slice-endpoints.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../model.ts";

/** A TCP port of "default/<name>" with policies Cluster. `endpoints` are usable for both policies where they are local. */
export function aServicePort(
  name: string,
  fields: Partial<ServicePort> & Pick<ServicePort, "clusterIp" | "port">,
  endpoints: readonly ServiceEndpoint[] = [],
): ServicePort {
  const { protocol = "TCP", portName = "" } = fields;
  const family = fields.clusterIp.includes(":") ? 6 : 4;
  return {
    key: `default/${name}:${portName}/${protocol}/${family}`,
    displayName: `default/${name}${portName === "" ? "" : `:${portName}`}`,
    namespace: "default",
    name,
    portName,
    protocol,
    family,
    externalIps: [],
    loadBalancerIps: [],
    sourceRanges: [],
    internalPolicy: "Cluster",
    externalPolicy: "Cluster",
    clusterEndpoints: endpoints,
    localEndpoints: endpoints.filter(({ isLocal }) => isLocal),
    hasEndpoints: endpoints.length > 0,
    servingEndpoints: protocol === "UDP" ? endpoints.map(({ address, port }) => hostPort(address, port)) : [],
    ...fields,
  };
}

export function aModel(ports: readonly ServicePort[], fields: Partial<ProxyModel> = {}): ProxyModel {
  const sorted = [...ports].sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    servicePorts: new Map(sorted.map((port) => [port.key, port])),
    nodePortAddresses: ["0.0.0.0/0", "::/0"],
    podCidrs: [],
    nodeIps: [],
    healthChecks: [],
    ...fields,
  };
}
