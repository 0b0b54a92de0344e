/**
 * Validation of a Service as a whole. Addresses and ports that the allocator assigns may still be missing. Not here: the relation of its
 * addresses and families (validate-cluster-ips.ts), and its ports (validate-ports.ts).
 */
import type { LoadBalancerIngress, Service, ServiceSpec } from "../../../generated/core/v1.ts";
import { child, element, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { parseSloppyIp } from "../../../machinery/ip/ip-address.ts";
import { validateLegacyCidr, validateLegacyIp } from "../../../machinery/ip/ip-validation.ts";
import { validateLabels } from "../../../machinery/metadata-validation.ts";
import { validateDnsSubdomain, validatePortNumber, validateQualifiedName } from "../../../machinery/names.ts";
import { validateEndpointIp } from "../endpoint-ip.ts";
import { prefersDualStackAsBefore } from "./ip-families.ts";
import { isExternallyAccessible, isHeadless, needsClusterIp, needsHealthCheckNodePort, specOf, TRAFFIC_POLICIES } from "./needs.ts";
import { validateClusterIpChange, validateClusterIpFields, validateIpFamilyChange } from "./validate-cluster-ips.ts";
import { validateNodePortUse, validatePorts } from "./validate-ports.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const AFFINITIES = ["ClientIP", "None"];
const TRAFFIC_DISTRIBUTIONS = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const IP_MODES = ["Proxy", "VIP"];
/** One day. */
const AFFINITY_TIMEOUT_MAX_SECONDS = 86_400;

const TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";

export function* validateService(service: Service, previous?: Service): Iterable<FieldError> {
  const malformed = [...validateBeforeAllocation(service, previous)];
  if (malformed.length > 0) {
    yield* malformed;
    return;
  }
  const spec = specOf(service);
  const before = previous?.spec;
  if (previous !== undefined) yield* validateServiceChange(spec, specOf(previous));
  yield* validateTopologyAnnotations(service);
  if ((spec.ports ?? []).length === 0 && !isHeadless(spec) && needsClusterIp(spec)) yield required("spec.ports");
  yield* validateForType(spec);
  yield* validatePorts(spec.ports ?? []);
  yield* errorsOf((errors) => validateLabels(errors, spec.selector, "spec.selector"));
  yield* validateAffinity(spec);
  yield* validateClusterIpFields(spec, before);
  yield* validateExternalIps(spec.externalIPs ?? [], before?.externalIPs);
  if (!TYPES.includes(spec.type ?? "")) yield spec.type ? notSupported("spec.type", spec.type, TYPES) : required("spec.type");
  yield* validateNodePortUse(spec);
  yield* validateSourceRanges(service, previous);
  yield* validateLoadBalancerFields(spec);
  yield* validateTraffic(spec);
}

/** Upstream allocates addresses before it validates the rest, so that their errors are reported alone. */
function validateBeforeAllocation(service: Service, previous: Service | undefined): Iterable<FieldError> {
  const spec = specOf(service);
  if (previous !== undefined && prefersDualStackAsBefore(spec, specOf(previous))) return [];
  return validateClusterIpFields(spec, previous?.spec);
}

function* validateTopologyAnnotations({ metadata }: Service): Iterable<FieldError> {
  const { [TOPOLOGY_HINTS]: hints, [TOPOLOGY_MODE]: mode } = metadata.annotations ?? {};
  if (hints === undefined || mode === undefined || hints === mode) return;
  const sentence = `must match annotations[${TOPOLOGY_HINTS}] when both are specified`;
  yield invalid(element("metadata.annotations", TOPOLOGY_MODE), mode, sentence);
}

function* validateForType(spec: ServiceSpec): Iterable<FieldError> {
  const { type, clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = "" } = spec;
  if ((type === "LoadBalancer" || type === "NodePort") && isHeadless(spec)) {
    yield invalid(element("spec.clusterIPs", 0), clusterIPs[0], `may not be set to 'None' for ${type} services`);
  }
  if (type !== "ExternalName") return;
  const given = { clusterIPs: clusterIPs.length > 0, ipFamilies: ipFamilies.length > 0, ipFamilyPolicy: ipFamilyPolicy !== undefined };
  for (const [field, isGiven] of Object.entries(given)) {
    if (isGiven) yield forbidden(child("spec", field), "may not be set for ExternalName services");
  }
  // A trailing dot marks a fully qualified name.
  const name = externalName.endsWith(".") ? externalName.slice(0, -1) : externalName;
  if (name === "") yield required("spec.externalName");
  else for (const wrong of validateDnsSubdomain(name)) yield invalid("spec.externalName", name, wrong);
}

function* validateAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): Iterable<FieldError> {
  const at = "spec.sessionAffinityConfig";
  if (!AFFINITIES.includes(sessionAffinity ?? "")) {
    yield sessionAffinity ? notSupported("spec.sessionAffinity", sessionAffinity, AFFINITIES) : required("spec.sessionAffinity");
  }
  if (sessionAffinity === "None" && sessionAffinityConfig !== undefined) {
    yield forbidden(at, "must not be set when session affinity is None");
  }
  if (sessionAffinity !== "ClientIP") return;
  const detail = "when session affinity type is ClientIP";
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (sessionAffinityConfig === undefined) yield required(at, detail);
  else if (sessionAffinityConfig.clientIP === undefined) yield required(child(at, "clientIP"), detail);
  else if (seconds === undefined) yield required(child(at, "clientIP.timeoutSeconds"), detail);
  else if (seconds <= 0 || seconds > AFFINITY_TIMEOUT_MAX_SECONDS) {
    yield invalid(child(at, "clientIP.timeoutSeconds"), seconds, `must be greater than 0 and less than ${AFFINITY_TIMEOUT_MAX_SECONDS}`);
  }
}

