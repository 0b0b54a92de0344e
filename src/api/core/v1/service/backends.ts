/**
 * The backends of a Service: which Pods, at which addresses and ports. One rule for Endpoints and EndpointSlices, which must not disagree.
 * A selector without labels selects nothing: the endpoints of such a Service are managed elsewhere. Not here: writing them
 * (controllers/endpoints, controllers/endpoint-slice), forwarding (proxy).
 */
import type { Container, Pod, Service, ServicePort } from "../../../generated/core/v1.ts";
import { formatIp, parseSloppyIp, unmapIp } from "../../../machinery/ip/ip-address.ts";
import { isSidecar } from "../pod/containers.ts";
import { isTerminal } from "../pod/readiness.ts";
import { NO_CLUSTER_IP, specOf } from "./needs.ts";
import { familyOf, type IpFamily } from "./validate-cluster-ips.ts";

export type Labels = Readonly<Record<string, string>>;

/** Undefined if it has none, or one without labels. */
export function selectorOf(service: Service): Labels | undefined {
  const { selector } = specOf(service);
  return selector === undefined || Object.keys(selector).length === 0 ? undefined : selector;
}

/** True if its endpoints are Pods. An ExternalName has none, also if it has a selector. */
export function followsPods(service: Service): boolean {
  return specOf(service).type !== "ExternalName" && selectorOf(service) !== undefined;
}

export function selects(selector: Labels, labels: Labels = {}): boolean {
  for (const key in selector) if (labels[key] !== selector[key]) return false;
  return true;
}

/** Headless, whatever its type; upstream labels the endpoints of such a Service. */
export function hasNoClusterIp(service: Service): boolean {
  const { clusterIP = "" } = specOf(service);
  return clusterIP === "" || clusterIP === NO_CLUSTER_IP;
}

/** In the order of its addresses. One without families and address comes from a server that does not know families: both. */
export function familiesOf(service: Service): readonly IpFamily[] {
  const { ipFamilies = [], clusterIP = "" } = specOf(service);
  if (ipFamilies.length > 0) return ipFamilies.filter((family) => family === "IPv4" || family === "IPv6");
  return hasNoClusterIp(service) ? ["IPv4", "IPv6"] : [familyOf(clusterIP)];
}

/**
 * True if its containers may still run and it has an address. A terminating Pod stays until it is deleted, for clients that want such
 * endpoints.
 */
export function isBackend(pod: Pod): boolean {
  return !isTerminal(pod) && ((pod.status?.podIP ?? "") !== "" || (pod.status?.podIPs ?? []).length > 0);
}

/** Canonical addresses of one family: a Pod's status may have leading zeros. */
export function podAddresses({ status }: Pod, family: IpFamily): readonly string[] {
  const addresses: string[] = [];
  for (const { ip } of status?.podIPs ?? []) {
    const parsed = parseSloppyIp(ip ?? "");
    if (parsed === undefined) continue;
    const address = unmapIp(parsed);
    if ((address.family === 6) === (family === "IPv6")) addresses.push(formatIp(address));
  }
  return addresses;
}

/** The Pod's host name in the Service's subdomain, if it has one. */
export function hostnameWithin(service: Service, { metadata, spec }: Pod): string | undefined {
  const { hostname = "", subdomain } = spec ?? {};
  const isThere = subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return hostname !== "" && isThere ? hostname : undefined;
}

/** The port number of the Pod's containers; a named port may differ per Pod. Undefined if none of its containers has that name. */
export function targetPortOf({ spec }: Pod, { port, targetPort = port, protocol = "TCP" }: ServicePort): number | undefined {
  if (typeof targetPort === "number") return targetPort;
  const sidecars = (spec?.initContainers ?? []).filter(isSidecar);
  return namedPort(spec?.containers ?? [], targetPort, protocol) ?? namedPort(sidecars, targetPort, protocol);
}

function namedPort(containers: readonly Container[], name: string, protocol: string): number | undefined {
  for (const { ports = [] } of containers) {
    const found = ports.find((port) => port.name === name && (port.protocol ?? "TCP") === protocol);
    if (found !== undefined) return found.containerPort;
  }
  return undefined;
}
