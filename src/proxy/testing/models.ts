/** Builders of proxy models for the tests of appliers and of the engine; each names only what a case is about. */
import { hostPort } from "../compute/slice-endpoints.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../model.ts";

/** A model of these service ports, sorted; node ports on all addresses, nothing known of Pods and node unless `more` has it. */
export function aModel(ports: readonly ServicePort[], more: Partial<Omit<ProxyModel, "servicePorts">> = {}): ProxyModel {
  const sorted = [...ports].sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    servicePorts: new Map(sorted.map((port) => [port.key, port])),
    nodePortAddresses: ["0.0.0.0/0", "::/0"],
    podCidrs: [],
    serviceCidrs: [],
    nodeIps: [],
    healthChecks: [],
    announcedIps: [],
    ...more,
  };
}

export interface ServicePortOptions extends Partial<ServicePort> {
  /** "10.244.0.5:8080" or "[fd00::5]:8080": usable for policy Cluster; those on this node end with "@here" and are also the local ones. */
  readonly endpoints?: readonly string[];
}

/** "default/web:http", TCP port 80 of 10.96.0.10, without endpoints unless the options have some. */
export function aServicePort({ endpoints = [], ...more }: ServicePortOptions = {}): ServicePort {
  const { namespace = "default", name = "web", portName = "http", protocol = "TCP", family = 4 } = more;
  const all = endpoints.map(parseEndpoint);
  const port: ServicePort = {
    key: `${namespace}/${name}:${portName}/${protocol}/${family}`,
    displayName: `${namespace}/${name}${portName === "" ? "" : `:${portName}`}`,
    ...{ namespace, name, portName, protocol, family },
    port: 80,
    clusterIp: family === 4 ? "10.96.0.10" : "fd96::10",
    externalIps: [],
    loadBalancerIps: [],
    sourceRanges: [],
    internalPolicy: "Cluster",
    externalPolicy: "Cluster",
    clusterEndpoints: all,
    localEndpoints: [],
    hasEndpoints: all.length > 0,
    servingEndpoints: protocol === "UDP" ? all.map(({ address, port: number }) => hostPort(address, number)) : [],
  };
  const isLocal = more.internalPolicy === "Local" || more.externalPolicy === "Local";
  return { ...port, ...(isLocal ? { localEndpoints: all.filter((one) => one.isLocal) } : {}), ...more };
}

function parseEndpoint(text: string): ServiceEndpoint {
  const [, bracketed, plain, port, here] = /^(?:\[(.+)\]|([^:]+)):(\d+)(@here)?$/.exec(text) ?? [];
  return { address: bracketed ?? plain ?? "", port: Number(port), isLocal: here !== undefined };
}
