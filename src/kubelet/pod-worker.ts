/**
 * Sees to one Pod: looks at what is wanted and what there is, does what the plan says, and tells the API what it saw. Whatever happens
 * (the Pod changes, a container ends, a time comes) only has it look again, so nothing is lost by a change in between, and there is at
 * most one write of a Pod's status under way. What is done quickly is told once, when it is done: most Pods run after one write. What
 * takes its time (an image, a start) holds up nothing else of the Pod.
 */
import type { Pod, PodStatus } from "../api/generated/core/v1.ts";
import { pods } from "../api/core/v1/pod.ts";
import { isTerminal } from "../api/core/v1/pod/readiness.ts";
import { compareResourceVersions } from "../api/machinery/resource-version.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import { deepEqual } from "../base/deep.ts";
import type { Logger } from "../base/logger.ts";
import type { Client } from "../client/client.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import type { AdmissionRefusal } from "./admit-pod.ts";
import { stopGraceMs } from "./plan-end.ts";
import { PodActs } from "./pod-acts.ts";
import { OwnMemory } from "./pod-memory.ts";
import { planPod, type PodPlan } from "./pod-plan.ts";
import { recall, toldWaiting } from "./recall.ts";
import { podStatusOf, refusedStatus } from "./pod-status.ts";
import type { Runtime, SandboxStatus } from "./runtime.ts";

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
  readonly recorder: EventRecorder;
  readonly hostIps: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Why the node does not take it; undefined if it does. */
  admit(pod: Pod): AdmissionRefusal | undefined;
  onImage(): void;
  /** All traces are gone. */
  onDone(): void;
}

