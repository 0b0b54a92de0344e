/**
 * coordination.k8s.io/v1 Lease: the current holder of a role, and when it last renewed. Used for node heartbeats and leader election.
 *
 * Its fields belong to the holder; an update requires a resourceVersion, because acquiring a lease is a race that only one may win. A PUT
 * creates it, which saves each holder a request at its start.
 */
import type { Lease, LeaseSpec } from "../../generated/coordination.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { invalid } from "../../machinery/field-error.ts";
import { defineResource } from "../../machinery/resource.ts";
import { nonNegative } from "../../number-validation.ts";

export const leases = defineResource<Lease>({
  kind: "Lease",
  plural: "leases",
  singular: "lease",
  scope: "Namespaced",
  served: [{ group: "coordination.k8s.io", version: "v1", schema: "io.k8s.api.coordination.v1.Lease" }],
  createOnUpdate: true,
  unconditionalUpdate: false,
  allowsPlainFinalizers: true,
  recordsCauses: false,

  prepareForCreate: withoutCoordination,
  prepareForUpdate: withoutCoordination,

  *validate({ spec = {} }) {
    const { leaseDurationSeconds, leaseTransitions } = spec;
    if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
      yield invalid("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0");
    }
    yield* nonNegative(leaseTransitions, "spec.leaseTransitions");
  },

  columns: [nameColumn, textColumn("Holder", "Identity of the current holder", ({ spec }) => spec?.holderIdentity ?? ""), ageColumn],
});

/** Coordinated leader election is behind a feature gate that is off upstream, so its fields are dropped. */
function withoutCoordination(lease: Lease): Lease {
  const { spec } = lease;
  if (spec?.strategy === undefined && spec?.preferredHolder === undefined) return lease;
  const { strategy: _, preferredHolder: __, ...rest }: LeaseSpec = spec;
  return { ...lease, spec: rest };
}
