/**
 * Validation of a Node. Most fields are left to the kubelet and the scheduler; a few are set once and then relied on. Paths such as
 * `metadata.taints` are upstream's.
 */
import type { Node, NodeSpec } from "../../../generated/core/v1.ts";
import { duplicate, element, forbidden, internalFieldError, invalid, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { networkOf, parseSloppyCidr, unmapIp } from "../../../machinery/ip/ip-address.ts";
import { validateLegacyCidr } from "../../../machinery/ip/ip-validation.ts";
import { DNS_SUBDOMAIN_LENGTH_MAX } from "../../../machinery/names.ts";
import { readQuantity } from "../pod/resource-list.ts";
import { validateResourceQuantity } from "../pod/validation/resources.ts";
import { validateNodeAnnotations } from "./annotations.ts";
import { validateConfigSource, validateConfigStatus } from "./config-source.ts";
import { validateTaints } from "./taints.ts";

export function* validateNode(node: Node): Iterable<FieldError> {
  const { spec = {}, status } = node;
  yield* validateNodeAnnotations(node.metadata.annotations ?? {});
  yield* validateTaints(spec.taints ?? [], "metadata.taints");
  yield* validateAmounts(node);
  const swapBytes = status?.nodeInfo?.swap?.capacity;
  if (swapBytes !== undefined && swapBytes <= 0) yield invalid("metadata.nodeSwapStatus.capacity", swapBytes, "must be greater than zero");
  yield* validateFeatures(status?.declaredFeatures ?? [], "status.declaredFeatures");
  yield* validatePodCidrs(spec.podCIDRs ?? [], "spec.podCIDRs");
}

function* validateAmounts({ status = {} }: Node): Iterable<FieldError> {
  for (const part of ["capacity", "allocatable"] as const) {
    for (const [name, text] of Object.entries(status[part] ?? {})) {
      yield* errorsOf((errors) => validateResourceQuantity(errors, name, readQuantity(text), `status.${part}.${name}`));
    }
  }
}

function* validateFeatures(features: readonly string[], at: string): Iterable<FieldError> {
  for (const [index, feature] of features.entries()) {
    const wrong = wrongWithFeature(feature);
    if (wrong !== undefined) yield invalid(element(at, index), feature, `invalid feature name ${JSON.stringify(feature)}: ${wrong}`);
    const next = features[index + 1];
    if (next === feature) yield duplicate(element(at, index + 1), next);
    else if (next !== undefined && next < feature) yield invalid(element(at, index + 1), next, "list must be sorted alphabetically");
  }
}

function wrongWithFeature(feature: string): string | undefined {
  if (feature.length > DNS_SUBDOMAIN_LENGTH_MAX) return `must be no more than ${DNS_SUBDOMAIN_LENGTH_MAX} characters`;
  if (/^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/.test(feature)) return undefined;
  return "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
}

/** At most one CIDR per IP family. */
function* validatePodCidrs(ranges: readonly string[], at: string): Iterable<FieldError> {
  for (const [index, range] of ranges.entries()) {
    for (const wrong of validateLegacyCidr(range, { strict: true })) yield invalid(element(at, index), range, wrong);
  }
  if (ranges.length < 2) return;
  const parsed = ranges.map(parseSloppyCidr);
  const bad = parsed.indexOf(undefined);
  if (bad >= 0) {
    const why = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${ranges[bad]})`;
    yield internalFieldError(at, `invalid PodCIDRs. failed to check with dual stack with error:${why}`);
  }
  const families = new Set(bad >= 0 ? [] : parsed.map((cidr) => cidr && unmapIp(networkOf(cidr).address).family));
  if (families.size < 2 || ranges.length > 2) yield invalid(at, ranges, "may specify no more than one CIDR for each IP family");
}

/** In addition to `validateNode` for the object itself; instead of it for /status. */
export function* validateNodeUpdate(next: Node, previous: Node): Iterable<FieldError> {
  const { spec = {}, status } = next;
  yield* validateAddresses(next);
  yield* validateSpecChange(spec, previous.spec ?? {});
  if (spec.configSource !== undefined) yield* validateConfigSource(spec.configSource, "spec.configSource");
  if (status?.config !== undefined) yield* validateConfigStatus(status.config, "status.config");
}

export function* validateNodeStatus(next: Node, previous: Node): Iterable<FieldError> {
  yield* validateNodeAnnotations(next.metadata.annotations ?? {});
  yield* validateAmounts(next);
  yield* validateFeatures(next.status?.declaredFeatures ?? [], "status.declaredFeatures");
  yield* validateNodeUpdate(next, previous);
  yield* validateTaints(next.spec?.taints ?? [], "metadata.taints");
}

function* validateAddresses({ status }: Node): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, { type, address }] of (status?.addresses ?? []).entries()) {
    const pair = JSON.stringify([type, address]);
    if (seen.has(pair)) yield duplicate(element("status.addresses", index), { Type: type, Address: address });
    seen.add(pair);
  }
}

/** Pods have addresses of the CIDR already, and volumes and routes are looked up by the provider ID: both are set once. */
function* validateSpecChange(next: NodeSpec, before: NodeSpec): Iterable<FieldError> {
  const { podCIDRs: ranges = [] } = next;
  const { podCIDRs: previous = [] } = before;
  const sentence = 'node updates may not change podCIDR except from "" to valid';
  if (previous.length > 0 && ranges.length !== previous.length) yield forbidden("spec.podCIDRs", sentence);
  else for (const [index, range] of previous.entries()) if (range !== ranges[index]) yield forbidden("spec.podCIDRs", sentence);
  if ((before.providerID ?? "") !== "" && next.providerID !== before.providerID) {
    yield forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid');
  }
  if ((next.externalID ?? "") !== (before.externalID ?? "")) yield forbidden("spec.externalID", "may not be updated");
}
