/**
 * Which old Pods of a DaemonSet are replaced next. Without surge the old Pod is deleted first, and at most maxUnavailable nodes have no
 * available Pod; with surge the new Pod is created first, on at most maxSurge nodes at a time. Old Pods that are not available do not
 * count: replacing them cannot make it worse. Pure.
 */
import { isAvailable } from "../../api/core/v1/pod/readiness.ts";
import type { DaemonSet } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { shareOf } from "../../api/number-or-percent.ts";
import { isUpdated, type CurrentTemplate } from "./daemon-pod.ts";
import type { DaemonObserved } from "./node-plan.ts";

export interface RollingUpdatePlan {
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
}

const NOTHING: RollingUpdatePlan = { create: [], delete: [] };

export function planRollingUpdate(daemonSet: DaemonSet, seen: DaemonObserved): RollingUpdatePlan {
  if (!isRollingUpdate(daemonSet)) return NOTHING;
  const nodes = nodesOf(seen);
  const desired = nodes.filter(({ isDesired }) => isDesired).length;
  const { maxSurge, maxUnavailable } = boundsOf(daemonSet, desired);
  return maxSurge === 0 ? planReplacements(nodes, maxUnavailable, seen) : planSurge(nodes, { maxSurge, desired }, seen);
}

function isRollingUpdate({ spec }: DaemonSet): boolean {
  return spec?.updateStrategy?.type === "RollingUpdate";
}

/** True if a node may have an old and a new Pod at the same time. */
export function maySurge(daemonSet: DaemonSet): boolean {
  return isRollingUpdate(daemonSet) && boundsOf(daemonSet, 1).maxSurge > 0;
}

/** Never both 0: then nothing could be replaced. */
function boundsOf({ spec }: DaemonSet, desired: number): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const { maxSurge: surge = 0, maxUnavailable: unavailable = 0 } = spec?.updateStrategy?.rollingUpdate ?? {};
  const maxSurge = shareOf(surge, { of: desired, round: "up" });
  const maxUnavailable = shareOf(unavailable, { of: desired, round: "up" });
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

// ── nodes ───────────────────────────────────────────────────────────────────────────────────────────

interface NodeState {
  readonly name: string;
  /** The DaemonSet should run here. */
  readonly isDesired: boolean;
  /** More than one old or new Pod: node-plan.ts deletes the surplus first. */
  readonly isCrowded: boolean;
  readonly updated: Pod | undefined;
  readonly old: Pod | undefined;
}

/** Nodes with Pods, and those that should have one. */
function nodesOf({ nodes, pods, placements, current }: DaemonObserved): readonly NodeState[] {
  const desired = new Set(nodes.filter((node) => placements.on(node) === "runs").map(({ metadata }) => metadata.name));
  const missing = [...desired].filter((name) => !pods.has(name));
  const occupied = [...pods].map(([name, there]) => stateOf(name, there, { current, isDesired: desired.has(name) }));
  return [...occupied, ...missing.map((name) => ({ name, isDesired: true, isCrowded: false, updated: undefined, old: undefined }))];
}

function stateOf(
  name: string,
  there: readonly Pod[],
  { current, isDesired }: { readonly current: CurrentTemplate; readonly isDesired: boolean },
): NodeState {
  const live = there.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const updated = live.filter((pod) => isUpdated(pod, current));
  const old = live.filter((pod) => !isUpdated(pod, current));
  return { name, isDesired, isCrowded: updated.length > 1 || old.length > 1, updated: updated[0], old: old[0] };
}

// ── without surge ───────────────────────────────────────────────────────────────────────────────────

function planReplacements(nodes: readonly NodeState[], maxUnavailable: number, { availability }: DaemonObserved): RollingUpdatePlan {
  const replaced: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const { isCrowded, updated, old } of nodes) {
    const only = updated === undefined ? old : old === undefined ? updated : undefined;
    if (isCrowded || only === undefined) unavailable++;
    else if (!isAvailable(only, availability)) {
      unavailable++;
      if (only === old) replaced.push(old);
    } else if (only === old) candidates.push(old);
  }
  return { create: [], delete: [...replaced, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))] };
}

// ── with surge ──────────────────────────────────────────────────────────────────────────────────────

function planSurge(
  nodes: readonly NodeState[],
  { maxSurge, desired }: { readonly maxSurge: number; readonly desired: number },
  { availability }: DaemonObserved,
): RollingUpdatePlan {
  const plan = { create: [] as string[], delete: [] as Pod[], candidates: [] as string[], leaving: [] as Pod[] };
  let surging = 0;
  let available = 0;
  for (const { name, isDesired, isCrowded, updated, old } of nodes) {
    const serving = old ?? updated;
    if (!isCrowded && serving !== undefined && isAvailable(serving, availability)) available++;
    if (isCrowded) surging++;
    else if (old === undefined) continue;
    else if (updated !== undefined) {
      if (isAvailable(updated, availability)) plan.delete.push(old);
      else surging++;
    } else if (isAvailable(old, availability)) {
      if (isDesired) plan.candidates.push(name);
      else plan.leaving.push(old);
    } else if (isDesired) plan.create.push(name);
    else plan.delete.push(old);
  }
  // Pods of nodes that are no longer selected leave only when enough others are available.
  const leaving = plan.leaving.slice(0, Math.max(0, available - desired));
  const candidates = plan.candidates.slice(0, Math.max(0, maxSurge - surging));
  return { create: [...plan.create, ...candidates], delete: [...plan.delete, ...leaving] };
}
