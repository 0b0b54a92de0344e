/**
 * The write strategy of dependent fields of a Service, before allocation and validation: clients that know only `clusterIP` are supported,
 * clients that send their manifest again keep the allocated addresses and ports, and fields that a change of the type makes meaningless are
 * cleared. A field that the client changed is never touched: validation reports it.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { Service, ServicePort, ServiceSpec } from "../../../generated/core/v1.ts";
import { without } from "../../../members.ts";
import { changedItems, withChanges } from "../../../changes.ts";
import {
  isExternallyAccessible,
  needsClusterIp,
  needsHealthCheckNodePort,
  specOf,
  takesNodePorts,
  TRAFFIC_POLICIES,
  wantsNodePorts,
} from "./needs.ts";

export function prepareForCreate(service: Service): Service {
  const spec = specOf(service);
  const { clusterIP = "", clusterIPs = [] } = spec;
  const withBoth = clusterIP !== "" && clusterIPs.length === 0 ? { ...spec, clusterIPs: [clusterIP] } : spec;
  return { ...service, spec: withoutUnusedPolicy(withBoth), status: { loadBalancer: {} } };
}

export function prepareForUpdate(next: Service, previous: Service): Service {
  const before = specOf(previous);
  const patched = withSameClusterIps(withAllocatedValues(specOf(next), before), before);
  const spec = withoutWhatTypeForbids(patched, before);
  const status = spec.type === "LoadBalancer" ? previous.status : { ...previous.status, loadBalancer: {} };
  return withChanges(next, { spec, status: deepEqual(status, previous.status) ? previous.status : status });
}

/** Allocated values stay if the client still does not set them. */
function withAllocatedValues(next: ServiceSpec, before: ServiceSpec): ServiceSpec {
  let spec = next;
  if (needsClusterIp(before) && needsClusterIp(next)) {
    spec = withChanges(spec, {
      clusterIP: next.clusterIP || before.clusterIP,
      clusterIPs: (next.clusterIPs ?? []).length > 0 ? next.clusterIPs : before.clusterIPs,
    });
  }
  if (wantsNodePorts(before) && wantsNodePorts(next)) spec = withChanges(spec, { ports: withNodePortsOf(before, next) });
  if (needsHealthCheckNodePort(before) && needsHealthCheckNodePort(next)) {
    spec = withChanges(spec, { healthCheckNodePort: next.healthCheckNodePort || before.healthCheckNodePort });
  }
  return spec;
}

/** Ports are matched by name; a node port that the client now uses for another one is not assigned twice. */
function withNodePortsOf(before: ServiceSpec, next: ServiceSpec): readonly ServicePort[] | undefined {
  const asked = new Set(nodePortsIn(next));
  const taken = new Set(nodePortsIn(before).filter((nodePort) => asked.has(nodePort)));
  const byName = new Map((before.ports ?? []).map(({ name = "", nodePort = 0 }) => [name, nodePort]));
  return changedItems(next.ports, (port) => {
    const known = byName.get(port.name ?? "") ?? 0;
    return (port.nodePort ?? 0) === 0 && known !== 0 && !taken.has(known) ? { ...port, nodePort: known } : port;
  });
}

function nodePortsIn({ ports = [] }: ServiceSpec): readonly number[] {
  return ports.flatMap(({ nodePort = 0 }) => (nodePort === 0 ? [] : [nodePort]));
}

/** `clusterIP` is the first of `clusterIPs`; a change of only one of the two applies to both. */
function withSameClusterIps(next: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const { clusterIP = "", clusterIPs = [] } = next;
  const { clusterIP: clusterIPBefore = "", clusterIPs: clusterIPsBefore = [] } = before;
  if (clusterIP === clusterIPBefore) return clusterIPs.length === 0 ? withChanges(next, { clusterIPs: before.clusterIPs }) : next;
  if (!deepEqual(clusterIPs, clusterIPsBefore)) return next;
  return clusterIP === "" ? without(next, "clusterIPs") : { ...next, clusterIPs: [clusterIP] };
}

function withoutWhatTypeForbids(next: ServiceSpec, before: ServiceSpec): ServiceSpec {
  let spec = next;
  if (needsClusterIp(before) && !needsClusterIp(next)) spec = withoutClusterIps(spec, before);
  if (takesNodePorts(before) && !takesNodePorts(next) && hasNoNewNodePorts(next, before)) {
    spec = withChanges(spec, { ports: changedItems(spec.ports, (port) => without(port, "nodePort")) });
  }
  if (needsHealthCheckNodePort(before) && !needsHealthCheckNodePort(next) && next.healthCheckNodePort === before.healthCheckNodePort) {
    spec = without(spec, "healthCheckNodePort");
  }
  if (before.type === "LoadBalancer" && next.type !== "LoadBalancer") spec = withoutLoadBalancerFields(spec, before);
  const isHidden = isExternallyAccessible(before) && !isExternallyAccessible(next);
  if (isHidden && next.externalTrafficPolicy === before.externalTrafficPolicy) spec = without(spec, "externalTrafficPolicy");
  return withoutUnusedPolicy(spec);
}

/** Upstream keeps it in storage and hides it from readers, which is equivalent. An unknown one stays for validation. */
function withoutUnusedPolicy(spec: ServiceSpec): ServiceSpec {
  const { type, internalTrafficPolicy = "" } = spec;
  const isUnused = type === "ExternalName" && TRAFFIC_POLICIES.includes(internalTrafficPolicy);
  return isUnused ? without(spec, "internalTrafficPolicy") : spec;
}

function withoutClusterIps(next: ServiceSpec, before: ServiceSpec): ServiceSpec {
  let spec = next;
  const isSame = (next.clusterIP ?? "") === (before.clusterIP ?? "") && deepEqual(next.clusterIPs ?? [], before.clusterIPs ?? []);
  if (isSame) spec = without(without(spec, "clusterIP"), "clusterIPs");
  if (deepEqual(next.ipFamilies, before.ipFamilies)) spec = without(spec, "ipFamilies");
  if (next.ipFamilyPolicy === before.ipFamilyPolicy) spec = without(spec, "ipFamilyPolicy");
  return spec;
}

/** A shorter list is not a request for particular addresses. */
function hasNoNewNodePorts(next: ServiceSpec, before: ServiceSpec): boolean {
  const known = new Set(nodePortsIn(before));
  return nodePortsIn(next).every((nodePort) => known.has(nodePort));
}

function withoutLoadBalancerFields(next: ServiceSpec, before: ServiceSpec): ServiceSpec {
  let spec = next;
  if (next.allocateLoadBalancerNodePorts === before.allocateLoadBalancerNodePorts) spec = without(spec, "allocateLoadBalancerNodePorts");
  if (next.loadBalancerClass === before.loadBalancerClass) spec = without(spec, "loadBalancerClass");
  return spec;
}
