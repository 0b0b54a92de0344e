/** Warnings about a valid Service: fields without effect, non-canonical addresses, deprecated fields. */
import type { Service } from "../../../generated/core/v1.ts";
import { element } from "../../../machinery/field-error.ts";
import { cidrWarnings, ipWarnings } from "../../../machinery/ip/ip-validation.ts";
import { NO_CLUSTER_IP, specOf } from "./needs.ts";

const TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";

export function* serviceWarnings(service: Service): Iterable<string> {
  const spec = specOf(service);
  const { type, clusterIP = "", clusterIPs = [], externalIPs = [], loadBalancerIP = "", loadBalancerSourceRanges = [] } = spec;
  const isHeadless = type === "ClusterIP" && clusterIP === NO_CLUSTER_IP;
  if (service.metadata.annotations?.[TOPOLOGY_HINTS] !== undefined) {
    yield `annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`;
  }
  if (clusterIP !== "" && clusterIP !== NO_CLUSTER_IP) yield* addressWarnings(clusterIPs, "spec.clusterIPs");
  if (isHeadless) {
    if (loadBalancerIP !== "") yield "spec.loadBalancerIP is ignored for headless services";
    if (externalIPs.length > 0) yield "spec.externalIPs is ignored for headless services";
    if (spec.sessionAffinity !== "None") yield "spec.SessionAffinity is ignored for headless services";
  }
  yield* addressWarnings(externalIPs, "spec.externalIPs");
  if (externalIPs.length > 0 && !isHeadless && type !== "ExternalName") {
    yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters";
  }
  if (loadBalancerIP !== "") yield* ipWarnings(loadBalancerIP, "spec.loadBalancerIP");
  for (const [index, range] of loadBalancerSourceRanges.entries()) {
    yield* cidrWarnings(range, element("spec.loadBalancerSourceRanges", index));
  }
  if (type === "ExternalName" && externalIPs.length > 0) yield 'spec.externalIPs is ignored when spec.type is "ExternalName"';
  if (type !== "ExternalName" && (spec.externalName ?? "") !== "") {
    yield 'spec.externalName is ignored when spec.type is not "ExternalName"';
  }
  if (spec.trafficDistribution === "PreferClose") {
    yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"';
  }
}

function* addressWarnings(addresses: readonly string[], at: string): Iterable<string> {
  for (const [index, address] of addresses.entries()) yield* ipWarnings(address, element(at, index));
}
