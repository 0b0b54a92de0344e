/**
 * Resolves the IP families of a Service, given those of the cluster: completes the client's fields (`ipFamilyPolicy`, `ipFamilies`,
 * `clusterIPs`), or returns their errors. Pure; the allocator calls it first, and then allocates addresses.
 *
 * The first family of the cluster is the default. A Service never changes between single and dual stack when the cluster does: the policy
 * is stored once, and kept.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { Service, ServiceSpec } from "../../../generated/core/v1.ts";
import { element, invalid, type FieldError } from "../../../machinery/field-error.ts";
import { withChanges } from "../../../changes.ts";
import { needsClusterIp, NO_CLUSTER_IP, specOf } from "./needs.ts";
import { familyOf, validateClusterIpFields, type IpFamily } from "./validate-cluster-ips.ts";

export type FamilyResult =
  | { readonly service: Service; readonly errors?: never }
  | { readonly service?: never; readonly errors: readonly FieldError[] };

const POLICY = "spec.ipFamilyPolicy";
type Families = NonNullable<ServiceSpec["ipFamilies"]>;

export function resolveIpFamilies(service: Service, previous: Service | undefined, ofCluster: readonly IpFamily[]): FamilyResult {
  const spec = specOf(service);
  const before = previous?.spec;
  if (!needsClusterIp(spec) || (before !== undefined && prefersDualStackAsBefore(spec, before))) return { service };
  const withPolicy = withChanges(spec, { ipFamilyPolicy: spec.ipFamilyPolicy ?? before?.ipFamilyPolicy ?? defaultPolicy(spec) });
  const malformed = [...validateClusterIpFields(withPolicy, before)];
  if (malformed.length > 0) return { errors: malformed };

  const released = before === undefined ? withPolicy : withoutSecond(withPolicy, before);
  const inferred = withFamiliesOfAddresses(released, ofCluster);
  const errors = [...(before === undefined ? [] : validateRelease(withPolicy, before)), ...validatePolicy(released), ...inferred.errors];
  if (errors.length > 0) return { errors };

  const isFree = isHeadlessWithoutSelector(inferred.spec);
  // A Service without a selector may use families that the cluster does not have.
  const notThere = isFree ? [] : [...validateForCluster(inferred.spec, ofCluster)];
  if (notThere.length > 0) return { errors: notThere };
  return { service: withChanges(service, { spec: withFamilies(inferred.spec, ofCluster, { isFree }) }) };
}

function isHeadlessWithoutSelector({ clusterIP, selector = {} }: ServiceSpec): boolean {
  return clusterIP === NO_CLUSTER_IP && Object.keys(selector).length === 0;
}

function defaultPolicy(spec: ServiceSpec): "RequireDualStack" | "SingleStack" {
  return isHeadlessWithoutSelector(spec) ? "RequireDualStack" : "SingleStack";
}

/** Then everything stays as given, also if the cluster has gained another family since. */
export function prefersDualStackAsBefore(spec: ServiceSpec, before: ServiceSpec): boolean {
  if (spec.ipFamilyPolicy !== "PreferDualStack" || (before.ipFamilyPolicy ?? "PreferDualStack") !== "PreferDualStack") return false;
  return spec.type === before.type && hasSameFamilies(spec, before) && hasSameAddresses(spec, before);
}

function hasSameFamilies(spec: ServiceSpec, before: ServiceSpec): boolean {
  return deepEqual(spec.ipFamilies ?? [], before.ipFamilies ?? []);
}

function hasSameAddresses(spec: ServiceSpec, before: ServiceSpec): boolean {
  return deepEqual(spec.clusterIPs ?? [], before.clusterIPs ?? []);
}

/** A change to SingleStack with unchanged lists drops the second of each. */
function withoutSecond(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  if (spec.ipFamilyPolicy !== "SingleStack") return spec;
  const { clusterIPs = [], ipFamilies = [] } = spec;
  return withChanges(spec, {
    clusterIPs: clusterIPs.length > 1 && hasSameAddresses(spec, before) ? clusterIPs.slice(0, 1) : undefined,
    ipFamilies: ipFamilies.length > 1 && hasSameFamilies(spec, before) ? ipFamilies.slice(0, 1) : undefined,
  });
}

function* validateRelease(spec: ServiceSpec, before: ServiceSpec): Iterable<FieldError> {
  const { ipFamilyPolicy, clusterIPs = [], ipFamilies = [] } = spec;
  if (ipFamilyPolicy === "SingleStack") return;
  if (clusterIPs.length > 0 && clusterIPs.length < (before.clusterIPs ?? []).length) {
    yield invalid(POLICY, ipFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP");
  }
  if (ipFamilies.length > 0 && ipFamilies.length < (before.ipFamilies ?? []).length) {
    yield invalid(POLICY, ipFamilyPolicy, "must be 'SingleStack' to release the secondary IP family");
  }
}

function* validatePolicy({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): Iterable<FieldError> {
  if (ipFamilyPolicy !== "SingleStack") return;
  const sentence = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (clusterIPs.length === 2) yield invalid(POLICY, ipFamilyPolicy, `${sentence} cluster IPs are specified`);
  if (ipFamilies.length === 2) yield invalid(POLICY, ipFamilyPolicy, `${sentence} IP families are specified`);
}

/** An address implies its family. */
function withFamiliesOfAddresses(spec: ServiceSpec, ofCluster: readonly IpFamily[]): { spec: ServiceSpec; errors: readonly FieldError[] } {
  const { clusterIPs = [] } = spec;
  const families = [...(spec.ipFamilies ?? [])];
  const errors: FieldError[] = [];
  for (const [index, address] of clusterIPs.entries()) {
    if (address === NO_CLUSTER_IP) break;
    if (index < families.length) continue;
    const family = familyOf(address);
    if (ofCluster.includes(family)) families.push(family);
    else errors.push(invalid(element("spec.clusterIPs", index), clusterIPs, `${family} is not configured on this cluster`));
  }
  return { spec: families.length === (spec.ipFamilies ?? []).length ? spec : { ...spec, ipFamilies: families }, errors };
}

function* validateForCluster({ ipFamilyPolicy, ipFamilies = [] }: ServiceSpec, ofCluster: readonly IpFamily[]): Iterable<FieldError> {
  if (ipFamilyPolicy === "RequireDualStack" && ofCluster.length < 2) {
    yield invalid(POLICY, ipFamilyPolicy, "this cluster is not configured for dual-stack services");
  }
  for (const [index, family] of ipFamilies.entries()) {
    if (!ofCluster.some((known) => known === family))
      yield invalid(element("spec.ipFamilies", index), family, "not configured on this cluster");
  }
}

function withFamilies(spec: ServiceSpec, ofCluster: readonly IpFamily[], { isFree }: { readonly isFree: boolean }): ServiceSpec {
  const first = (spec.ipFamilies ?? [])[0] ?? ofCluster[0] ?? "IPv4";
  const ipFamilies: Families = (spec.ipFamilies ?? []).length > 0 ? (spec.ipFamilies ?? []) : [first];
  const wantsSecond = spec.ipFamilyPolicy !== "SingleStack" && ipFamilies.length === 1 && (isFree || ofCluster.length === 2);
  return withChanges(spec, { ipFamilies: wantsSecond ? [first, first === "IPv4" ? "IPv6" : "IPv4"] : ipFamilies });
}
