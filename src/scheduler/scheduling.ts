/**
 * The scheduling loop: pop the next Pod, decide, assume, and bind concurrently with the next ones. A Pod counts on its node from the
 * decision until it is bound or the attempt has failed, so that two decisions never use the same capacity; and every attempt ends with the
 * Pod bound, requeued, or deleted.
 *
 * All durable state is in the API: a process that dies here has decided nothing that is not bound, and another starts from current state.
 */
import type { Pod } from "../api/generated/core/v1.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import type { SchedulerCache } from "./cache/scheduler-cache.ts";
import { decide, type Diagnosis, type Placed, type Turns, type Unschedulable } from "./cycle/decide.ts";
import { eventNote, fitErrorMessage, NO_NODES_MESSAGE } from "./cycle/fit-error.ts";
import { preBindGroups, runPreBinds, type PreBindGroups } from "./cycle/pre-bind.ts";
import { askPostFilters } from "./cycle/post-filter.ts";
import type { Profile } from "./cycle/profile.ts";
import {
  diagnosisOf,
  reserveAndPermit,
  unreserve,
  waitOnPermit,
  type PermitResult,
  type PermitWait,
  type Refusal,
} from "./cycle/reserve.ts";
import type { ExtensionPoint, PointStatus } from "./cycle/stopwatch.ts";
import type { Decisions } from "./decisions.ts";
import { POD_DELETED } from "./events/pod-changes.ts";
import { podInfoOf } from "./framework/make-pod-info.ts";
import type { ClusterView } from "./framework/plugin.ts";
import type { PodInfo } from "./framework/pod-info.ts";
import type { SchedulerStatistics } from "./metrics.ts";
import type { PodConditions } from "./pod-conditions.ts";
import type { Nominator } from "./queue/nominator.ts";
import { NO_NODES } from "./queue/retry-rules.ts";
import type { SchedulingQueue } from "./queue/scheduling-queue.ts";
import type { TakenPod } from "./queue/waiting-pod.ts";

export interface SchedulingContext {
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly recorders: ReadonlyMap<string, EventRecorder>;
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly nominator: Nominator;
  readonly cluster: ClusterView;
  readonly conditions: PodConditions;
  readonly decisions: Decisions;
  readonly statistics: SchedulerStatistics;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when nothing more is to be started. */
  readonly signal: AbortSignal;
}

/** Retry delay of failed preemptions: an unresponsive server is not overloaded, as upstream. */
const RETRY_ROOM_MS = 1_000;

/** What precedes the binding of a Pod: the plugins that delay it at permit, and those with work at preBind. */
interface Preparation {
  readonly waits: readonly PermitWait[];
  readonly preBinds: PreBindGroups;
}

/** One try of one Pod. */
interface Attempt {
  readonly taken: TakenPod;
  /** The Pod as of when it was popped. */
  readonly info: PodInfo;
  readonly profile: Profile;
  readonly beganAtMs: number;
}

