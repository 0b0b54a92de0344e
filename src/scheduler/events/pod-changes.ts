/**
 * Classifies Pod changes by whether they may change a scheduling result. A change without its own name is "other", as upstream's plain
 * update: only rules for every update receive it.
 */
import { deepEqual } from "../../base/deep.ts";
import type { Namespace } from "../../api/generated/core/v1.ts";
import type { PodChange } from "../framework/cluster-event.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Resources } from "../framework/resources.ts";

/** The results for a Pod that was assigned to or removed from a node. */
export const POD_ADDED: ReadonlySet<PodChange> = new Set(["added"]);
export const POD_DELETED: ReadonlySet<PodChange> = new Set(["deleted"]);

const OTHER: ReadonlySet<PodChange> = new Set(["other"]);

const CHECKS: readonly (readonly [PodChange, (previous: PodInfo, current: PodInfo) => boolean])[] = [
  ["labels", (previous, current) => !deepEqual(previous.labels, current.labels)],
  ["scaled-down", (previous, current) => asksForLess(previous.requests, current.requests)],
  ["ungated", (previous, current) => gatesOf(previous) > 0 && gatesOf(current) === 0],
  ["claim-names", (previous, current) => !deepEqual(claimNamesOf(previous), claimNamesOf(current))],
  // Tolerations can be added and not changed, so that comparing their number suffices.
  ["tolerations", (previous, current) => tolerationsOf(previous) !== tolerationsOf(current)],
];

/** Never empty: the caller knows that there is another version. */
export function podChanges(previous: PodInfo, current: PodInfo): ReadonlySet<PodChange> {
  let changes: Set<PodChange> | undefined;
  for (const [change, isChanged] of CHECKS) {
    if (isChanged(previous, current)) (changes ??= new Set()).add(change);
  }
  return changes ?? OTHER;
}

/** Whether this is an event: only labels of namespaces matter. */
export function namespaceChanged(previous: Namespace, namespace: Namespace): boolean {
  return !deepEqual(previous.metadata.labels ?? {}, namespace.metadata.labels ?? {});
}

function asksForLess(before: Resources, now: Resources): boolean {
  if (before.milliCpu > now.milliCpu || before.memoryBytes > now.memoryBytes) return true;
  if (before.ephemeralStorageBytes > now.ephemeralStorageBytes) return true;
  for (const [name, amount] of before.scalars) if (amount > (now.scalars.get(name) ?? 0)) return true;
  return false;
}

function gatesOf({ pod }: PodInfo): number {
  return pod.spec?.schedulingGates?.length ?? 0;
}

function claimNamesOf({ pod }: PodInfo): readonly unknown[] | undefined {
  return pod.status?.resourceClaimStatuses;
}

function tolerationsOf({ pod }: PodInfo): number {
  return pod.spec?.tolerations?.length ?? 0;
}
