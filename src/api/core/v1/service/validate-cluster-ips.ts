/**
 * Validation of `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy`, and of their changes: the first address and family are
 * immutable, a second of the other family may be added and removed. Exported separately, because the allocator validates these before it
 * allocates addresses.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { ServiceSpec } from "../../../generated/core/v1.ts";
import { duplicate, element, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { parseSloppyIp } from "../../../machinery/ip/ip-address.ts";
import { validateLegacyIp } from "../../../machinery/ip/ip-validation.ts";
import { isHeadless, needsClusterIp, NO_CLUSTER_IP } from "./needs.ts";

export type IpFamily = "IPv4" | "IPv6";

const FAMILIES = ["IPv4", "IPv6"];
const POLICIES = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const UNCHANGEABLE = "may not change once set";

/** The family of a valid address, also in a legacy spelling. */
export function familyOf(address: string): IpFamily {
  return parseSloppyIp(address)?.family === 6 ? "IPv6" : "IPv4";
}

export function* validateClusterIpFields(spec: ServiceSpec, previous?: ServiceSpec): Iterable<FieldError> {
  // For an ExternalName all of them must be absent, which is validated elsewhere.
  if (!needsClusterIp(spec)) return;
  yield* validateBothNames(spec);
  yield* validateFamilies(spec.ipFamilies ?? []);
  const { ipFamilyPolicy, clusterIPs = [] } = spec;
  if (ipFamilyPolicy !== undefined && !POLICIES.includes(ipFamilyPolicy)) {
    yield notSupported("spec.ipFamilyPolicy", ipFamilyPolicy, POLICIES);
  }
  const wrong = [...validateAddresses(clusterIPs, previous?.clusterIPs)];
  yield* wrong;
  if (clusterIPs.length > 2) yield invalid("spec.clusterIPs", clusterIPs, "may only hold up to 2 values");
  // Further errors would only confuse after a malformed address.
  if (wrong.length > 0) return;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size < 2) {
    yield invalid("spec.clusterIPs", clusterIPs, "may specify no more than one IP for each IP family");
  }
  if (!isHeadless(spec)) yield* validateFamiliesOf(clusterIPs, spec.ipFamilies ?? []);
}

function* validateBothNames({ clusterIP = "", clusterIPs = [] }: ServiceSpec): Iterable<FieldError> {
  const field = "spec.clusterIPs";
  if (clusterIP === "") {
    if (clusterIPs.length > 0) yield invalid(field, clusterIPs, "must be empty when `clusterIP` is not specified");
  } else if (clusterIPs.length === 0) yield required(field);
  else if (clusterIPs[0] !== clusterIP) yield invalid(field, clusterIPs, "first value must match `clusterIP`");
}

function* validateFamilies(families: readonly string[]): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, family] of families.entries()) {
    const field = element("spec.ipFamilies", index);
    if (!FAMILIES.includes(family)) yield notSupported(field, family, FAMILIES);
    if (seen.has(family)) yield duplicate(field, family);
    seen.add(family);
  }
}

function* validateAddresses(clusterIPs: readonly string[], before: readonly string[] = []): Iterable<FieldError> {
  const previous = new Set(before);
  for (const [index, address] of clusterIPs.entries()) {
    if (index === 0 && address === NO_CLUSTER_IP) {
      if (clusterIPs.length > 1) yield invalid("spec.clusterIPs", clusterIPs, "'None' must be the first and only value");
      continue;
    }
    for (const wrong of validateLegacyIp(address, { strict: true, previous })) {
      yield invalid(element("spec.clusterIPs", index), address, wrong);
    }
  }
}

function* validateFamiliesOf(clusterIPs: readonly string[], families: readonly string[]): Iterable<FieldError> {
  for (const [index, address] of clusterIPs.slice(0, families.length).entries()) {
    const isIPv6 = familyOf(address) === "IPv6";
    const family = families[index];
    if ((family === "IPv4" && isIPv6) || (family === "IPv6" && !isIPv6)) {
      const sentence = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
      yield invalid(element("spec.clusterIPs", index), address, sentence);
    }
  }
}

/** Validates changes of addresses. A change from or to ExternalName has none to keep. */
export function* validateClusterIpChange(next: ServiceSpec, before: ServiceSpec): Iterable<FieldError> {
  if (!needsClusterIp(next) || !needsClusterIp(before) || (isHeadless(next) && isHeadless(before))) return;
  const { clusterIPs = [] } = next;
  const { clusterIPs: previous = [] } = before;
  if (clusterIPs.length === previous.length) {
    for (const [index, address] of previous.entries()) {
      if (address !== clusterIPs[index]) yield invalid(element("spec.clusterIPs", index), clusterIPs, UNCHANGEABLE);
    }
    return;
  }
  const first = element("spec.clusterIPs", 0);
  if (clusterIPs.length === 0) yield invalid(first, null, "primary clusterIP can not be unset");
  if (clusterIPs.length > 0 && previous.length > 0 && clusterIPs[0] !== previous[0]) yield invalid(first, clusterIPs, UNCHANGEABLE);
  if (clusterIPs.length === 1 && previous.length > 1) yield* validateRelease(next, "secondary clusterIP");
}

/** Validates changes of families. Those of a headless Service are mutable. */
export function* validateIpFamilyChange(next: ServiceSpec, before: ServiceSpec): Iterable<FieldError> {
  if (!needsClusterIp(next) || !needsClusterIp(before) || isHeadless(next) || isHeadless(before)) return;
  const { ipFamilies = [], clusterIPs } = next;
  const { ipFamilies: previous = [] } = before;
  const first = element("spec.ipFamilies", 0);
  if (ipFamilies.length === previous.length) {
    if (deepEqual(ipFamilies, previous)) return;
    for (const [index, family] of previous.entries()) if (family !== ipFamilies[index]) yield invalid(first, ipFamilies, UNCHANGEABLE);
    return;
  }
  if (ipFamilies.length < previous.length && (clusterIPs ?? []).length === 0) {
    yield invalid(first, ipFamilies.length === 0 ? null : ipFamilies, "primary ipFamily can not be unset");
  }
  // Upstream quotes the addresses here, not the families.
  if (ipFamilies.length > 0 && previous.length > 0 && ipFamilies[0] !== previous[0]) yield invalid(first, clusterIPs, UNCHANGEABLE);
  if (ipFamilies.length === 1 && previous.length > 1) yield* validateRelease(next, "secondary ipFamily");
}

/** The second one is released only if both the list and the policy say so. */
function* validateRelease({ ipFamilyPolicy }: ServiceSpec, what: string): Iterable<FieldError> {
  if (ipFamilyPolicy === "SingleStack") return;
  yield invalid("spec.ipFamilyPolicy", ipFamilyPolicy, `must be set to 'SingleStack' when releasing the ${what}`);
}
