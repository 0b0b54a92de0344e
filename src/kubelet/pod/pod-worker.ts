/**
 * Sees to one Pod: looks at what is wanted and what there is, does what the plan says, and tells the API what it saw. Whatever happens
 * (the Pod changes, a container ends, a time comes) only has it look again, so nothing is lost by a change in between, and there is at
 * most one write of a Pod's status under way. What is done quickly is told once, when it is done: most Pods run after one write. What
 * takes its time (an image, a start) holds up nothing else of the Pod.
 */
import type { Pod, PodStatus } from "../../api/generated/core/v1.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Logger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { Random } from "../../base/random.ts";
import type { AdmissionRefusal } from "./admit-pod.ts";
import type { KubeletMetrics } from "../kubelet-metrics.ts";
import { stopGraceMs } from "./plan/plan-termination.ts";
import { PodActs } from "./pod-actions.ts";
import type { PodMachine } from "../contracts/pod-machine.ts";
import { OwnMemory } from "./pod-state.ts";
import { isResizing } from "./plan/plan-resize.ts";
import { planPod, type PodPlan } from "./plan/pod-plan.ts";
import { PodResize } from "../resize/pod-resize.ts";
import { DEADLINE, podStatusOf, refusedStatus } from "./status/pod-status.ts";
import { PodReports } from "./status/status-writer.ts";
import { PodWorkerFigures } from "./pod-worker-metrics.ts";
import { PodProber } from "../probes/pod-prober.ts";
import { recall, toldWaiting } from "./restore-state.ts";
import type { PullProgress, Runtime, SandboxStatus } from "../contracts/runtime.ts";
import { hasRunning } from "./containers/runtime-containers.ts";
import { tellBackOff } from "./pod-events.ts";

/** Work that takes longer is told meanwhile: people want to see that an image is being pulled. */
const TELL_AFTER_MS = 100;
/** After so many plans in a row something never comes to an end; the next attempt is later. */
const PLANS_MAX = 100;
/** Delays after failures that are nobody's in particular: of the API server, or of the runtime. Upstream's longest. */
const AGAIN = { minMs: 1_000, maxMs: 10_000 };

/** One for all: making a reason each time costs more than the waiting. */
const IN_TIME = new Error("It was done before anybody had to wait");

export interface PodWorkerOptions {
  readonly client: Client;
  readonly runtime: Runtime;
  /** Absent: there is none, as of simulated nodes. */
  readonly machine?: PodMachine | undefined;
  readonly recorder: EventRecorder;
  readonly hostIps: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** When the kubelet began. */
  readonly startedAtMs: number;
  /** Absent: nobody counts. */
  readonly metrics?: KubeletMetrics | undefined;
  /** Why the node does not take it; undefined if it does. */
  admit(pod: Pod): AdmissionRefusal | undefined;
  /** It was taken. */
  onAdmitted(): void;
  onImage(): void;
  onPull?(image: string, done: PullProgress): void;
  /** All traces are gone. */
  onDone(): void;
}

