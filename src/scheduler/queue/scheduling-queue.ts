/**
 * The scheduling queue. It guarantees:
 * - A Pod is in one place: ready (active), to be retried after a delay (backoff), waiting for an event (unschedulable), gated by a
 *   preEnqueue (gated), or popped (in flight).
 * - A rejected Pod is retried when an event may have changed the answer of a rejecting plugin, and not otherwise; should a plugin's
 *   rules be wrong, after five minutes nevertheless.
 * - Events during an attempt are not lost: they count when the Pod is requeued.
 *
 * There is one timer, to the next deadline. It has no maximum length: there are never more Pods than the API server stores. Not here: which
 * events there are (scheduler/events), and deciding (scheduler/cycle).
 */
import { Heap } from "../../base/heap.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { channelsOfEvent } from "../events/channels.ts";
import { podChanges } from "../events/pod-changes.ts";
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { QueuedPod } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import { Alarm } from "./alarm.ts";
import { BackoffLine, INITIAL_BACKOFF_MS_DEFAULT, MAX_BACKOFF_MS_DEFAULT } from "./backoff-line.ts";
import { EventLog } from "./event-log.ts";
import { Gates } from "./gates.ts";
import type { Nominator } from "./nominator.ts";
import { RetryIndex } from "./retry-index.ts";
import { RetryRules, type QueueProfile, type Worth } from "./retry-rules.ts";
import { WaitingPod, type Failure, type Place, type PodInQueue, type TakenPod } from "./waiting-pod.ts";
import { ConditionVariable } from "./condition-variable.ts";

/** Upstream's podMaxInUnschedulablePodsDuration: no plugin's rules are trusted for longer. */
export const MAX_UNSCHEDULABLE_MS_DEFAULT = 5 * 60_000;

export interface SchedulingQueueOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly profiles: readonly QueueProfile[];
  /** Order of ready Pods: the queueSort plugin's. Equal ones are in the order of adding and requeueing. */
  readonly compare: (a: QueuedPod, b: QueuedPod) => number;
  /** Notified of added, changed and deleted Pods. */
  readonly nominator: Nominator;
  /** Default: INITIAL_BACKOFF_MS_DEFAULT. */
  readonly initialBackoffMs?: number;
  /** Default: MAX_BACKOFF_MS_DEFAULT. */
  readonly maxBackoffMs?: number;
  /** Default: MAX_UNSCHEDULABLE_MS_DEFAULT. */
  readonly maxUnschedulableMs?: number;
}

/** Events of other objects than the waiting Pod; its own changes come by `update`. */
export type OutsideEvent = Exclude<ClusterEvent, { readonly of: "waiting-pod" }>;