export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #acts: PodActs;
  readonly #memory = new OwnMemory();
  readonly #uid: string;
  #pod: Pod;
  #isGone: boolean;
  #isAdmitted = false;
  #isWanted = false;
  #isWorking = false;
  #isStopped = false;
  #isDeletionAsked = false;
  /** What was last written, and what the server made of it. */
  #sent: PodStatus | undefined;
  #answered: PodStatus | undefined;
  /** Containers of which it was told that they wait, and why. */
  #toldWaiting: ReadonlyMap<string, { readonly reason: string }>;
  #failures = 0;
  #timer: AbortController | undefined;
  /** Ends a pause in which it is seen whether starts are quick. */
  #goOn: (() => void) | undefined;
  /** Whether it was being deleted before this worker came, and whether what went before is known. */
  readonly #isResumed: boolean;
  #isRecalled = false;

  /** `isGone`: the runtime has something of it, the API has not. */
  constructor(pod: Pod, { isGone }: { readonly isGone: boolean }, options: PodWorkerOptions) {
    this.#pod = pod;
    this.#isGone = isGone;
    this.#uid = pod.metadata.uid ?? "";
    this.#options = options;
    this.#isResumed = pod.metadata.deletionTimestamp !== undefined;
    this.#toldWaiting = toldWaiting(pod);
    this.#acts = new PodActs({ ...options, memory: this.#memory, onStart: () => this.wake() });
  }

  /** The newest that is known. */
  get pod(): Pod {
    return this.#pod;
  }

  /** It takes a part of the node. One that is gone from the API takes none, as upstream counts, though it may still be ending here. */
  get isActive(): boolean {
    return this.#isAdmitted && !this.#isGone && !isTerminal(this.#pod);
  }

  // ── what has it look ──────────────────────────────────────────────────────────────────────────────

  update(pod: Pod): void {
    const before = this.#pod;
    if (!this.#isNewer(pod)) return;
    this.#pod = pod;
    if (pod !== before && !isDescribedAs(pod, before)) {
      this.#options.runtime.update?.(pod);
      this.wake();
    }
    if (pod !== before && isSameFor(pod, before) && (this.#isOwnStatus(pod) || deepEqual(pod.status, before.status))) return;
    this.#hurry(before);
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

  wake(): void {
    this.#isWanted = true;
    this.#goOn?.();
    if (!this.#isWorking && !this.#isStopped) void this.#work();
  }

  /** Nothing more is done; what runs goes on running. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.abort(IN_TIME);
    this.#acts.forgetStarts();
    this.#goOn?.();
  }

  /** The source may be behind what was answered here. */
  #isNewer({ metadata }: Pod): boolean {
    return compareResourceVersions(metadata.resourceVersion ?? "0", this.#pod.metadata.resourceVersion ?? "0") >= 0;
  }

  /** The echo of a write of this worker's: nothing to look at. In one process it comes before the answer. */
  #isOwnStatus({ status }: Pod): boolean {
    return this.#sent !== undefined && deepEqual(status, this.#sent);
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
      try {
        await this.#look();
        this.#failures = 0;
      } catch (error) {
        if (!this.#isStopped) this.#failed(error);
      }
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
      const sandbox = await runtime.status(this.#uid);
      if (this.#isStopped) return;
      if (await this.#isRefused(sandbox)) return;
      const plan = this.#plan(sandbox);
      if (plan.isEnding) this.#acts.giveUpStarts();
      this.#tellWaiting(plan);
      if (plan.actions.length === 0) return this.#end(plan, sandbox);
      await this.#perform(plan, sandbox);
      if (this.#isStopped) return;
    }
    throw new Error(`Cannot bring the Pod to a rest: after ${PLANS_MAX} plans there is still something to do`);
  }

  #plan(sandbox: SandboxStatus | undefined): PodPlan {
    const nowMs = this.#options.clock.now();
    const [pod, memory] = [this.#pod, this.#memory];
    if (!this.#isRecalled) recall(memory, { pod, sandbox, nowMs });
    this.#isRecalled = true;
    return planPod({ pod, isGone: this.#isGone, sandbox, memory, isResumed: this.#isResumed, nowMs });
  }

  async #isRefused(sandbox: SandboxStatus | undefined): Promise<boolean> {
    const { recorder, clock, admit } = this.#options;
    const pod = this.#pod;
    if (this.#isAdmitted || this.#isGone || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod)) return false;
    const refusal = sandbox === undefined ? admit(pod) : undefined;
    this.#isAdmitted = refusal === undefined;
    if (refusal === undefined) return false;
    await this.#write(refusedStatus(pod, refusal, clock.now()));
    recorder.record(pod, { type: "Warning", ...refusal });
    return true;
  }

  /** Nothing is to be done now. */
  async #end(plan: PodPlan, sandbox: SandboxStatus | undefined): Promise<void> {
    this.#lookAgain(plan.lookAgainAtMs);
    if (this.#isGone) return this.#done();
    await this.#tell(plan, sandbox);
    if (plan.isOver && this.#pod.metadata.deletionTimestamp !== undefined) await this.#removeFromApi();
  }

  #done(): void {
    this.stop();
    this.#options.onDone();
  }

  async #perform({ actions }: PodPlan, sandbox: SandboxStatus | undefined): Promise<void> {
    const slow = await this.#acts.perform(this.#pod, actions, sandbox);
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
      if (this.#toldWaiting.get(name)?.reason !== reason) this.#acts.tellBackOff(this.#pod, name, reason);
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
    const { runtime, hostIps, clock, recorder } = this.#options;
    const pod = this.#pod;
    // Ended before this kubelet had anything to do with it: others said how.
    if (isTerminal(pod) && sandbox === undefined) return;
    const runtimeName = runtime.version.slice(0, runtime.version.indexOf("://"));
    const status = podStatusOf({ pod, sandbox, waiting, runtimeName, hostIps, isOver, isPastDeadline, nowMs: clock.now() });
    if (status.reason === "DeadlineExceeded" && pod.status?.reason !== status.reason) {
      recorder.record(pod, { type: "Normal", reason: status.reason, message: status.message ?? "" });
    }
    await this.#write(status);
  }

  /** Only if it differs. What the server makes of it may differ from what was sent, and then stays as it is. */
  async #write(status: PodStatus): Promise<void> {
    const pod = this.#pod;
    if (deepEqual(pod.status, status)) return;
    if (deepEqual(this.#sent, status) && deepEqual(this.#answered, pod.status)) return;
    this.#sent = status;
    try {
      const answer = await this.#options.client.updateStatus(pods, { ...pod, status });
      this.#answered = answer.status;
      if (this.#isNewer(answer)) this.#pod = answer;
    } catch (error) {
      this.#sent = undefined;
      // It has gone, which the source tells soon.
      if (!isReason(error, "NotFound")) throw error;
    }
  }

  /** Asked once: whatever holds it then (finalizers) is no business of a node's. */
  async #removeFromApi(): Promise<void> {
    if (this.#isDeletionAsked) return;
    const { namespace, name, uid = "" } = this.#pod.metadata;
    this.#isDeletionAsked = true;
    try {
      await this.#options.client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // Gone, or another one of the same name.
      if (isReason(error, "NotFound") || isReason(error, "Conflict")) return;
      this.#isDeletionAsked = false;
      throw error;
    }
  }
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