export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #acts: PodActs;
  readonly #memory: OwnMemory;
  readonly #reports: PodReports;
  readonly #resize: PodResize;
  /** Undefined: the runtime sees to it by itself. */
  readonly #prober: PodProber | undefined;
  readonly #uid: string;
  #pod: Pod;
  #isGone: boolean;
  #isAdmitted = false;
  #isWanted = false;
  #isWorking = false;
  #isPerforming = false;
  /** A status that is written while something is done. */
  #meanwhile: Promise<void> | undefined;
  #isStopped = false;
  #isDeadlineRecorded = false;
  /** Containers of which it was told that they wait, and why. */
  #toldWaiting: ReadonlyMap<string, { readonly reason: string }>;
  #failures = 0;
  #timer: AbortController | undefined;
  /** Ends a pause in which it is seen whether starts are quick. */
  #goOn: (() => void) | undefined;
  /** Whether it was being deleted before this worker came, and whether what went before is known. */
  readonly #isResumed: boolean;
  #isRecalled = false;
  readonly #figures: PodWorkerFigures;

  /** `isGone`: the runtime has something of it, the API has not. */
  constructor(pod: Pod, { isGone }: { readonly isGone: boolean }, options: PodWorkerOptions) {
    this.#pod = pod;
    this.#isGone = isGone;
    this.#uid = pod.metadata.uid ?? "";
    this.#options = options;
    this.#isResumed = pod.metadata.deletionTimestamp !== undefined;
    this.#toldWaiting = toldWaiting(pod);
    this.#figures = new PodWorkerFigures(pod, options);
    this.#reports = new PodReports(options.client);
    this.#memory = new OwnMemory({ needsMachine: options.machine !== undefined });
    this.#resize = new PodResize(pod, { ...options, memory: this.#memory });
    const wake = (): void => this.wake();
    this.#acts = new PodActs({ ...options, memory: this.#memory, onStart: wake, isWanted: () => this.#isWantedByApi });
    if (options.runtime.probes === "kubelet" && !isGone)
      this.#prober = new PodProber(pod, {
        ...options,
        actions: options.machine?.probes,
        metrics: options.metrics?.probes,
        onChange: () => this.#probesChanged(),
      });
  }

  /** The newest that is known. */
  get pod(): Pod {
    return this.#pod;
  }

  /** The same with what it was allocated: all that is done for it goes by that. */
  get allocated(): Pod {
    return this.#resize.allocated(this.#pod);
  }

  /** It takes a part of the node. One that is gone from the API takes none, as upstream counts, though it may still be ending here. */
  get isActive(): boolean {
    return this.#isAdmitted && this.#isAlive;
  }

  /** It takes a part of the node, or a kubelet before this one let it have one. */
  get isTaking(): boolean {
    return this.#isAlive && (this.#isAdmitted || this.#pod.status?.startTime !== undefined);
  }

  /** Somebody has to say whether it may have what it asks for now. */
  get isResizeUndecided(): boolean {
    return this.isActive && this.#pod.metadata.deletionTimestamp === undefined && this.#resize.isUndecided(this.#pod);
  }

  /** Since when it waits for room to be resized; undefined: it does not. */
  get resizePendingSinceMs(): number | undefined {
    return this.#resize.pendingSinceMs;
  }

  /** The Pod is in the API, and nobody has deleted it. */
  get #isWantedByApi(): boolean {
    return !this.#isGone && this.#pod.metadata.deletionTimestamp === undefined;
  }

  get #isAlive(): boolean {
    return !this.#isGone && !isTerminal(this.#pod);
  }

  // ── what has it look ──────────────────────────────────────────────────────────────────────────────

  update(pod: Pod): void {
    const before = this.#pod;
    if (!this.#isNewer(pod)) return;
    this.#pod = pod;
    if (pod !== before && !isDescribedAs(pod, before)) {
      this.#options.runtime.update?.(pod);
      this.retry();
    }
    if (pod.metadata.generation !== before.metadata.generation) this.retry();
    if (pod !== before && isSameFor(pod, before) && (this.#reports.isOwn(pod) || deepEqual(pod.status, before.status))) return;
    this.#hurry(before);
    this.#figures.changed();
    this.wake();
  }

  /** It has left the API, and this is the last of it. */
  gone(pod: Pod): void {
    const before = this.#pod;
    this.#pod = pod;
    this.#isGone = true;
    this.#hurry(before);
    this.wake();
  }

  /** What the Pod says of itself or refers to has changed: what could not be made of it is tried at once. */
  retry(): void {
    this.#memory.changed();
    if (!this.#memory.isReleased) this.#options.machine?.update(this.allocated);
    this.wake();
  }

  /** It may have what it asks for now, or why it may not. */
  decideResize(refusal: AdmissionRefusal | undefined): void {
    const before = this.allocated;
    if (!this.#resize.decide(this.#pod, refusal)) return;
    // What it was allocated it may show of itself in volumes.
    if (this.allocated === before) this.wake();
    else this.retry();
  }

  wake(): void {
    this.#isWanted = true;
    this.#goOn?.();
    if (!this.#isWorking && !this.#isStopped) void this.#work();
  }

  /** While it waits for containers to end, others want to know that they are not ready any more. */
  #probesChanged(): void {
    this.wake();
    if (this.#isPerforming && this.#pod.metadata.deletionTimestamp !== undefined) this.#beginTelling();
  }

  /** Nothing more is done; what runs goes on running. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.abort(IN_TIME);
    this.#acts.stop();
    this.#prober?.stop();
    this.#goOn?.();
  }

  /** Of one that was stopped: whoever waits for its containers to end waits for so long only. Resolves when nothing more is begun here. */
  settled(graceMs: number): Promise<void> {
    this.#acts.hasten(graceMs);
    return this.#acts.settled();
  }

  /** The source may be behind what was answered here. */
  #isNewer({ metadata }: Pod): boolean {
    return compareResourceVersions(metadata.resourceVersion ?? "0", this.#pod.metadata.resourceVersion ?? "0") >= 0;
  }

  /** It is to end, or to end sooner than before. */
  #hurry(before: Pod): void {
    const isDeleted = this.#pod.metadata.deletionTimestamp !== undefined;
    const graceMs = stopGraceMs(this.#pod);
    if (isDeleted && graceMs < stopGraceMs(before)) this.#acts.hasten(graceMs);
  }

  // ── looking ───────────────────────────────────────────────────────────────────────────────────────

  async #work(): Promise<void> {
    this.#isWorking = true;
    // Whoever told of the change goes on first.
    await Promise.resolve();
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      const looked = this.#figures.look(this.#pod, this.#isGone);
      try {
        await this.#look();
        this.#failures = 0;
      } catch (error) {
        if (!this.#isStopped) this.#failed(error);
      }
      looked();
    }
    this.#isWorking = false;
  }

  #failed(error: unknown): void {
    const { log, clock } = this.#options;
    const { namespace, name } = this.#pod.metadata;
    // Somebody wrote in between: what is new comes by itself, or is here already.
    if (isReason(error, "Conflict")) log.debug("A Pod was changed while it was looked at", { pod: `${namespace}/${name}` });
    else log.warn("Cannot see to a Pod", { pod: `${namespace}/${name}`, error });
    this.#lookAgain(clock.now() + exponentialDelayMs(AGAIN, this.#failures++));
  }

  async #look(): Promise<void> {
    const { runtime } = this.#options;
    for (let plans = 0; plans < PLANS_MAX; plans++) {
      const wasStarting = new Set(this.#memory.starting);
      const sandbox = this.#probed(await runtime.status(this.#uid));
      if (this.#isStopped) return;
      if (await this.#isRefused(sandbox)) return;
      const plan = this.#plan(sandbox, wasStarting);
      if (plan.isEnding) this.#endStarts();
      this.#tellWaiting(plan);
      if (plan.actions.length === 0) return this.#end(plan, sandbox);
      await this.#perform(plan, sandbox);
      if (this.#isStopped) return;
    }
    throw new Error(`Cannot bring the Pod to a rest: after ${PLANS_MAX} plans there is still something to do`);
  }

  /** With what probes have found out. */
  #probed(sandbox: SandboxStatus | undefined): SandboxStatus | undefined {
    if (this.#prober === undefined || this.#isStopped) return sandbox;
    return this.#prober.observe({ pod: this.allocated, sandbox, starting: this.#memory.starting });
  }

  #endStarts(): void {
    this.#acts.giveUpStarts();
    this.#prober?.end();
  }

  #plan(sandbox: SandboxStatus | undefined, wasStarting: ReadonlySet<string> = this.#memory.starting): PodPlan {
    const nowMs = this.#options.clock.now();
    const [pod, memory] = [this.allocated, this.#memory];
    if (!this.#isRecalled) {
      const { updateContainer, recover } = this.#options.runtime;
      recall(memory, { pod, sandbox, nowMs, isResizable: updateContainer !== undefined, isSimulated: recover !== undefined });
    }
    this.#isRecalled = true;
    const unhealthy = this.#prober?.unhealthy;
    return planPod({ pod, isGone: this.#isGone, sandbox, memory, unhealthy, isResumed: this.#isResumed, wasStarting, nowMs });
  }

  async #isRefused(sandbox: SandboxStatus | undefined): Promise<boolean> {
    const { recorder, clock, admit, onAdmitted } = this.#options;
    const pod = this.#pod;
    if (this.#isAdmitted || this.#isGone || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod)) return false;
    this.#resize.begin(pod);
    const refusal = sandbox === undefined ? admit(this.allocated) : undefined;
    this.#isAdmitted = refusal === undefined;
    if (refusal === undefined) {
      onAdmitted();
      return false;
    }
    await this.#write(refusedStatus(pod, refusal, clock.now()));
    recorder.record(pod, { type: "Warning", ...refusal });
    return true;
  }

  /** Nothing is to be done now. */
  async #end(plan: PodPlan, sandbox: SandboxStatus | undefined): Promise<void> {
    this.#lookAgain(plan.lookAgainAtMs);
    if (this.#isGone) return this.#done();
    await this.#tell(plan, sandbox);
    if (plan.isOver) await this.#acts.release(this.#uid);
    if (plan.isOver && this.#pod.metadata.deletionTimestamp !== undefined) await this.#reports.remove(this.#pod);
  }

  async #done(): Promise<void> {
    await this.#acts.release(this.#uid);
    this.stop();
    this.#options.onDone();
  }

  async #perform(plan: PodPlan, sandbox: SandboxStatus | undefined): Promise<void> {
    const { actions } = plan;
    this.#isPerforming = true;
    // What has ended, and that a deadline has passed, is reported before the rest is stopped, which may take the whole grace period.
    if (plan.isEnding && this.#isWantedByApi && actions.some((action) => action.do === "stop-containers"))
      this.#beginTelling({ plan, sandbox });
    // What outlived its place may take its time to end, and the place is not ready meanwhile.
    if (sandbox?.state === "not-ready" && hasRunning(sandbox)) this.#beginTelling();
    // A resize that never comes to its end is to be seen.
    if (this.#resize.isInProgress) this.#beginTelling();
    const slow = await this.#acts.perform(this.allocated, actions, sandbox).finally(() => (this.#isPerforming = false));
    await this.#meanwhile;
    if (slow.length > 0 && !this.#isWanted && !this.#isStopped) await this.#pause(slow);
  }

  /** Until what is slow is done, somebody wants it to look, or people want to know. */
  async #pause(slow: readonly Promise<void>[]): Promise<void> {
    const over = new AbortController();
    const wanted = new Promise<void>((resolve) => (this.#goOn = resolve));
    const isLong = this.#options.clock.sleep(TELL_AFTER_MS, over.signal).catch(() => undefined);
    await Promise.race([Promise.all(slow), wanted, isLong]);
    over.abort(IN_TIME);
    this.#goOn = undefined;
  }

  /** Once for each time that one begins to wait. */
  #tellWaiting({ waiting }: PodPlan): void {
    for (const [name, { reason }] of waiting)
      if (this.#toldWaiting.get(name)?.reason !== reason) tellBackOff(this.#options.recorder, this.#pod, name, reason);
    this.#toldWaiting = waiting;
  }

  /** Only the latest counts: each plan says anew when to look. */
  #lookAgain(atMs: number | undefined): void {
    const { clock } = this.#options;
    this.#timer?.abort(IN_TIME);
    this.#timer = undefined;
    if (atMs === undefined || this.#isStopped) return;
    const timer = new AbortController();
    this.#timer = timer;
    clock.sleep(Math.max(0, atMs - clock.now()), timer.signal).then(
      () => this.wake(),
      () => undefined,
    );
  }

  // ── telling the API ───────────────────────────────────────────────────────────────────────────────

  async #tell({ waiting, isOver, isPastDeadline }: PodPlan, sandbox: SandboxStatus | undefined): Promise<void> {
    const { runtime, hostIps, clock } = this.#options;
    const pod = this.allocated;
    // Ended before this kubelet had anything to do with it: others said how.
    if (isTerminal(pod) && sandbox === undefined) return;
    const runtimeName = runtime.version.slice(0, runtime.version.indexOf("://"));
    const { granted } = this.#memory;
    this.#resize.observe(pod, { isUnderWay: isResizing(pod, sandbox, this.#memory) });
    const { conditions: resizes } = this.#resize;
    const seen = { pod, sandbox, waiting, granted, resizes, isOver, isPastDeadline };
    const status = podStatusOf({ ...seen, runtimeName, hostIps, nowMs: clock.now() });
    if (isPastDeadline && !isTerminal(pod)) this.#recordDeadline();
    await this.#write(status);
    this.#figures.told(status);
  }

  /** Once, when it is detected. */
  #recordDeadline(): void {
    if (this.#isDeadlineRecorded) return;
    this.#isDeadlineRecorded = true;
    this.#options.recorder.record(this.#pod, { type: "Normal", ...DEADLINE });
  }

  /** `seen`: what is reported. Absent: what there is by then. */
  #beginTelling(seen?: Seen): void {
    this.#meanwhile ??= this.#tellMeanwhile(seen).finally(() => (this.#meanwhile = undefined));
  }

  /** Never rejects: what cannot be told now is told when all is done. */
  async #tellMeanwhile(seen?: Seen): Promise<void> {
    const { log } = this.#options;
    try {
      const { plan, sandbox } = seen ?? (await this.#see());
      if (this.#isPerforming && !this.#isStopped) await this.#tell(plan, sandbox);
    } catch (error) {
      log.debug("Cannot tell how a Pod is while something is done for it", { error });
    }
  }

  async #see(): Promise<Seen> {
    const sandbox = this.#probed(await this.#options.runtime.status(this.#uid));
    return { plan: this.#plan(sandbox), sandbox };
  }

  /** What the API does not let be said now holds up nothing that is to be done, least of all the end of the Pod. */
  async #write(status: PodStatus): Promise<void> {
    try {
      const answer = await this.#reports.write(this.#pod, status);
      if (answer !== undefined && this.#isNewer(answer)) this.#pod = answer;
    } catch (error) {
      if (!isReason(error, "Invalid")) throw error;
      const { namespace, name } = this.#pod.metadata;
      this.#options.log.warn("The API refuses the status of a Pod", { pod: `${namespace}/${name}`, error });
    }
  }
}

interface Seen {
  readonly plan: PodPlan;
  readonly sandbox: SandboxStatus | undefined;
}

function isDescribedAs({ metadata: a }: Pod, { metadata: b }: Pod): boolean {
  return deepEqual(a.annotations, b.annotations) && deepEqual(a.labels, b.labels);
}

/** For what a kubelet does with it: its specification, and whether and how soon it is to end. */
function isSameFor(a: Pod, b: Pod): boolean {
  return (
    a.metadata.generation === b.metadata.generation &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    a.metadata.deletionGracePeriodSeconds === b.metadata.deletionGracePeriodSeconds
  );
}
