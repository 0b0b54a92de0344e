/**
 * What one reconciliation of a StatefulSet does to its Pods. OrderedReady goes by ordinal and stops at the first Pod that is missing, or not
 * yet available: then nothing after it is touched, also no update, so that a broken Pod stops a rollout until it is repaired or deleted, as
 * upstream. Parallel creates and deletes all at once. Updates go one by one in both, or `maxUnavailable` at a time. Pure.
 */
import { isAvailable, isTerminal, type AvailabilityRule } from "../../api/core/v1/pod/readiness.ts";
import type { StatefulSet } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { shareOf } from "../../api/number-or-percent.ts";
import { claimNames, type ClaimLookup } from "./claims.ts";
import { isStaleClaim, withClaimOwners, type ClaimUser } from "./claim-retention.ts";
import { corrected, revisionOf, type SetRevision } from "./identity.ts";
import { desiredOrdinals, firstOrdinal, isDesired, ordinalOf, podName } from "./ordinals.ts";
import { isRunningAndReady } from "./status.ts";

export type Step =
  | { readonly does: "create"; readonly ordinal: number; readonly revision: SetRevision }
  /** Creates missing claims of a Pod that waits for them, and sets their owners. */
  | { readonly does: "supply claims"; readonly pod: Pod }
  /** Repairs identity, storage and owners of the claims of a Pod, such as an adopted one. */
  | { readonly does: "correct"; readonly pod: Pod }
  /** Sets the owners of the claims of a Pod before it is scaled down. */
  | { readonly does: "hand over claims"; readonly pod: Pod }
  | { readonly does: "delete"; readonly pod: Pod; readonly because: "it ended" | "scale-down" | "update" };

export interface SetObserved {
  readonly set: StatefulSet;
  readonly current: SetRevision;
  readonly update: SetRevision;
  /** Members of the set, terminating ones included. */
  readonly pods: readonly Pod[];
  readonly claimOf: ClaimLookup;
  readonly availability: AvailabilityRule;
}

/** Phases one after the other. Within one, steps of a Parallel set are independent. */
export type PodPlan = readonly (readonly Step[])[];

export function planPods(seen: SetObserved): PodPlan {
  return isParallel(seen.set) ? planAtOnce(seen) : [planInOrder(seen)];
}

export function isParallel({ spec }: StatefulSet): boolean {
  return spec?.podManagementPolicy === "Parallel";
}

// ── OrderedReady ────────────────────────────────────────────────────────────────────────────────────

function planInOrder(seen: SetObserved): readonly Step[] {
  const steps: Step[] = [];
  const byOrdinal = podsByOrdinal(seen);
  for (const ordinal of desiredOrdinals(seen.set)) {
    const pod = byOrdinal.get(ordinal);
    steps.push(...planReplica(ordinal, pod, seen));
    if (pod === undefined || isTerminal(pod) || !isUsable(pod, seen)) return steps;
  }
  const condemned = condemnedPods(seen);
  if (condemned.length > 0) return [...steps, ...planHandovers(condemned, seen), ...planScaleDown(condemned, seen)];
  return [...steps, ...planUpdate(byOrdinal, seen)];
}

/** One at a time, from the highest ordinal, and only while those below are available: the lowest unavailable one may go. */
function planScaleDown(condemned: readonly Pod[], seen: SetObserved): readonly Step[] {
  const [next] = condemned;
  if (next === undefined || next.metadata.deletionTimestamp !== undefined) return [];
  const lowestUnavailable = condemned.findLast((pod) => isUnavailable(pod, seen.availability));
  if (!isUsable(next, seen) && next !== lowestUnavailable) return [];
  return [{ does: "delete", pod: next, because: "scale-down" }];
}

/** Those after it in the order may be created, deleted or updated. */
function isUsable(pod: Pod, { availability }: SetObserved): boolean {
  return isRunningAndReady(pod) && !isUnavailable(pod, availability);
}

// ── Parallel ────────────────────────────────────────────────────────────────────────────────────────

function planAtOnce(seen: SetObserved): PodPlan {
  const byOrdinal = podsByOrdinal(seen);
  const replicas = desiredOrdinals(seen.set).flatMap((ordinal) => planReplica(ordinal, byOrdinal.get(ordinal), seen));
  const condemned = condemnedPods(seen);
  const deletions = condemned
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((pod): Step => ({ does: "delete", pod, because: "scale-down" }));
  return [replicas, planHandovers(condemned, seen), deletions, planUpdate(byOrdinal, seen)].filter((phase) => phase.length > 0);
}

// ── both ────────────────────────────────────────────────────────────────────────────────────────────

function planReplica(ordinal: number, pod: Pod | undefined, seen: SetObserved): readonly Step[] {
  const { set, claimOf } = seen;
  if (pod === undefined) {
    const claims = claimNames(set, ordinal).map(claimOf);
    const isBlocked = claims.some((claim) => claim !== undefined && isStaleClaim(set, userOf(podName(set, ordinal)), claim));
    return isBlocked ? [] : [{ does: "create", ordinal, revision: revisionFor(ordinal, seen) }];
  }
  if (isTerminal(pod)) return pod.metadata.deletionTimestamp === undefined ? [{ does: "delete", pod, because: "it ended" }] : [];
  const isPending = pod.status?.phase === "Pending";
  if (isPending && lacksClaims(pod, seen)) return [{ does: "supply claims", pod }];
  // In order, what is not yet usable is left alone.
  if (!isParallel(set) && !isUsable(pod, seen)) return [];
  return corrected(set, pod) === pod && ownsClaims(pod, seen) ? [] : [{ does: "correct", pod }];
}

