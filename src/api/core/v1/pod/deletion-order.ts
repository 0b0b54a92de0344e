/**
 * The order in which a scale-down deletes Pods: those whose loss matters least first. The rules are upstream's, in upstream's order; each
 * decides only where those before it see no difference. It is a total order of Pods with different uids, so the choice does not depend on
 * the input order.
 *
 * Ages are compared by their order of magnitude (the power of two), so that among Pods of similar age the choice is random and does not
 * always hit the youngest node or zone. The uid provides the randomness. Upstream compares the uid at once where two ages differ within one
 * magnitude and applies the next rule where they are equal, which is not transitive; here the next rules are applied in both cases.
 */
import type { ContainerStatus, Pod } from "../../../generated/core/v1.ts";
import { isSidecar } from "./containers.ts";
import { deletionCost } from "./deletion-cost.ts";
import { isReady, timestampMs, readySinceMs } from "./readiness.ts";

export interface DeletionOrderOptions {
  readonly nowMs: number;
  /** Number of related Pods on its node: a Pod with many neighbours is deleted before one that is alone. Default: not counted. */
  neighbours?(pod: Pod): number;
}

/** Returns a new array; the first is deleted first. */
export function inDeletionOrder(pods: readonly Pod[], options: DeletionOrderOptions): Pod[] {
  return pods
    .map((pod) => ({ pod, rank: rankOf(pod, options), uid: pod.metadata.uid ?? "" }))
    .sort((a, b) => compareRanks(a.rank, b.rank) || (a.uid < b.uid ? -1 : Number(a.uid > b.uid)))
    .map(({ pod }) => pod);
}

/** One number per rule; the lower is deleted first. */
type Rank = readonly number[];

function rankOf(pod: Pod, { nowMs, neighbours }: DeletionOrderOptions): Rank {
  const restarts = mostRestarts(pod);
  return [
    Number(Boolean(pod.spec?.nodeName)),
    PHASE_RANK.get(pod.status?.phase ?? "") ?? 0,
    Number(isReady(pod)),
    deletionCost(pod),
    -(neighbours?.(pod) ?? 0),
    isReady(pod) ? magnitude(readySinceMs(pod), nowMs) : 0,
    -restarts.containers,
    -restarts.sidecars,
    magnitude(timestampMs(pod.metadata.creationTimestamp), nowMs),
  ];
}

const PHASE_RANK: ReadonlyMap<string, number> = new Map([
  ["Pending", 0],
  ["Unknown", 1],
  ["Running", 2],
]);

const UNKNOWN_AGE = -2;
const NO_AGE = -1;
const NANOSECONDS_PER_MILLISECOND = 1_000_000;

/** Magnitude of an age in nanoseconds, as upstream. Unknown is below now (or a future timestamp), which is below any age. */
function magnitude(sinceMs: number | undefined, nowMs: number): number {
  if (sinceMs === undefined) return UNKNOWN_AGE;
  const ageMs = nowMs - sinceMs;
  return ageMs > 0 ? Math.floor(Math.log2(ageMs * NANOSECONDS_PER_MILLISECOND)) : NO_AGE;
}

function mostRestarts({ spec, status }: Pod): { readonly containers: number; readonly sidecars: number } {
  const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  const sidecars = new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  return {
    containers: mostOf(containerStatuses),
    sidecars: sidecars.size === 0 ? 0 : mostOf(initContainerStatuses.filter(({ name }) => sidecars.has(name))),
  };
}

function mostOf(statuses: readonly ContainerStatus[]): number {
  return statuses.reduce((most, { restartCount }) => Math.max(most, restartCount ?? 0), 0);
}

function compareRanks(a: Rank, b: Rank): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    if (value !== other) return value - other;
  }
  return 0;
}
