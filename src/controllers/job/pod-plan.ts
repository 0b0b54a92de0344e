/**
 * Which Pods of a running Job are created or deleted. One pass does either; deletion comes first. A Pod is not created before the back-off
 * of earlier failures has passed. Pure.
 */
import { inDeletionOrder } from "../../api/core/v1/pod/deletion-order.ts";
import { isTerminating } from "../../api/core/v1/pod/readiness.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { backoffRemainingMs, indexBackoffRemainingMs, type Backoff } from "./backoff.ts";
import { completionIndexOf, replacesOnlyFailed } from "./job-pods.ts";
import { indexesOf, type IndexState, type JobState } from "./job-state.ts";

/** One pass never creates or deletes more, so that other Jobs get their turn and a typo of 10,000 can still be taken back. */
export const PODS_PER_PASS_MAX = 500;

export type PodPlan =
  | { readonly does: "nothing" }
  /** A Pod is due in so many milliseconds. */
  | { readonly does: "wait"; readonly delayMs: number }
  | { readonly does: "delete"; readonly pods: readonly Pod[] }
  | {
      readonly does: "create";
      readonly count: number;
      /** Of an indexed Job: one per Pod. */
      readonly indexes?: readonly number[];
      /** When the Pods of further indexes are due. */
      readonly delayMs?: number;
    };

const NOTHING: PodPlan = { does: "nothing" };

export function planPods(state: JobState, backoff: Backoff, nowMs: number): PodPlan {
  const { spec, active } = state;
  if (spec.suspend === true) return active.length === 0 ? NOTHING : { does: "delete", pods: active };
  const wanted = wantedPods(state);
  const surplus = surplusPods(state, Math.max(0, active.length - wanted), nowMs);
  if (surplus.length > 0) return { does: "delete", pods: surplus.slice(0, PODS_PER_PASS_MAX) };

  const held = replacesOnlyFailed(spec) ? state.terminating : 0;
  const missing = Math.min(wanted - held - active.length, PODS_PER_PASS_MAX);
  return missing <= 0 ? NOTHING : planCreation(state, missing, backoff, nowMs);
}

/** Number of Pods that should be active. Without `completions`, no Pod is replaced after the first success. */
function wantedPods({ spec, active, succeeded }: JobState): number {
  const { completions, parallelism = 1 } = spec;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** At least `count`; of an indexed Job also Pods without a valid index, and all but one of each index. */
function surplusPods({ active, indexes }: JobState, count: number, nowMs: number): readonly Pod[] {
  const surplus = indexes === undefined ? [] : repeatedPods(active, indexes, nowMs);
  if (surplus.length >= count) return surplus;
  const repeated = new Set(surplus);
  const others = active.filter((pod) => !repeated.has(pod));
  return [...surplus, ...inDeletionOrder(others, { nowMs }).slice(0, count - surplus.length)];
}

function repeatedPods(active: readonly Pod[], { completions }: IndexState, nowMs: number): readonly Pod[] {
  const byIndex = new Map<number, Pod[]>();
  const surplus: Pod[] = [];
  for (const pod of active) {
    const index = completionIndexOf(pod);
    if (index === undefined || index >= completions) surplus.push(pod);
    else byIndex.set(index, [...(byIndex.get(index) ?? []), pod]);
  }
  for (const pods of byIndex.values()) if (pods.length > 1) surplus.push(...inDeletionOrder(pods, { nowMs }).slice(0, -1));
  return surplus;
}

function planCreation(state: JobState, missing: number, backoff: Backoff, nowMs: number): PodPlan {
  const { spec, indexes } = state;
  if (spec.backoffLimitPerIndex === undefined) {
    const delayMs = backoffRemainingMs(backoff, nowMs);
    if (delayMs > 0) return { does: "wait", delayMs };
  }
  if (indexes === undefined) return { does: "create", count: missing };
  const pending = pendingIndexes(state, indexes, missing);
  const delays = pending.map((index) => indexBackoffRemainingMs(indexes.awaiting.get(index), nowMs));
  const due = pending.filter((_, position) => delays[position] === 0);
  const delayMs = Math.min(...delays.filter((each) => each > 0));
  if (due.length === 0) return pending.length === 0 ? NOTHING : { does: "wait", delayMs };
  return { does: "create", count: due.length, indexes: due, ...(delayMs === Infinity ? {} : { delayMs }) };
}

function pendingIndexes({ spec, pods, active }: JobState, indexes: IndexState, count: number): readonly number[] {
  let settled = indexes.succeeded.union(indexesOf(active));
  if (replacesOnlyFailed(spec)) settled = settled.union(indexesOf(pods.filter(isTerminating)));
  if (indexes.failed !== undefined) settled = settled.union(indexes.failed);
  return settled.missing(count, indexes.completions);
}