function* validateExternalIps(addresses: readonly string[], before: readonly string[] = []): Iterable<FieldError> {
  const previous = new Set(before);
  for (const [index, address] of addresses.entries()) {
    const field = element("spec.externalIPs", index);
    const wrong = validateLegacyIp(address, { strict: true, previous });
    for (const sentence of wrong) yield invalid(field, address, sentence);
    if (wrong.length === 0) yield* validateEndpointIp(address, field);
  }
}

/** Source ranges of the load balancer: a list, or the legacy annotation. */
function* validateSourceRanges(service: Service, previous?: Service): Iterable<FieldError> {
  const { type, loadBalancerSourceRanges: ranges = [] } = specOf(service);
  if (ranges.length > 0) {
    // Upstream's own spelling.
    const at = "spec.LoadBalancerSourceRanges";
    if (type !== "LoadBalancer") yield forbidden(at, ONLY_LOAD_BALANCER);
    const before = new Set((previous?.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim()));
    for (const [index, range] of ranges.entries()) yield* validateRange(range.trim(), element(at, index), before);
    return;
  }
  const text = service.metadata.annotations?.[SOURCE_RANGES];
  if (text === undefined) return;
  const at = element("metadata.annotations", SOURCE_RANGES);
  if (type !== "LoadBalancer") yield forbidden(at, ONLY_LOAD_BALANCER);
  if (text.trim() === "" || text === previous?.metadata.annotations?.[SOURCE_RANGES]) return;
  for (const range of text.split(",")) yield* validateRange(range.trim(), at, new Set());
}

function* validateRange(range: string, field: string, previous: ReadonlySet<string>): Iterable<FieldError> {
  for (const wrong of validateLegacyCidr(range, { strict: true, previous })) yield invalid(field, range, wrong);
}

function* validateLoadBalancerFields(spec: ServiceSpec): Iterable<FieldError> {
  const { type, allocateLoadBalancerNodePorts, loadBalancerClass } = spec;
  const isLoadBalancer = type === "LoadBalancer";
  if (allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer) {
    yield forbidden("spec.allocateLoadBalancerNodePorts", ONLY_LOAD_BALANCER);
  }
  // Without the prefix "spec", as upstream.
  if (allocateLoadBalancerNodePorts === undefined && isLoadBalancer) yield required("allocateLoadBalancerNodePorts");
  yield* validateLoadBalancerClass(loadBalancerClass, isLoadBalancer);
}

function* validateLoadBalancerClass(loadBalancerClass: string | undefined, isLoadBalancer: boolean): Iterable<FieldError> {
  if (loadBalancerClass === undefined) return;
  const field = "spec.loadBalancerClass";
  if (!isLoadBalancer) yield forbidden(field, ONLY_LOAD_BALANCER);
  else for (const wrong of validateQualifiedName(loadBalancerClass)) yield invalid(field, loadBalancerClass, wrong);
}

