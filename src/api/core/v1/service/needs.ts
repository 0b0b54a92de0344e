/**
 * What a Service is and what it needs, as its type and a few fields say. Also what the allocator asks for addresses and ports by.
 */
import type { Service, ServiceSpec } from "../../../generated/core/v1.ts";

/** In place of an address: the name leads to the Pods themselves. */
export const NO_CLUSTER_IP = "None";

/** What internalTrafficPolicy and externalTrafficPolicy may be. */
export const TRAFFIC_POLICIES: readonly string[] = ["Cluster", "Local"];

export const EMPTY_SPEC: ServiceSpec = Object.freeze({});

export function specOf(service: Service): ServiceSpec {
  return service.spec ?? EMPTY_SPEC;
}

/** An ExternalName is another name for something outside, and nothing else. */
export function needsClusterIp({ type }: ServiceSpec): boolean {
  return type !== "ExternalName";
}

export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === NO_CLUSTER_IP;
}

/** Whether its ports may have node ports. */
export function takesNodePorts({ type }: ServiceSpec): boolean {
  return type === "NodePort" || type === "LoadBalancer";
}

/** Whether every port gets a node port, also without asking for one. */
export function wantsNodePorts({ type, allocateLoadBalancerNodePorts = true }: ServiceSpec): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts);
}

/** A load balancer that must send traffic only to nodes with Pods asks each node on this port whether it has any. */
export function needsHealthCheckNodePort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return takesNodePorts(spec) || (spec.type === "ClusterIP" && (spec.externalIPs ?? []).length > 0);
}
