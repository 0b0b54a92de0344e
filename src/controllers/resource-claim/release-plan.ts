/**
 * What happens to a claim when consumers no longer use it: their reservations are removed; with the last of them the devices are
 * deallocated, so that the claim can be allocated on another node; then nothing needs the finalizer. A claim that was never used stays
 * allocated, because allocation may precede use. Pure.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus } from "../../api/generated/resource.k8s.io/v1.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { without } from "../../api/members.ts";

/** Set by the scheduler before it allocates: a claim with devices is not removed. */
export const CLAIM_FINALIZER = "resource.kubernetes.io/delete-protection";

export interface ReleasePlan {
  /** Absent: the status is not changed. */
  readonly status?: ResourceClaimStatus;
  readonly removesFinalizer: boolean;
  readonly isReserved: boolean;
}

/** It ended, or was deleted before it had a node: it never uses its claims again. */
export function isPodDone(pod: Pod): boolean {
  return isTerminal(pod) || (pod.metadata.deletionTimestamp !== undefined && (pod.spec?.nodeName ?? "") === "");
}

export function isPodReference({ apiGroup = "", resource }: ResourceClaimConsumerReference): boolean {
  return apiGroup === "" && resource === "pods";
}

/** `remaining`: the reservations of consumers that still exist. */
export function planRelease({ metadata, status = {} }: ResourceClaim, remaining: readonly ResourceClaimConsumerReference[]): ReleasePlan {
  const isReserved = remaining.length > 0;
  const isProtected = metadata.finalizers?.includes(CLAIM_FINALIZER) === true;
  const isReleased = remaining.length < (status.reservedFor?.length ?? 0);
  const isUnneeded = !isReserved && (isReleased || metadata.deletionTimestamp !== undefined);
  const isDeallocated = isUnneeded && isProtected && status.allocation !== undefined;
  const removesFinalizer = isUnneeded && isProtected;
  if (!isReleased && !isDeallocated) return { removesFinalizer, isReserved };
  const reserved: ResourceClaimStatus = isReserved ? { ...status, reservedFor: remaining } : without(status, "reservedFor");
  return { status: isDeallocated ? without(reserved, "allocation") : reserved, removesFinalizer, isReserved };
}