function* validateTraffic(spec: ServiceSpec): Iterable<FieldError> {
  const { externalTrafficPolicy: external, internalTrafficPolicy: internal, trafficDistribution } = spec;
  if (!isExternallyAccessible(spec)) {
    if (external) yield invalid("spec.externalTrafficPolicy", external, "may only be set for externally-accessible services");
  } else if (!external) yield required("spec.externalTrafficPolicy");
  else if (!TRAFFIC_POLICIES.includes(external)) yield notSupported("spec.externalTrafficPolicy", external, TRAFFIC_POLICIES);
  yield* validateHealthCheckNodePort(spec);
  const isKnown = spec.type === "ClusterIP" || spec.type === "NodePort" || spec.type === "LoadBalancer";
  if (internal === undefined && isKnown) yield required("spec.internalTrafficPolicy");
  if (internal !== undefined && !TRAFFIC_POLICIES.includes(internal)) {
    yield notSupported("spec.internalTrafficPolicy", internal, TRAFFIC_POLICIES);
  }
  if (trafficDistribution !== undefined && !TRAFFIC_DISTRIBUTIONS.includes(trafficDistribution)) {
    yield notSupported("spec.trafficDistribution", trafficDistribution, TRAFFIC_DISTRIBUTIONS);
  }
}

function* validateHealthCheckNodePort(spec: ServiceSpec): Iterable<FieldError> {
  const field = "spec.healthCheckNodePort";
  const { healthCheckNodePort = 0 } = spec;
  // A missing one is allocated.
  if (healthCheckNodePort === 0) return;
  if (!needsHealthCheckNodePort(spec)) {
    yield invalid(field, healthCheckNodePort, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  } else for (const wrong of validatePortNumber(healthCheckNodePort)) yield invalid(field, healthCheckNodePort, wrong);
}

/** Immutable fields, and the format of mutable ones. */
export function* validateServiceChange(spec: ServiceSpec, before: ServiceSpec): Iterable<FieldError> {
  yield* validateClusterIpChange(spec, before);
  yield* validateIpFamilyChange(spec, before);
  // The implementation of the old class would continue beside the new one.
  if (spec.type === "LoadBalancer" && before.type === "LoadBalancer" && spec.loadBalancerClass !== before.loadBalancerClass) {
    yield invalid("spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set");
  }
  // Upstream reports it here and once more below.
  yield* validateLoadBalancerClass(spec.loadBalancerClass, spec.type === "LoadBalancer");
  const isChecked = needsHealthCheckNodePort(spec) && needsHealthCheckNodePort(before);
  if (isChecked && spec.healthCheckNodePort !== before.healthCheckNodePort) {
    yield forbidden("spec.healthCheckNodePort", "field is immutable");
  }
}

export function* validateServiceStatus(next: Service, previous: Service): Iterable<FieldError> {
  const at = "status.loadBalancer.ingress";
  const ingress = next.status?.loadBalancer?.ingress ?? [];
  if (specOf(next).type !== "LoadBalancer" && ingress.length > 0) {
    yield forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  const before = new Set((previous.status?.loadBalancer?.ingress ?? []).map(({ ip = "" }) => ip));
  for (const [index, item] of ingress.entries()) yield* validateIngress(item, element(at, index), before);
}

function* validateIngress(
  { ip = "", ipMode, hostname = "" }: LoadBalancerIngress,
  at: string,
  previous: ReadonlySet<string>,
): Iterable<FieldError> {
  if (ip !== "") for (const wrong of validateLegacyIp(ip, { strict: true, previous })) yield invalid(child(at, "ip"), ip, wrong);
  const modeAt = child(at, "ipMode");
  if (ipMode === undefined) {
    if (ip !== "") yield required(modeAt, "must be specified when `ip` is set");
  } else if (ip === "") yield forbidden(modeAt, "may not be specified when `ip` is not set");
  else if (!IP_MODES.includes(ipMode)) yield notSupported(modeAt, ipMode, IP_MODES);
  if (hostname === "") return;
  for (const wrong of validateDnsSubdomain(hostname)) yield invalid(child(at, "hostname"), hostname, wrong);
  if (parseSloppyIp(hostname) !== undefined) yield invalid(child(at, "hostname"), hostname, "must be a DNS name, not an IP address");
}
