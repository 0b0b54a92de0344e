/** A queue under virtual time, with plugins that only have what the queue asks of them, and Pods by name. */
import { silentLogger } from "../../../base/logger.ts";
import type { VirtualClock } from "../../../base/virtual-clock.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { NODE_ADDED } from "../../events/node-changes.ts";
import { POD_ADDED, POD_DELETED } from "../../events/pod-changes.ts";
import type { NodeChange } from "../../framework/cluster-event.ts";
import type { Plugin, QueuedPod } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { aNode, aPod, podInfo, type PodParts } from "../../framework/testing/builders.ts";
import { Nominator } from "../nominator.ts";
import { SchedulingQueue, type OutsideEvent, type SchedulingQueueOptions } from "../scheduling-queue.ts";
import type { Failure } from "../waiting-pod.ts";

export interface QueueHarness {
  readonly clock: VirtualClock;
  readonly queue: SchedulingQueue;
  readonly nominator: Nominator;
}

export function queueWith(plugins: readonly Plugin[], options: Partial<SchedulingQueueOptions> = {}): QueueHarness {
  const clock = virtualClock();
  const nominator = new Nominator();
  const profile = { schedulerName: "default-scheduler", plugins, preEnqueue: plugins.filter(({ preEnqueue }) => preEnqueue !== undefined) };
  const queue = new SchedulingQueue({ clock, log: silentLogger, profiles: [profile], compare: byPriority, nominator, ...options });
  return { clock, queue, nominator };
}

/** As PrioritySort: the more important first, then the longer waiting. */
function byPriority(a: QueuedPod, b: QueuedPod): number {
  return b.info.priority - a.info.priority || a.queuedAtMs - b.queuedAtMs;
}

export function aPodInfo(name: string, parts: PodParts = {}): PodInfo {
  return podInfo(aPod(name, parts));
}

export function refusedBy(...plugins: string[]): Failure {
  return { is: "refused", by: new Set(plugins) };
}

export const anError: Failure = { is: "error" };

export function nodeAdded(name = "new"): OutsideEvent {
  return { of: "node", changes: NODE_ADDED, node: aNode(name) };
}

export function nodeChanged(...changes: NodeChange[]): OutsideEvent {
  return { of: "node", changes: new Set(changes), node: aNode("changed") };
}

export function podDeleted(name = "old"): OutsideEvent {
  return { of: "assigned-pod", changes: POD_DELETED, pod: aPod(name, { node: "somewhere" }) };
}

export function podBound(name = "fresh"): OutsideEvent {
  return { of: "assigned-pod", changes: POD_ADDED, pod: aPod(name, { node: "somewhere" }) };
}

/** Pops the next Pod, which must be this one, and requeues it. */
export function fail({ queue }: QueueHarness, name: string, failure: Failure): void {
  const taken = queue.tryPop();
  if (taken?.info.pod.metadata.name !== name) throw new Error(`Expected Pod "${name}" to be next, is ${taken?.info.key ?? "none"}`);
  queue.putBack(taken.info.uid, failure);
}

/** The place of the Pod "default/<name>". */
export function placeOf({ queue }: QueueHarness, name: string): string {
  return queue.find(`default/${name}`)?.place ?? "nowhere";
}

/** The names of all that can be popped now, in order. */
export function popAll({ queue }: QueueHarness): string[] {
  const names: string[] = [];
  for (let taken = queue.tryPop(); taken !== undefined; taken = queue.tryPop()) names.push(taken.info.pod.metadata.name ?? "");
  return names;
}
