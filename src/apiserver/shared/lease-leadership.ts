/** Checks that a leader-elected writer still holds its lease. */
import type { Lease } from "../../api/generated/coordination.k8s.io/v1.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { LeadershipCheck } from "../framework/leadership.ts";
import type { KindName, Objects } from "../framework/objects.ts";

const LEASES: KindName = { group: "coordination.k8s.io", plural: "leases" };

export function leaseLeadership(objects: Objects): LeadershipCheck {
  return async ({ namespace, name, holder }) => {
    const lease = await objects.getExact<Lease>(LEASES, { namespace, name });
    if (lease?.spec?.holderIdentity === holder) return;
    throw new StatusError("Conflict", `The lease ${namespace}/${name} is not held by ${JSON.stringify(holder)}: only the leader may write`);
  };
}