export class Scheduling {
  readonly #context: SchedulingContext;
  /** Pods at permit and preBind, by uid: how each is requeued. */
  readonly #heldBack = new Map<string, AbortController>();
  /** One for each Pod at permit and preBind. They wait for others, so that however many there are, the next Pods proceed. */
  readonly #waits = new Set<Promise<void>>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(context: SchedulingContext) {
    this.#context = context;
  }

  /** Bindings and evictions in flight. Pods at permit and preBind are not among them. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Resolves when one of them is done; at once if none exists. */
  async oneIsOver(): Promise<void> {
    if (this.#underWay.size > 0) await Promise.race(this.#underWay);
  }

  /** Including those at permit and preBind. */
  async allAreOver(): Promise<void> {
    while (this.#waits.size + this.#underWay.size > 0) await Promise.all([...this.#waits, ...this.#underWay]);
  }

  /** Requeues a Pod that waits at permit or preBind; false if it does not. */
  sendBack({ metadata }: Pod): boolean {
    const held = this.#heldBack.get(metadata.uid ?? "");
    held?.abort();
    return held !== undefined;
  }

  /** Decides one Pod, synchronously. */
  attempt(taken: TakenPod): void {
    const { queue, clock, cache, nominator, turns } = this.#context;
    const { info } = taken;
    const profile = this.#context.profiles.get(info.pod.spec?.schedulerName ?? "");
    if (profile === undefined || this.#isOfNoInterest(info)) return queue.done(info.uid);
    const attempt = { taken, info, profile, beganAtMs: clock.monotonic() };
    try {
      const nominatedPods = nominator.size === 0 ? undefined : (nodeName: string) => nominator.nominatedPods(nodeName);
      const decision = decide(profile, info, { snapshot: cache.snapshot(), nominatedPods }, turns);
      this.#context.statistics.decided(this.#secondsSince(attempt));
      if (decision.is === "placed") this.#place(attempt, decision);
      else this.#refused(attempt, decision);
    } catch (error) {
      this.#failed(attempt, error);
    }
  }

  #isOfNoInterest({ pod, uid }: PodInfo): boolean {
    const { cache, recorders } = this.#context;
    const { namespace, name, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      const message = `skip schedule deleting pod: ${namespace}/${name}`;
      recorders
        .get(pod.spec?.schedulerName ?? "")
        ?.record(pod, { type: "Warning", reason: "FailedScheduling", action: "Scheduling", message });
      return true;
    }
    return cache.isAssumed(uid);
  }

  // ── a node was found ──────────────────────────────────────────────────────────────────────────────

  #place(attempt: Attempt, placed: Placed): void {
    const { cache, nominator, log } = this.#context;
    const { info, profile } = attempt;
    const { nodeName } = placed;
    // It was observed as assigned meanwhile.
    if (!cache.assume(info, nodeName)) return this.#context.queue.done(info.uid);
    nominator.delete(info.uid);
    let permitted: PermitResult | undefined;
    try {
      const timed = this.#pointTimer(profile);
      permitted = reserveAndPermit(profile, info, nodeName, log);
      timed("Reserve", permitted.is === "rejected" ? "Unschedulable" : "Success");
    } finally {
      if (permitted === undefined || permitted.is === "rejected") cache.forget(info.uid);
    }
    if (permitted.is === "rejected") return this.#turnedAway(attempt, diagnosisOf(permitted.refusal, nodeName));
    const preBinds = preBindGroups(profile, info, nodeName);
    if (permitted.is === "allowed" && preBinds.length === 0) return track(this.#underWay, this.#carryOut(attempt, placed));
    const waits = permitted.is === "wait" ? permitted.waits : [];
    track(this.#waits, this.#hold(attempt, placed, { waits, preBinds }));
  }

  /** Until the plugins allow it, and have prepared the binding. Never rejects. */
  async #hold(attempt: Attempt, placed: Placed, until: Preparation): Promise<void> {
    try {
      const refusal = await this.#prepared(attempt, placed.nodeName, until);
      if (refusal !== undefined) return this.#refusedThere(attempt, placed, refusal);
    } catch (error) {
      return this.#notBound(attempt, placed.nodeName, () => this.#failed(attempt, error));
    }
    track(this.#underWay, this.#carryOut(attempt, placed));
  }

  /** Never rejects. */
  async #carryOut(attempt: Attempt, placed: Placed): Promise<void> {
    try {
      await this.#bind(attempt, placed.nodeName);
    } catch (error) {
      // The Pod was deleted or assigned: its informer delivers the rest.
      if (isReason(error, "NotFound")) return this.#notBound(attempt, placed.nodeName, () => this.#context.queue.done(attempt.info.uid));
      return this.#notBound(attempt, placed.nodeName, () => this.#failed(attempt, error));
    }
    this.#placedFor(attempt, placed);
  }

  async #prepared({ info, profile }: Attempt, nodeName: string, { waits, preBinds }: Preparation): Promise<Refusal | undefined> {
    const { clock, signal, conditions } = this.#context;
    const held = new AbortController();
    this.#heldBack.set(info.uid, held);
    try {
      await conditions.nominate(info.pod, nodeName);
      const either = AbortSignal.any([signal, held.signal]);
      const refusal = waits.length === 0 ? undefined : await waitOnPermit(waits, clock, either);
      if (refusal !== undefined || preBinds.length === 0) return refusal;
      const timed = this.#pointTimer(profile);
      const atPreBind = await runPreBinds(preBinds, info, nodeName, either);
      timed("PreBind", atPreBind === undefined ? "Success" : "Unschedulable");
      return atPreBind;
    } finally {
      this.#heldBack.delete(info.uid);
    }
  }

  async #bind({ info, profile }: Attempt, nodeName: string): Promise<void> {
    const { signal, conditions } = this.#context;
    const timed = this.#pointTimer(profile);
    // A condition of an earlier attempt must not be written after the binding.
    const writing = conditions.supersede(info.uid);
    if (writing !== undefined) await writing;
    for (const plugin of profile.bind) {
      if ((await plugin.bind?.(info, nodeName, signal)) !== true) continue;
      return timed("Bind", "Success");
    }
    throw new Error(`No plugin of the profile "${profile.schedulerName}" binds this Pod: enable one for "bind"`);
  }

  #placedFor(attempt: Attempt, { nodeName, refused, scores }: Placed): void {
    const { queue, recorders, statistics, log } = this.#context;
    const { info, profile } = attempt;
    queue.done(info.uid);
    const message = `Successfully assigned ${info.key} to ${nodeName}`;
    recorders.get(profile.schedulerName)?.record(info.pod, { type: "Normal", reason: "Scheduled", action: "Binding", message });
    statistics.ended("scheduled", profile.schedulerName, this.#secondsSince(attempt), attempt.taken.attempts);
    statistics.bound((this.#context.clock.monotonic() - attempt.taken.firstActiveAtMs) / 1_000, attempt.taken.attempts);
    this.#record(attempt, { outcome: "placed", nodeName, message, refused, scores });
    for (const plugin of profile.postBind) {
      try {
        plugin.postBind?.(info, nodeName);
      } catch (error) {
        // Whatever it throws, the Pod is bound.
        log.error("PostBind of a plugin failed", { plugin: plugin.name, pod: info.key, node: nodeName, error });
      }
    }
  }

  #refusedThere(attempt: Attempt, { nodeName }: Placed, refusal: Refusal): void {
    this.#notBound(attempt, nodeName, () => this.#turnedAway(attempt, diagnosisOf(refusal, nodeName)));
  }

  /** The released reservation may help others. */
  #notBound({ info, profile }: Attempt, nodeName: string, then: () => void): void {
    const { cache, queue, log } = this.#context;
    unreserve(profile, info, nodeName, log);
    const assumed = cache.pod(info.uid)?.info.pod;
    // Otherwise it was observed as assigned after all.
    if (cache.forget(info.uid) && assumed !== undefined)
      queue.moveAllOn({ of: "assigned-pod", changes: POD_DELETED, pod: assumed }, (waiting) => waiting.uid !== info.uid);
    then();
  }

  // ── no node was found, or binding failed ──────────────────────────────────────────────────────────

  #refused(attempt: Attempt, { diagnosis, whatIf }: Unschedulable): void {
    const { info, profile } = attempt;
    const { statistics } = this.#context;
    if (whatIf !== undefined && profile.postFilter.length > 0) statistics.preemptionTried();
    const timed = this.#pointTimer(profile);
    const answer = whatIf === undefined ? undefined : askPostFilters(profile, info, whatIf);
    if (answer !== undefined) timed("PostFilter", answer.is === "nominated" ? "Success" : "Unschedulable");
    if (answer?.is !== "nominated") {
      this.#turnedAway(attempt, diagnosis, answer);
      if (answer?.act !== undefined) track(this.#underWay, this.#makeRoom(attempt, answer.act));
      return;
    }
    this.#turnedAway(attempt, diagnosis, undefined, answer.nodeName);
    statistics.victimsChosen(answer.victims);
    track(this.#underWay, this.#makeRoom(attempt, answer.act));
  }

  /** Never rejects. */
  async #makeRoom({ info }: Attempt, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { queue, log, clock, signal } = this.#context;
    try {
      await act(signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn("Making room for a Pod failed; the Pod is retried", { pod: info.key, error });
      // Nothing is evicted, so no event would trigger it.
      void clock.sleep(RETRY_ROOM_MS, signal).then(
        () => queue.activate(info.uid),
        () => undefined,
      );
    } finally {
      // Its event may have happened while it was gated.
      queue.askGates(info.uid);
    }
  }

  #turnedAway(
    attempt: Attempt,
    diagnosis: Diagnosis,
    answer?: { readonly message: string; readonly clearsNomination: boolean },
    nominatedNodeName?: string,
  ): void {
    const { nominator, statistics } = this.#context;
    const { profile } = attempt;
    const message =
      diagnosis.nodeCount === 0 ? NO_NODES_MESSAGE : fitErrorMessage({ ...diagnosis, postFilterMessage: answer?.message ?? "" });
    statistics.ended("unschedulable", profile.schedulerName, this.#secondsSince(attempt), attempt.taken.attempts);
    // Only a postFilter plugin keeps an earlier nomination: without one, or after a rejection on the node itself, it is cleared.
    const nomination = nominatedNodeName ?? (answer === undefined || answer.clearsNomination ? "" : undefined);
    const by = diagnosis.nodeCount === 0 ? new Set([NO_NODES]) : diagnosis.unschedulablePlugins;
    const isBack = this.#putBack(attempt, { is: "refused", by });
    // Afterwards: the current decision takes precedence over earlier nominations in the status.
    if (isBack && nomination !== undefined) nominator.nominate(attempt.taken.info, nominatedNodeName);
    const nodeName = nominatedNodeName === undefined ? {} : { nodeName: nominatedNodeName };
    this.#record(attempt, { outcome: "unschedulable", ...nodeName, message, refused: diagnosis.refused, scores: [] });
    if (isBack) this.#report(attempt, "Unschedulable", message, nomination);
  }

  #failed(attempt: Attempt, error: unknown): void {
    const { statistics, log, signal, nominator } = this.#context;
    const { info, profile } = attempt;
    if (signal.aborted) return this.#context.queue.done(info.uid);
    const message = error instanceof Error ? error.message : String(error);
    log.warn("Cannot schedule a Pod; the Pod is retried", { pod: info.key, error });
    statistics.ended("error", profile.schedulerName, this.#secondsSince(attempt), attempt.taken.attempts);
    const isBack = this.#putBack(attempt, { is: "error" });
    this.#record(attempt, { outcome: "failed", message, refused: [], scores: [] });
    if (!isBack) return;
    nominator.nominate(attempt.taken.info, undefined);
    this.#report(attempt, "SchedulerError", message, "");
  }

  /**
   * The newest observed version: the queue receives no updates of a Pod being bound. False if the Pod was deleted, replaced, or assigned:
   * then there is nothing to retry or report.
   */
  #putBack({ info }: Attempt, failure: Parameters<SchedulingQueue["putBack"]>[1]): boolean {
    const { cluster, queue } = this.#context;
    const { namespace = "", name } = info.pod.metadata;
    const seen = cluster.pod(namespace, name);
    if (seen?.metadata.uid !== info.uid || (seen.spec?.nodeName ?? "") !== "") {
      queue.done(info.uid);
      return false;
    }
    queue.update(podInfoOf(seen, info));
    queue.putBack(info.uid, failure);
    return true;
  }

  #report({ info, profile }: Attempt, reason: "Unschedulable" | "SchedulerError", message: string, nomination: string | undefined): void {
    const { recorders, conditions, cluster } = this.#context;
    const { namespace = "", name } = info.pod.metadata;
    const pod = cluster.pod(namespace, name) ?? info.pod;
    const note = eventNote(message);
    recorders.get(profile.schedulerName)?.record(pod, { type: "Warning", reason: "FailedScheduling", action: "Scheduling", message: note });
    conditions.report(pod, { reason, message, ...(nomination === undefined ? {} : { nominatedNodeName: nomination }) });
  }

  #record(
    { info, profile, taken }: Attempt,
    what: Omit<Parameters<Decisions["record"]>[1], "atMs" | "uid" | "schedulerName" | "attempt">,
  ): void {
    const { decisions, clock } = this.#context;
    const { schedulerName } = profile;
    decisions.record(info.key, { atMs: clock.now(), uid: info.uid, schedulerName, attempt: taken.attempts, ...what });
  }

  /** The returned function records an extension point that began now, or with its last call. */
  #pointTimer({ schedulerName }: Profile): (point: ExtensionPoint, status: PointStatus) => void {
    const { clock, statistics } = this.#context;
    let startedMs = clock.monotonic();
    return (point, status) => {
      const nowMs = clock.monotonic();
      statistics.extensionPoint(point, { status, profile: schedulerName }, (nowMs - startedMs) / 1_000);
      startedMs = nowMs;
    };
  }

  #secondsSince({ beganAtMs }: Attempt): number {
    return (this.#context.clock.monotonic() - beganAtMs) / 1_000;
  }
}

/** `work` never rejects. */
function track(among: Set<Promise<void>>, work: Promise<void>): void {
  among.add(work);
  void work.then(() => among.delete(work));
}