export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #nominator: Nominator;
  readonly #maxUnschedulableMs: number;
  readonly #gates: Gates;
  readonly #rules: RetryRules;

  /** All Pods, wherever they are, by uid. */
  readonly #pods = new Map<string, WaitingPod>();
  /** "namespace/name" → uid */
  readonly #uids = new Map<string, string>();
  readonly #active: Heap<WaitingPod>;
  readonly #backoff: BackoffLine;
  /** Those requeued first, first. */
  readonly #unschedulable = new Heap<WaitingPod>((a, b) => a.queuedAtMs - b.queuedAtMs || a.sequence - b.sequence);
  /** The unschedulable and the gated, by what may help them. */
  readonly #index: RetryIndex;
  readonly #missed = new EventLog();
  #gated = 0;
  #inFlight = 0;
  #sequence = 0;

  readonly #ready = new ConditionVariable();
  readonly #alarm: Alarm;

  constructor(options: SchedulingQueueOptions) {
    const { clock, log, profiles, compare, nominator } = options;
    const { initialBackoffMs = INITIAL_BACKOFF_MS_DEFAULT, maxBackoffMs = MAX_BACKOFF_MS_DEFAULT } = options;
    this.#clock = clock;
    this.#nominator = nominator;
    this.#maxUnschedulableMs = options.maxUnschedulableMs ?? MAX_UNSCHEDULABLE_MS_DEFAULT;
    this.#gates = new Gates(profiles, log);
    this.#rules = new RetryRules(profiles, log);
    this.#index = new RetryIndex(this.#rules);
    const inOrder = (a: WaitingPod, b: WaitingPod) => compare(a, b) || a.sequence - b.sequence;
    this.#active = new Heap(inOrder);
    this.#backoff = new BackoffLine({ initialBackoffMs, maxBackoffMs, compare: inOrder });
    this.#alarm = new Alarm(clock, () => this.#moveDue());
  }

  // ── inspection ────────────────────────────────────────────────────────────────────────────────────

  /** How many Pods are in each place. */
  counts(): Readonly<Record<Place, number>> {
    return {
      active: this.#active.size,
      backoff: this.#backoff.size,
      unschedulable: this.#unschedulable.size,
      gated: this.#gated,
      "in-flight": this.#inFlight,
    };
  }

  /** The Pod of this "namespace/name", and what it waits for. */
  find(key: string): PodInQueue | undefined {
    const pod = this.#pods.get(this.#uids.get(key) ?? "");
    return pod === undefined ? undefined : this.#describe(pod);
  }

  /** All Pods, in the order in which they came. */
  list(): PodInQueue[] {
    return [...this.#pods.values()].map((pod) => this.#describe(pod));
  }

  // ── Pod changes ───────────────────────────────────────────────────────────────────────────────────

  /** An unassigned Pod. A known one is updated. */
  add(info: PodInfo): void {
    if (this.#pods.has(info.uid)) return this.update(info);
    const former = this.#uids.get(info.key);
    // Deleted and recreated, and the deletion was not observed.
    if (former !== undefined) this.delete(former);
    const pod = new WaitingPod(info, this.#clock.monotonic(), this.#sequence++);
    this.#pods.set(info.uid, pod);
    this.#uids.set(info.key, info.uid);
    this.#enqueue(pod, "after-backoff");
    if (pod.place === "active") this.#nominator.add(info);
  }

  /** An update of an unassigned Pod; added if unknown. Must not be called for a Pod that was bound and only appears unassigned. */
  update(info: PodInfo): void {
    const pod = this.#pods.get(info.uid);
    if (pod === undefined) return this.add(info);
    const previous = pod.info;
    if (isSameVersion(previous, info)) return;
    if (pod.place === "active" || pod.place === "backoff") this.#replace(pod, info);
    else pod.info = info;
    // A Pod being bound has no nomination, and gets none from an old status.
    if (pod.place !== "in-flight" || this.#nominator.nodeOf(info.uid) !== undefined) this.#nominator.update(previous, info);
    this.#considerOwnChange(pod, previous);
  }

  /** The Pod was deleted or assigned. If it is in flight, requeueing it does nothing. */
  delete(uid: string): void {
    this.#nominator.delete(uid);
    this.#forget(uid);
  }

  // ── attempts ──────────────────────────────────────────────────────────────────────────────────────

  /**
   * Pops the next Pod, if there is one: the first active one, else the first rejected one in backoff. The attempt ends with `putBack` or
   * `done`, or the Pod was deleted meanwhile.
   */
  tryPop(): TakenPod | undefined {
    const pod = this.#active.pop() ?? this.#backoff.popEarly();
    if (pod === undefined) return undefined;
    this.#inFlight++;
    pod.take(this.#missed.end);
    return pod;
  }

  /** As `tryPop`, as soon as there is one. Rejects with the signal's reason, or when the queue is disposed; no Pod is lost by that. */
  async pop(signal?: AbortSignal): Promise<TakenPod> {
    for (;;) {
      signal?.throwIfAborted();
      const pod = this.tryPop();
      if (pod !== undefined) return pod;
      // Chosen only then: of several added at once, the first in order and not the first to come.
      await this.#ready.wait(signal);
    }
  }

  /** The attempt failed. Helpful events since it began make the Pod return soon. */
  putBack(uid: string, failure: Failure): void {
    const pod = this.#pods.get(uid);
    if (pod?.place !== "in-flight") return;
    pod.recordFailure(failure);
    pod.queuedAtMs = this.#clock.monotonic();
    pod.sequence = this.#sequence++;
    const worth = this.#worthOfMissed(pod);
    this.#leave(pod);
    this.#enqueue(pod, worth);
  }

  /** The attempt is over and the Pod is assigned, or no longer relevant. */
  done(uid: string): void {
    if (this.#pods.get(uid)?.place === "in-flight") this.#forget(uid);
  }

  // ── events ────────────────────────────────────────────────────────────────────────────────────────

  /** Retries the Pods that this event may help, of those that `only` accepts (all, if absent). */
  moveAllOn(event: OutsideEvent, only?: (info: PodInfo) => boolean): void {
    if (channelsOfEvent(event) === 0) return;
    if (this.#inFlight > 0) this.#missed.append(only === undefined ? { event } : { event, only });
    for (const { pod, worth } of this.#index.wokenBy(event, only)) {
      this.#leave(pod);
      this.#enqueue(pod, worth);
    }
  }

  /** Retries the Pod without waiting, unless it is gated. One in flight is retried after its backoff, should it be requeued. */
  activate(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined || pod.place === "active") return;
    if (pod.place === "in-flight") {
      pod.isWanted = true;
      return;
    }
    this.#leave(pod);
    this.#enqueue(pod, "at-once");
  }

  /** Something that a preEnqueue waited for is over, without an event: if the Pod is gated, it is re-evaluated. */
  askGates(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod?.place !== "gated") return;
    this.#leave(pod);
    this.#enqueue(pod, "after-backoff");
  }

  /** Cancels the timer, and rejects waiting pops. */
  [Symbol.dispose](): void {
    this.#alarm[Symbol.dispose]();
    this.#ready[Symbol.dispose]();
  }

  // ── internals ─────────────────────────────────────────────────────────────────────────────────────

  /** Puts a Pod that is nowhere into its place. */
  #enqueue(pod: WaitingPod, worth: Worth): void {
    if (worth === "no") return this.#toUnschedulable(pod);
    pod.gatedBy = this.#gates.gateOf(pod);
    if (pod.gatedBy !== undefined) this.#toGated(pod, pod.gatedBy);
    else if (worth === "after-backoff" && this.#backoff.isWaiting(pod, this.#clock.monotonic())) this.#toBackoff(pod);
    else this.#toActive(pod);
  }

  #toActive(pod: WaitingPod): void {
    pod.place = "active";
    pod.firstActiveAtMs = Math.min(pod.firstActiveAtMs, this.#clock.monotonic());
    pod.seat = this.#active.push(pod);
    this.#ready.wake();
  }

  #toBackoff(pod: WaitingPod): void {
    pod.place = "backoff";
    this.#backoff.push(pod);
    this.#alarm.ringBy(this.#backoff.endsAtMs(pod));
    if (this.#backoff.hasEarly) this.#ready.wake();
  }

  #toUnschedulable(pod: WaitingPod): void {
    pod.place = "unschedulable";
    pod.seat = this.#unschedulable.push(pod);
    this.#index.add(pod, pod.refusers());
    this.#alarm.ringBy(pod.queuedAtMs + this.#maxUnschedulableMs);
  }

  #toGated(pod: WaitingPod, gate: string): void {
    pod.place = "gated";
    this.#gated++;
    this.#index.addGated(pod, gate, pod.refusers());
  }

  /** Removes the Pod from its place. */
  #leave(pod: WaitingPod): void {
    if (pod.place === "active" && pod.seat !== undefined) this.#active.remove(pod.seat);
    if (pod.place === "backoff") this.#backoff.remove(pod);
    if (pod.place === "unschedulable" && pod.seat !== undefined) this.#unschedulable.remove(pod.seat);
    if (pod.place === "unschedulable" || pod.place === "gated") this.#index.delete(pod);
    if (pod.place === "gated") this.#gated--;
    if (pod.place === "in-flight" && --this.#inFlight === 0) this.#missed.clear();
    pod.seat = undefined;
    pod.place = "nowhere";
  }

  #forget(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.#leave(pod);
    this.#pods.delete(uid);
    this.#uids.delete(pod.info.key);
  }

  /** A new version where order matters: removed and inserted again, in case its position changed. */
  #replace(pod: WaitingPod, info: PodInfo): void {
    const { place } = pod;
    this.#leave(pod);
    pod.info = info;
    if (place === "active") this.#toActive(pod);
    else this.#toBackoff(pod);
  }

  #considerOwnChange(pod: WaitingPod, previous: PodInfo): void {
    const { place, info } = pod;
    if (place === "active" || place === "backoff") return;
    const event = { of: "waiting-pod", changes: podChanges(previous, info), pod: info.pod, previous: previous.pod } as const;
    if (place === "in-flight") {
      pod.ownEvents.push(event);
      return;
    }
    // A preEnqueue depends only on the Pod, so it is called again.
    const worth = place === "gated" ? "after-backoff" : this.#worthOf(pod, event);
    if (worth === "no") return;
    this.#leave(pod);
    this.#enqueue(pod, worth);
  }

  /** Events of the world and of the Pod since it was popped, combined. */
  #worthOfMissed(pod: WaitingPod): Worth {
    if (pod.hasFailed) return "after-backoff";
    const missed = this.#missed.since(pod.takenAt);
    if (missed === undefined) return "after-backoff";
    let best: Worth = pod.isWanted ? "after-backoff" : "no";
    for (const event of [...missed.filter(({ only }) => only?.(pod.info) ?? true).map((logged) => logged.event), ...pod.ownEvents]) {
      const worth = this.#worthOf(pod, event);
      if (worth === "at-once") return worth;
      if (worth !== "no") best = worth;
    }
    return best;
  }

  #worthOf(pod: WaitingPod, event: ClusterEvent): Worth {
    return this.#rules.worthOf(this.#rules.rulesOf(pod.schedulerName, pod.refusers()), pod, event, channelsOfEvent(event));
  }

  /** Moves all whose deadline has passed, and sets the timer for the next one. */
  #moveDue(): void {
    const nowMs = this.#clock.monotonic();
    for (let pod = this.#backoff.popDue(nowMs); pod !== undefined; pod = this.#backoff.popDue(nowMs)) this.#toActive(pod);
    for (let pod = this.#unschedulable.peek(); pod !== undefined; pod = this.#unschedulable.peek()) {
      if (pod.queuedAtMs + this.#maxUnschedulableMs > nowMs) break;
      this.#leave(pod);
      this.#enqueue(pod, "after-backoff");
    }
    const oldest = this.#unschedulable.peek();
    const flushAtMs = oldest === undefined ? Number.POSITIVE_INFINITY : oldest.queuedAtMs + this.#maxUnschedulableMs;
    this.#alarm.ringBy(Math.min(this.#backoff.nextEndMs(), flushAtMs));
  }

  #describe(pod: WaitingPod): PodInQueue {
    const { info, attempts, queuedAtMs, refusedBy, pendingOn, gatedBy } = pod;
    // A known Pod is nowhere only while it moves between places.
    const place = pod.place as Place;
    const known = { place, info, attempts, queuedAtMs, refusedBy, pendingOn };
    if (place === "gated" && gatedBy !== undefined) return { ...known, gatedBy };
    if (place === "backoff") return { ...known, retriedAtMs: this.#backoff.endsAtMs(pod) };
    if (place === "unschedulable") return { ...known, retriedAtMs: queuedAtMs + this.#maxUnschedulableMs };
    return known;
  }
}

function isSameVersion(a: PodInfo, b: PodInfo): boolean {
  const version = a.pod.metadata.resourceVersion;
  return a.pod === b.pod || (version !== undefined && version === b.pod.metadata.resourceVersion);
}
