/** Predicates of a Service by its type and a few fields. The allocator uses them too. */
import type { Service, ServiceSpec } from "../../../generated/core/v1.ts";

/** Headless: the name resolves to the Pods themselves. */
export const NO_CLUSTER_IP = "None";

/** Values of internalTrafficPolicy and externalTrafficPolicy. */
export const TRAFFIC_POLICIES: readonly string[] = ["Cluster", "Local"];

export const EMPTY_SPEC: ServiceSpec = Object.freeze({});

export function specOf(service: Service): ServiceSpec {
  return service.spec ?? EMPTY_SPEC;
}

/** An ExternalName is an alias of an external name, and nothing else. */
export function needsClusterIp({ type }: ServiceSpec): boolean {
  return type !== "ExternalName";
}

export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === NO_CLUSTER_IP;
}

/** True if its ports may have node ports. */
export function takesNodePorts({ type }: ServiceSpec): boolean {
  return type === "NodePort" || type === "LoadBalancer";
}

/** True if every port gets a node port by default. */
export function wantsNodePorts({ type, allocateLoadBalancerNodePorts = true }: ServiceSpec): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts);
}

/** Health check node port: a load balancer with externalTrafficPolicy Local checks on it which nodes have Pods. */
export function needsHealthCheckNodePort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return takesNodePorts(spec) || (spec.type === "ClusterIP" && (spec.externalIPs ?? []).length > 0);
}
