/** Defaults of a Service. Addresses and ports are assigned later, by the allocator. */
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec, ServiceStatus } from "../../../generated/core/v1.ts";
import { without } from "../../../members.ts";
import { changedItems, withChanges } from "../../../changes.ts";
import { isExternallyAccessible } from "./needs.ts";

/** Three hours. */
const AFFINITY_TIMEOUT_SECONDS = 10_800;

export function defaultService(service: Service): Service {
  const { spec, status } = service;
  if (spec === undefined) return service;
  const next = withTraffic(
    withAffinity(withChanges(spec, { type: spec.type || "ClusterIP", ports: changedItems(spec.ports, defaultPort) })),
  );
  return withChanges(service, {
    spec: next,
    status: status === undefined || next.type !== "LoadBalancer" ? undefined : withIpModes(status),
  });
}

function defaultPort(port: ServicePort): ServicePort {
  const { targetPort = 0 } = port;
  return withChanges(port, {
    protocol: port.protocol || "TCP",
    targetPort: targetPort === 0 || targetPort === "" ? port.port : targetPort,
  });
}

function withAffinity(spec: ServiceSpec): ServiceSpec {
  const sessionAffinity = spec.sessionAffinity || "None";
  const next = withChanges(spec, { sessionAffinity });
  if (sessionAffinity === "None") return without(next, "sessionAffinityConfig");
  const isComplete = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined;
  if (sessionAffinity !== "ClientIP" || isComplete) return next;
  return { ...next, sessionAffinityConfig: { clientIP: { timeoutSeconds: AFFINITY_TIMEOUT_SECONDS } } };
}

function withTraffic(spec: ServiceSpec): ServiceSpec {
  const { type } = spec;
  const isKnown = type === "ClusterIP" || type === "NodePort" || type === "LoadBalancer";
  return withChanges(spec, {
    externalTrafficPolicy: spec.externalTrafficPolicy || (isExternallyAccessible(spec) ? "Cluster" : undefined),
    internalTrafficPolicy: spec.internalTrafficPolicy ?? (isKnown ? "Cluster" : undefined),
    allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? (type === "LoadBalancer" ? true : undefined),
  });
}

function withIpModes(status: ServiceStatus): ServiceStatus {
  const { loadBalancer } = status;
  if (loadBalancer === undefined) return status;
  const ingress = changedItems(loadBalancer.ingress, withIpMode);
  return withChanges(status, { loadBalancer: withChanges(loadBalancer, { ingress }) });
}

function withIpMode(ingress: LoadBalancerIngress): LoadBalancerIngress {
  return (ingress.ip ?? "") === "" ? ingress : withChanges(ingress, { ipMode: ingress.ipMode ?? "VIP" });
}
