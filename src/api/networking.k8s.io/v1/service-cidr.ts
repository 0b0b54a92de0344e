/**
 * networking.k8s.io/v1 ServiceCIDR: a CIDR, or one of each IP family, from which Services get their addresses. There may be several; a
 * Service uses any.
 *
 * A CIDR is immutable while in use, so the only allowed change adds a second family. Not here: allocated addresses (IPAddress,
 * apiserver/resources/service), and protection of a CIDR in use (its controller).
 */
import { withMembersOf, withMetadataOf } from "../../changes.ts";
import type { ServiceCIDR } from "../../generated/networking.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { element, immutable, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { parseSloppyCidr, unmapIp } from "../../machinery/ip/ip-address.ts";
import { validateCidr } from "../../machinery/ip/ip-validation.ts";
import { defineResource } from "../../machinery/resource.ts";

/** One of each family. */
const CIDRS_MAX = 2;
const AT = "spec.cidrs";

export const serviceCidrs = defineResource<ServiceCIDR>({
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  singular: "servicecidr",
  scope: "Cluster",
  served: [{ group: "networking.k8s.io", version: "v1", schema: "io.k8s.api.networking.v1.ServiceCIDR" }],

  prepareForCreate: (cidr) => ({ ...cidr, status: {} }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),

  *validate(cidr, previous) {
    if (previous === undefined) yield* validateCidrs(cidrsOf(cidr));
  },
  validateUpdate: (next, previous) => validateChange(cidrsOf(next), cidrsOf(previous)),

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["metadata"], ["spec"]],
      prepareForUpdate: (next, previous) => withMetadataOf(withMembersOf(next, previous, "spec"), previous),
    },
  },

  columns: [nameColumn, textColumn("CIDRs", "CIDRs of the range", (cidr) => cidrsOf(cidr).join(",")), ageColumn],
});

function cidrsOf({ spec }: ServiceCIDR): readonly string[] {
  return spec?.cidrs ?? [];
}

function* validateCidrs(cidrs: readonly string[]): Iterable<FieldError> {
  if (cidrs.length === 0) yield required(AT, "at least one CIDR required");
  if (cidrs.length > CIDRS_MAX) {
    // The value is the spec, with the name of upstream's own type.
    yield invalid(AT, { CIDRs: cidrs }, `may only hold up to ${CIDRS_MAX} values`);
    return;
  }
  for (const [index, cidr] of cidrs.entries()) {
    for (const wrong of validateCidr(cidr)) yield invalid(element(AT, index), cidr, wrong);
  }
  const [first, second] = cidrs.map(familyOf);
  if (cidrs.length === CIDRS_MAX && first !== undefined && first === second) {
    yield invalid(AT, cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
  }
}

/** Undefined if it is malformed. */
function familyOf(text: string): 4 | 6 | undefined {
  const cidr = parseSloppyCidr(text);
  return cidr === undefined ? undefined : unmapIp(cidr.address).family;
}

function* validateChange(next: readonly string[], previous: readonly string[]): Iterable<FieldError> {
  if (next.length === previous.length) {
    for (const [index, cidr] of next.entries()) {
      if (cidr !== previous[index]) yield immutable(element(AT, index), cidr);
    }
  } else if (previous.length === 1 && next.length === CIDRS_MAX) {
    if (next[0] !== previous[0]) yield immutable(element(AT, 0), next[0]);
    yield* validateCidrs(next);
  } else {
    // A removed list is shown as null.
    yield immutable(AT, next.length === 0 ? null : next);
  }
}
