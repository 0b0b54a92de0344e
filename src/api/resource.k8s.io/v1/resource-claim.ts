/**
 * resource.k8s.io/v1 ResourceClaim: a request for devices, and, in its status, the allocated devices and the Pods that use them.
 *
 * The spec is immutable: scheduling decisions depend on it. Everything that happens is in the status. Not here: allocation (scheduler),
 * deallocation (controllers/resource-claim), and rules that need the namespace (admin-access.ts).
 */
import { deepEqual } from "../../../base/deep.ts";
import { changed, withChanges, withMembersOf, withMetadataOf } from "../../changes.ts";
import type { ResourceClaim } from "../../generated/resource.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { immutable } from "../../machinery/field-error.ts";
import { defineResource } from "../../machinery/resource.ts";
import { internalForm } from "./internal-form.ts";
import { defaultClaimSpec, defaultClaimStatus } from "./resource-claim/defaults.ts";
import { withoutDeallocated } from "./resource-claim/prepare-status.ts";
import { validateClaimSpec } from "./resource-claim/validate-spec.ts";
import { validateClaimStatus } from "./resource-claim/validate-status.ts";

export const resourceClaims = defineResource<ResourceClaim>({
  kind: "ResourceClaim",
  plural: "resourceclaims",
  singular: "resourceclaim",
  scope: "Namespaced",
  served: [{ group: "resource.k8s.io", version: "v1", schema: "io.k8s.api.resource.v1.ResourceClaim", defaults: defaultClaim }],

  returnsDeletedObject: true,
  prepareForCreate: (claim) => ({ ...claim, status: {} }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),

  *validate(claim, previous) {
    // Immutable fields are not validated again: rules may have become stricter.
    if (previous === undefined) yield* validateClaimSpec(claim.spec, "spec");
  },
  *validateUpdate({ spec }, previous) {
    if (!deepEqual(spec, previous.spec)) yield immutable("spec", internalForm(spec, "io.k8s.api.resource.v1.ResourceClaimSpec"));
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["metadata"], ["spec"]],
      prepareForUpdate: (next, previous) =>
        withChanges(withMetadataOf(withMembersOf(next, previous, "spec"), previous), {
          status: changed(next.status, (status) => withoutDeallocated(status, previous.status ?? {})),
        }),
      validateUpdate: validateClaimStatus,
    },
  },

  columns: [nameColumn, textColumn("State", "State: pending, allocated, reserved or deleted", stateOf), ageColumn],
});

function defaultClaim(claim: ResourceClaim): ResourceClaim {
  return withChanges(claim, { spec: defaultClaimSpec(claim.spec), status: changed(claim.status, defaultClaimStatus) });
}

function stateOf({ metadata, status }: ResourceClaim): string {
  const isTerminating = metadata.deletionTimestamp !== undefined;
  if (status?.allocation === undefined) return isTerminating ? "deleted" : "pending";
  const isReserved = (status.reservedFor ?? []).length > 0;
  return [...(isTerminating ? ["deleted"] : []), "allocated", ...(isReserved ? ["reserved"] : [])].join(",");
}