/** While Pods are updated, those below the partition, or not yet reached, are recreated at the current revision. */
function revisionFor(ordinal: number, { set, current, update }: SetObserved): SetRevision {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (rollingUpdate !== undefined) return ordinal < firstOrdinal(set) + (rollingUpdate.partition ?? 0) ? current : update;
  if (type !== "RollingUpdate") return update;
  return ordinal < firstOrdinal(set) + (set.status?.currentReplicas ?? 0) ? current : update;
}

/** From the highest ordinal down to the partition. */
function planUpdate(byOrdinal: ReadonlyMap<number, Pod>, seen: SetObserved): readonly Step[] {
  const { type, rollingUpdate = {} } = seen.set.spec?.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  const { partition = 0, maxUnavailable } = rollingUpdate;
  const members = desiredOrdinals(seen.set).map((ordinal) => byOrdinal.get(ordinal));
  const candidates = members.slice(partition).toReversed();
  if (maxUnavailable === undefined) return planNextUpdate(candidates, seen);
  const unavailable = members.filter((pod) => pod === undefined || isUnavailable(pod, seen.availability)).length;
  const allowed = maxUnavailableOf(seen.set);
  const old = candidates.flatMap((pod) => (pod !== undefined && isReplaceable(pod, seen) ? [pod] : []));
  return old.slice(0, Math.max(0, allowed - unavailable)).map((pod): Step => ({ does: "delete", pod, because: "update" }));
}

/** At least 1: an update could not progress otherwise. */
export function maxUnavailableOf(set: StatefulSet): number {
  const { maxUnavailable = 1 } = set.spec?.updateStrategy?.rollingUpdate ?? {};
  return Math.max(1, shareOf(maxUnavailable, { of: desiredOrdinals(set).length, round: "down" }));
}

/** One at a time: waits until the Pods above the next one are available. */
function planNextUpdate(candidates: readonly (Pod | undefined)[], seen: SetObserved): readonly Step[] {
  for (const pod of candidates) {
    if (pod === undefined || isTerminal(pod)) return [];
    if (isReplaceable(pod, seen)) return [{ does: "delete", pod, because: "update" }];
    if (isUnavailable(pod, seen.availability)) return [];
  }
  return [];
}

/** Old, and neither terminating nor already deleted by this reconciliation because it ended. */
function isReplaceable(pod: Pod, { update }: SetObserved): boolean {
  return revisionOf(pod) !== update.name && pod.metadata.deletionTimestamp === undefined && !isTerminal(pod);
}

function planHandovers(condemned: readonly Pod[], seen: SetObserved): readonly Step[] {
  return condemned.filter((pod) => !ownsClaims(pod, seen)).map((pod): Step => ({ does: "hand over claims", pod }));
}

// ── facts ───────────────────────────────────────────────────────────────────────────────────────────

function podsByOrdinal({ pods }: SetObserved): ReadonlyMap<number, Pod> {
  return new Map(pods.map((pod) => [ordinalOf(pod) ?? -1, pod]));
}

/** Pods outside of the desired ordinals, highest first. */
function condemnedPods({ set, pods }: SetObserved): readonly Pod[] {
  return pods
    .map((pod) => ({ pod, ordinal: ordinalOf(pod) ?? -1 }))
    .filter(({ ordinal }) => ordinal >= 0 && !isDesired(set, ordinal))
    .toSorted((a, b) => b.ordinal - a.ordinal)
    .map(({ pod }) => pod);
}

export function isUnavailable(pod: Pod, availability: AvailabilityRule): boolean {
  return pod.metadata.deletionTimestamp !== undefined || !isAvailable(pod, availability);
}

function claimsOf(pod: Pod, { set, claimOf }: SetObserved): readonly ReturnType<ClaimLookup>[] {
  const ordinal = ordinalOf(pod);
  return ordinal === undefined ? [] : claimNames(set, ordinal).map(claimOf);
}

/** A missing or terminating claim; the latter is reported as an error until it is deleted. */
function lacksClaims(pod: Pod, seen: SetObserved): boolean {
  return (
    claimsOf(pod, seen).some((claim) => claim?.metadata.deletionTimestamp !== undefined || claim === undefined) || !ownsClaims(pod, seen)
  );
}

function ownsClaims(pod: Pod, seen: SetObserved): boolean {
  const user = userOf(pod.metadata.name, pod.metadata.uid);
  return claimsOf(pod, seen).every((claim) => claim === undefined || withClaimOwners(seen.set, user, claim) === claim);
}

export function userOf(name: string, uid?: string): ClaimUser {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, ...(uid === undefined ? {} : { uid }) } };
}
