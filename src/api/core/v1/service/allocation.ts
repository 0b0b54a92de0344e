/**
 * Computes which addresses and ports a Service needs and does not have yet, and which it holds. Pure: the allocator finds free ones, and
 * passes them to `withClusterIps`, `withNodePorts` and `withHealthCheckNodePort`. Call `resolveIpFamilies` (ip-families.ts) first. An
 * update releases what the previous object held and the next does not.
 */
import type { Service, ServicePort } from "../../../generated/core/v1.ts";
import { isHeadless, needsClusterIp, needsHealthCheckNodePort, specOf, takesNodePorts, wantsNodePorts } from "./needs.ts";
import type { IpFamily } from "./validate-cluster-ips.ts";

export interface ClusterIpNeed {
  /** Its index in `spec.clusterIPs`. */
  readonly index: number;
  readonly family: IpFamily;
  /** The requested address. Absent: any. */
  readonly requested?: string;
}

/** On an update only new ones: an address that was held before is not allocated again. */
export function clusterIpNeeds(service: Service, previous?: Service): readonly ClusterIpNeed[] {
  const spec = specOf(service);
  if (!needsClusterIp(spec) || isHeadless(spec)) return [];
  const held = new Set(previous === undefined ? [] : heldClusterIps(previous));
  const needs = (spec.ipFamilies ?? []).map((family, index): ClusterIpNeed => {
    const requested = spec.clusterIPs?.[index] ?? "";
    const known: IpFamily = family === "IPv6" ? "IPv6" : "IPv4";
    return requested === "" ? { index, family: known } : { index, family: known, requested };
  });
  return needs.filter(({ requested }) => requested === undefined || !held.has(requested));
}

/** The Service with addresses at their indexes; the first is also its `clusterIP`. */
export function withClusterIps(service: Service, given: ReadonlyMap<number, string>): Service {
  if (given.size === 0) return service;
  const spec = specOf(service);
  const clusterIPs = (spec.ipFamilies ?? []).map((_, index) => given.get(index) ?? spec.clusterIPs?.[index] ?? "");
  return { ...service, spec: { ...spec, clusterIP: clusterIPs[0] ?? "", clusterIPs } };
}

/** The addresses that this Service holds. */
export function heldClusterIps(service: Service): readonly string[] {
  const spec = specOf(service);
  return needsClusterIp(spec) && !isHeadless(spec) ? (spec.clusterIPs ?? []) : [];
}

export interface NodePortNeed {
  /** Indexes in `spec.ports` that get this one: the same port over TCP and UDP shares its node port. */
  readonly indexes: readonly number[];
  /** The requested node port. Absent: any. */
  readonly requested?: number;
}

export function nodePortNeeds(service: Service, previous?: Service): readonly NodePortNeed[] {
  const spec = specOf(service);
  if (!takesNodePorts(spec)) return [];
  const ports = [...(spec.ports ?? []).entries()].filter(([, { nodePort = 0 }]) => nodePort !== 0 || wantsNodePorts(spec));
  return previous === undefined ? needsOfNew(ports) : needsOfChanged(ports, new Set(heldNodePorts(previous)));
}

type NumberedPort = readonly [index: number, port: ServicePort];

function needsOfNew(ports: readonly NumberedPort[]): readonly NodePortNeed[] {
  const askedByPort = new Map<number, number>();
  for (const [, { port, nodePort = 0 }] of ports) if (nodePort !== 0 && !askedByPort.has(port)) askedByPort.set(port, nodePort);
  const needs = new Map<string, { indexes: number[]; requested?: number }>();
  for (const [index, { port, nodePort = 0 }] of ports) {
    const asked = nodePort !== 0 ? nodePort : askedByPort.get(port);
    const key = asked === undefined ? `port ${port}` : `node port ${asked}`;
    const need = needs.get(key);
    if (need !== undefined) need.indexes.push(index);
    else needs.set(key, asked === undefined ? { indexes: [index] } : { indexes: [index], requested: asked });
  }
  return [...needs.values()];
}

/** Here upstream allocates one per port. */
function needsOfChanged(ports: readonly NumberedPort[], held: ReadonlySet<number>): readonly NodePortNeed[] {
  const asked = new Set<number>();
  const needs: NodePortNeed[] = [];
  for (const [index, { nodePort = 0 }] of ports) {
    if (nodePort === 0) needs.push({ indexes: [index] });
    else if (!held.has(nodePort) && !asked.has(nodePort)) needs.push({ indexes: [index], requested: nodePort });
    asked.add(nodePort);
  }
  return needs;
}

/** The Service with node ports at their indexes. */
export function withNodePorts(service: Service, given: ReadonlyMap<number, number>): Service {
  if (given.size === 0) return service;
  const spec = specOf(service);
  const ports = (spec.ports ?? []).map((port, index) => {
    const nodePort = given.get(index) ?? port.nodePort;
    return nodePort === undefined || nodePort === port.nodePort ? port : { ...port, nodePort };
  });
  return { ...service, spec: { ...spec, ports } };
}

/** The node ports that it holds, except that of its health check. */
export function heldNodePorts(service: Service): readonly number[] {
  const { ports = [] } = specOf(service);
  return [...new Set(ports.flatMap(({ nodePort = 0 }) => (nodePort === 0 ? [] : [nodePort])))];
}

/** Undefined: it needs none, or has it already. */
export function healthCheckNodePortNeed(service: Service, previous?: Service): { readonly requested?: number } | undefined {
  const spec = specOf(service);
  if (!needsHealthCheckNodePort(spec)) return undefined;
  if (previous !== undefined && needsHealthCheckNodePort(specOf(previous))) return undefined;
  const { healthCheckNodePort = 0 } = spec;
  return healthCheckNodePort === 0 ? {} : { requested: healthCheckNodePort };
}

export function withHealthCheckNodePort(service: Service, healthCheckNodePort: number): Service {
  return { ...service, spec: { ...specOf(service), healthCheckNodePort } };
}

export function heldHealthCheckNodePort(service: Service): number | undefined {
  const spec = specOf(service);
  const { healthCheckNodePort = 0 } = spec;
  return needsHealthCheckNodePort(spec) && healthCheckNodePort !== 0 ? healthCheckNodePort : undefined;
}
