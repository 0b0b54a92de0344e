/**
 * Which nodes need a Pod of a DaemonSet and which Pods are too many: one Pod per node, or, with surge, an old and a new one until the new
 * one is available. Ended Pods are deleted, failed ones with a back-off. Pure. Not here: replacing old Pods (rolling-update.ts).
 */
import { isAvailable, isReady, type AvailabilityRule } from "../../api/core/v1/pod/readiness.ts";
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { bySeniority, isUpdated, type CurrentTemplate, type PodsByNode } from "./daemon-pod.ts";
import type { Placements } from "./placement.ts";

export interface DaemonObserved {
  readonly nodes: readonly Node[];
  readonly pods: PodsByNode;
  readonly placements: Placements;
  readonly current: CurrentTemplate;
  readonly availability: AvailabilityRule;
}

/** How long a failed Pod on this node must stay before it is deleted; 0: not at all. */
export type FailedPodDelay = (node: string) => number;

export interface NodePlan {
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
  /** Deleted ones that had ended by themselves, which is reported. */
  readonly ended: readonly { readonly pod: Pod; readonly node: string }[];
  /** Until the next failed Pod may be deleted; undefined if none waits. */
  readonly delayMs: number | undefined;
}

interface Draft {
  readonly create: string[];
  readonly delete: Pod[];
  readonly ended: { readonly pod: Pod; readonly node: string }[];
  delayMs: number | undefined;
}

export function planNodes(seen: DaemonObserved, options: { readonly maySurge: boolean; readonly failedDelay: FailedPodDelay }): NodePlan {
  const plan: Draft = { create: [], delete: [], ended: [], delayMs: undefined };
  const { placements, pods } = seen;
  for (const node of seen.nodes) {
    const { name } = node.metadata;
    const there = pods.get(name);
    const placement = placements.on(node);
    if (placement === "runs" && there === undefined) plan.create.push(name);
    else if (placement === "away") plan.delete.push(...(there ?? []).filter(isLive));
    else if (there !== undefined) planNode(plan, { name, there, mayRun: placement === "runs" }, seen, options);
  }
  plan.delete.push(...podsWithoutNode(seen));
  return plan;
}

function planNode(
  plan: Draft,
  { name, there, mayRun }: { readonly name: string; readonly there: readonly Pod[]; readonly mayRun: boolean },
  seen: DaemonObserved,
  { maySurge, failedDelay }: { readonly maySurge: boolean; readonly failedDelay: FailedPodDelay },
): void {
  const running: Pod[] = [];
  for (const pod of there) {
    if (!isLive(pod)) continue;
    if (!hasEnded(pod)) running.push(pod);
    else planEnded(plan, pod, name, failedDelay);
  }
  if (running.length > 1) plan.delete.push(...surplusPods(running.toSorted(bySeniority), maySurge, seen));
  else if (running.length === 0 && maySurge && mayRun) plan.create.push(name);
}

function planEnded(plan: Draft, pod: Pod, node: string, failedDelay: FailedPodDelay): void {
  const delayMs = pod.status?.phase === "Failed" ? failedDelay(node) : 0;
  if (delayMs > 0) {
    plan.delayMs = Math.min(plan.delayMs ?? Infinity, delayMs);
    return;
  }
  plan.ended.push({ pod, node });
  plan.delete.push(pod);
}

/** `running`: the most senior first. */
function surplusPods(running: readonly Pod[], maySurge: boolean, { current, availability }: DaemonObserved): readonly Pod[] {
  if (!maySurge) return running.slice(1);
  const updated = running.find((pod) => isUpdated(pod, { ...current, generation: undefined }));
  const old = running.find((pod) => !isUpdated(pod, { ...current, generation: undefined }));
  const surplus = running.filter((pod) => pod !== updated && pod !== old);
  if (updated === undefined || old === undefined) return surplus;
  const isReplaced = !isReady(old) || isAvailable(updated, availability);
  return isReplaced ? [...surplus, old] : surplus;
}

/** Never scheduled, as their nodes were deleted before. */
function podsWithoutNode({ nodes, pods }: DaemonObserved): readonly Pod[] {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const lost: Pod[] = [];
  for (const [node, there] of pods) {
    if (!names.has(node)) lost.push(...there.filter((pod) => isLive(pod) && (pod.spec?.nodeName ?? "") === ""));
  }
  return lost;
}

function isLive({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}
