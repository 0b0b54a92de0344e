/**
 * Reconciles one Pod: observes what the API wants and what the runtime has, performs the actions of the plan, and reports the status.
 * Events (the Pod changed, a container exited, a timer fired) only trigger another pass, so none is lost when they coincide, and at most
 * one status write of a Pod is in flight. Quick actions are reported once, after they completed: most Pods run after one write. Slow ones
 * (an image pull, a start) do not block the rest of the Pod. Its state and transitions are in pod-worker-state.ts.
 */
import type { Container, Pod, PodStatus } from "../../api/generated/core/v1.ts";
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
import { stopGraceMs } from "../shared/grace-period.ts";
import { PodActions } from "./pod-actions.ts";
import type { PodEviction, PodMachine } from "../contracts/pod-machine.ts";
import { PodWorkerMemory } from "./pod-state.ts";
import {
  initialState,
  isAdmitted,
  isDesired,
  isDirty,
  isInApi,
  transition,
  type PodWorkerEvent,
  type PodWorkerState,
} from "./pod-worker-state.ts";
import { isResizing } from "./plan/plan-resize.ts";
import { planPod } from "./plan/pod-plan.ts";
import type { PodPlan } from "./plan/plan-contract.ts";
import { PodResize } from "../resize/pod-resize.ts";
import { EVICTED, podStatusOf, refusedStatus } from "./status/pod-status.ts";
import { StatusWriter } from "./status/status-writer.ts";
import { PodWorkerMetrics } from "./pod-worker-metrics.ts";
import { PodProber } from "../probes/pod-prober.ts";
import { reportedWaiting, restoreState } from "./restore-state.ts";
import type { PullProgress, Runtime, SandboxStatus } from "../contracts/runtime.ts";
import { hasRunning } from "./containers/runtime-containers.ts";
import { ReportedEvents } from "./pod-events.ts";

/** Slower work is reported while it is in progress, so that users see that an image is being pulled. */
const REPORT_AFTER_MS = 100;
/** Maximum plans per pass: a Pod that needs more does not converge, and is retried with backoff. */
const PLANS_MAX = 100;
/** Backoff after failures of the API server or of the runtime. The maximum is upstream's. */
const RETRY_DELAY = { minMs: 1_000, maxMs: 10_000 };

/** Shared instance: allocating an Error per cancelled timer is costly. */
const TIMER_CANCELLED = new Error("The timer is no longer needed");

export interface PodWorkerOptions {
  readonly client: Client;
  readonly runtime: Runtime;
  /** Absent on simulated nodes. */
  readonly machine?: PodMachine | undefined;
  readonly recorder: EventRecorder;
  readonly hostIps: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Start time of the kubelet. */
  readonly startedAtMs: number;
  /** Absent: no metrics are collected. */
  readonly metrics?: KubeletMetrics | undefined;
  /** Why the node rejects the Pod; undefined if it admits it. */
  admit(pod: Pod): AdmissionRefusal | undefined;
  /** Called after the Pod was admitted. */
  onAdmitted(): void;
  onImage(): void;
  onPull?(image: string, done: PullProgress): void;
  /** Called when the Pod has left the API and nothing of it is left on the node. */
  onRemoved(): void;
}

export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #actions: PodActions;
  readonly #memory: PodWorkerMemory;
  readonly #status: StatusWriter;
  readonly #resize: PodResize;
  /** Undefined if the runtime probes containers itself. */
  readonly #prober: PodProber | undefined;
  readonly #uid: string;
  readonly #events: ReportedEvents;
  readonly #metrics: PodWorkerMetrics;
  /** An earlier kubelet process began the termination. */
  readonly #isTerminationResumed: boolean;
  #state: PodWorkerState;
  #pod: Pod;
  /** A status write that is in flight while actions are performed. */
  #statusWrite: Promise<void> | undefined;
  #failures = 0;
  #timer: AbortController | undefined;
  /** Ends the wait for slow actions. */
  #endWait: (() => void) | undefined;

  /** `isInApi`: false for a Pod that the runtime holds and the API server does not have. */
  constructor(pod: Pod, { isInApi }: { readonly isInApi: boolean }, options: PodWorkerOptions) {
    const isDeleting = pod.metadata.deletionTimestamp !== undefined;
    this.#pod = pod;
    this.#state = initialState({ isInApi, isDeleting });
    this.#uid = pod.metadata.uid ?? "";
    this.#options = options;
    this.#isTerminationResumed = isDeleting;
    this.#events = new ReportedEvents(options.recorder, reportedWaiting(pod));
    this.#metrics = new PodWorkerMetrics(pod, options);
    this.#status = new StatusWriter(options.client);
    this.#memory = new PodWorkerMemory({ needsMachine: options.machine !== undefined });
    this.#resize = new PodResize(pod, { ...options, memory: this.#memory });
    const wake = (): void => this.wake();
    this.#actions = new PodActions({ ...options, memory: this.#memory, onCompleted: wake, isDesired: () => isDesired(this.#state) });
    if (options.runtime.probes === "kubelet" && isInApi)
      this.#prober = new PodProber(pod, {
        ...options,
        actions: options.machine?.probes,
        metrics: options.metrics?.probes,
        onChange: () => this.#probesChanged(),
      });
  }

  /** The newest known version. */
  get pod(): Pod {
    return this.#pod;
  }

  /** The Pod with its allocated resources, which all actions use. */
  get allocated(): Pod {
    return this.#resize.allocated(this.#pod);
  }

  /** True while the Pod counts against the node's resources. As upstream, a Pod that has left the API does not, even if it still runs. */
  get isActive(): boolean {
    return isAdmitted(this.#state) && !isTerminal(this.#pod);
  }

  /** True if the Pod counts against the node's resources, or was admitted by an earlier kubelet process. */
  get holdsResources(): boolean {
    return this.isActive || (isInApi(this.#state) && !isTerminal(this.#pod) && this.#pod.status?.startTime !== undefined);
  }

  /** True while the node has to accept, defer or reject a requested resize. */
  get isResizeUndecided(): boolean {
    return this.isActive && isDesired(this.#state) && this.#resize.isUndecided(this.#pod);
  }

  /** Since when a deferred resize waits for free resources; undefined if none does. */
  get resizePendingSinceMs(): number | undefined {
    return this.#resize.pendingSinceMs;
  }

  get #isStopped(): boolean {
    return this.#state.sync.is === "stopped";
  }

  // ── events ────────────────────────────────────────────────────────────────────────────────────────

  update(pod: Pod): void {
    const before = this.#pod;
    if (!this.#isNewer(pod)) return;
    this.#replacePod(pod);
    if (pod !== before && !hasSameMetadata(pod, before)) {
      this.#options.runtime.update?.(pod);
      this.retry();
    }
    if (pod.metadata.generation !== before.metadata.generation) this.retry();
    if (pod !== before && isSameTask(pod, before) && (this.#status.isOwn(pod) || deepEqual(pod.status, before.status))) return;
    this.#shortenGracePeriod(before);
    this.#metrics.changed();
    this.wake();
  }

  /** The Pod was deleted from the API; `pod` is its last version. */
  deleted(pod: Pod): void {
    const before = this.#pod;
    this.#replacePod(pod);
    this.#transition("deleted");
    this.#shortenGracePeriod(before);
    this.wake();
  }

  /** The Pod's metadata or an object that it refers to changed: failed preparations are retried without backoff. */
  retry(): void {
    this.#memory.changed();
    if (!this.#memory.isReleased) this.#options.machine?.update(this.allocated);
    this.wake();
  }

  /** Accepts the requested resize, or rejects it with a reason. */
  decideResize(refusal: AdmissionRefusal | undefined): void {
    const before = this.allocated;
    if (!this.#resize.decide(this.#pod, refusal)) return;
    // Volumes may show allocated resources (downward API).
    if (this.allocated === before) this.wake();
    else this.retry();
  }

  /** Terminates the Pod at once; it stays in the API as Failed. */
  evict(eviction: Omit<PodEviction, "reason">): void {
    if (this.#memory.eviction !== undefined || !this.isActive || !isDesired(this.#state)) return;
    this.#memory.eviction = { reason: EVICTED, ...eviction };
    this.#options.recorder.record(this.#pod, { type: "Warning", reason: EVICTED, message: eviction.message });
    this.wake();
  }

  wake(): void {
    const wasIdle = this.#state.sync.is === "idle";
    this.#transition("woken");
    this.#endWait?.();
    if (wasIdle) void this.#work();
  }

  /** While containers are being stopped, their readiness is reported at once. */
  #probesChanged(): void {
    this.wake();
    if (this.#state.sync.is === "acting" && this.#pod.metadata.deletionTimestamp !== undefined) this.#reportDuringActions();
  }

  /** Begins nothing more; running containers keep running. */
  stop(): void {
    this.#transition("stopped");
    this.#timer?.abort(TIMER_CANCELLED);
    this.#actions.stop();
    this.#prober?.stop();
    this.#endWait?.();
  }

  /** After `stop`: limits the wait for terminating containers to `graceMs`. Resolves when no call to the runtime is in flight. */
  settled(graceMs: number): Promise<void> {
    this.#actions.shortenGracePeriod(graceMs);
    return this.#actions.settled();
  }

  #transition(event: PodWorkerEvent): void {
    this.#state = transition(this.#state, event);
  }

  #replacePod(pod: Pod): void {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp !== undefined) this.#transition("deletion-requested");
  }

  /** The informer may be behind the answer to our own write. */
  #isNewer({ metadata }: Pod): boolean {
    return compareResourceVersions(metadata.resourceVersion ?? "0", this.#pod.metadata.resourceVersion ?? "0") >= 0;
  }

  /** Applies a deletion, or a deletion with a shorter grace period than before, to containers that are being stopped. */
  #shortenGracePeriod(before: Pod): void {
    const isDeleting = this.#pod.metadata.deletionTimestamp !== undefined;
    const graceMs = stopGraceMs(this.#pod);
    if (isDeleting && graceMs < stopGraceMs(before)) this.#actions.shortenGracePeriod(graceMs);
  }

  // ── sync loop ─────────────────────────────────────────────────────────────────────────────────────

  async #work(): Promise<void> {
    // The caller that reported the change runs first.
    await Promise.resolve();
    while (this.#state.sync.is === "queued") {
      this.#transition("pass-started");
      const finished = this.#metrics.passStarted(this.#pod, { isInApi: isInApi(this.#state) });
      try {
        await this.#sync();
        this.#failures = 0;
      } catch (error) {
        if (!this.#isStopped) this.#failed(error);
      }
      finished();
      this.#transition("pass-finished");
    }
  }

  #failed(error: unknown): void {
    const { log, clock } = this.#options;
    const { namespace, name } = this.#pod.metadata;
    // The newer version arrives from the informer, or is here already.
    if (isReason(error, "Conflict")) log.debug("A Pod changed while it was being synced", { pod: `${namespace}/${name}` });
    else log.warn("Cannot sync a Pod; retrying with backoff", { pod: `${namespace}/${name}`, error });
    this.#syncAt(clock.now() + exponentialDelayMs(RETRY_DELAY, this.#failures++));
  }

  async #sync(): Promise<void> {
    const { runtime } = this.#options;
    for (let plans = 0; plans < PLANS_MAX; plans++) {
      const wasStarting = new Set(this.#memory.starting);
      const sandbox = this.#probed(await runtime.status(this.#uid));
      if (this.#isStopped) return;
      if (await this.#isRejected(sandbox)) return;
      const plan = this.#plan(sandbox, wasStarting);
      if (plan.isTerminating) this.#cancelStarts();
      this.#events.recordWaiting(this.#pod, plan.waiting);
      if (plan.mustReport) {
        await this.#report(plan, sandbox);
        continue;
      }
      if (plan.actions.length === 0) return this.#finish(plan, sandbox);
      await this.#perform(plan, sandbox);
      if (this.#isStopped) return;
    }
    throw new Error(`Cannot bring the Pod to its desired state: it still needs actions after ${PLANS_MAX} plans`);
  }

  /** Adds the results of probes. */
  #probed(sandbox: SandboxStatus | undefined): SandboxStatus | undefined {
    if (this.#prober === undefined || this.#isStopped) return sandbox;
    return this.#prober.observe({ pod: this.allocated, sandbox, starting: this.#memory.starting });
  }

  #cancelStarts(): void {
    this.#actions.cancelStarts();
    this.#prober?.end();
  }

  #plan(sandbox: SandboxStatus | undefined, wasStarting: ReadonlySet<string> = this.#memory.starting): PodPlan {
    const nowMs = this.#options.clock.now();
    const [pod, memory] = [this.allocated, this.#memory];
    if (!memory.isRestored) {
      const { updateContainer, recover } = this.#options.runtime;
      restoreState(memory, { pod, sandbox, nowMs, isResizable: updateContainer !== undefined, isSimulated: recover !== undefined });
    }
    const isResumed = this.#isTerminationResumed;
    const unhealthy = this.#prober?.unhealthy;
    return planPod({ pod, isOrphaned: !isInApi(this.#state), sandbox, memory, unhealthy, isResumed, wasStarting, nowMs });
  }

  async #isRejected(sandbox: SandboxStatus | undefined): Promise<boolean> {
    const { recorder, clock, admit, onAdmitted } = this.#options;
    const pod = this.#pod;
    if (this.#state.lifecycle.is !== "starting" || isTerminal(pod)) return false;
    this.#resize.begin(pod);
    const refusal = sandbox === undefined ? admit(this.allocated) : undefined;
    if (refusal === undefined) {
      this.#transition("admitted");
      onAdmitted();
      return false;
    }
    await this.#write(refusedStatus(pod, refusal, clock.now()));
    recorder.record(pod, { type: "Warning", ...refusal });
    return true;
  }

  /** The plan has no actions: reports the status and, for a terminated Pod, releases its resources. */
  async #finish(plan: PodPlan, sandbox: SandboxStatus | undefined): Promise<void> {
    this.#syncAt(plan.syncAtMs);
    if (!isInApi(this.#state)) return this.#remove();
    await this.#report(plan, sandbox);
    if (plan.isTerminated) await this.#actions.release(this.#uid);
    if (plan.isTerminated && this.#pod.metadata.deletionTimestamp !== undefined) await this.#status.remove(this.#pod);
  }

  async #remove(): Promise<void> {
    await this.#actions.release(this.#uid);
    this.#transition("cleaned-up");
    this.stop();
    this.#options.onRemoved();
  }

  async #perform(plan: PodPlan, sandbox: SandboxStatus | undefined): Promise<void> {
    const { actions } = plan;
    this.#transition("actions-started");
    // Containers that exited and an exceeded deadline are reported before the others are stopped, which may take the whole grace period.
    if (plan.isTerminating && isDesired(this.#state) && actions.some((action) => action.do === "stop-containers"))
      this.#reportDuringActions({ plan, sandbox });
    // Containers that outlived their sandbox may take a while to stop; the Pod is not ready meanwhile.
    if (sandbox?.state === "not-ready" && hasRunning(sandbox)) this.#reportDuringActions();
    // Makes a resize visible that never completes.
    if (this.#resize.isInProgress) this.#reportDuringActions();
    const slow = await this.#actions.perform(this.allocated, actions, sandbox).finally(() => this.#transition("actions-finished"));
    await this.#statusWrite;
    if (slow.length > 0 && !isDirty(this.#state) && !this.#isStopped) await this.#waitFor(slow);
  }

  /** Waits until slow actions complete, an event arrives, or the status should be reported. */
  async #waitFor(slow: readonly Promise<void>[]): Promise<void> {
    const over = new AbortController();
    const event = new Promise<void>((resolve) => (this.#endWait = resolve));
    const timeout = this.#options.clock.sleep(REPORT_AFTER_MS, over.signal).catch(() => undefined);
    await Promise.race([Promise.all(slow), event, timeout]);
    over.abort(TIMER_CANCELLED);
    this.#endWait = undefined;
  }

  /** Replaces the previous timer: each plan recomputes the time. */
  #syncAt(atMs: number | undefined): void {
    const { clock } = this.#options;
    this.#timer?.abort(TIMER_CANCELLED);
    this.#timer = undefined;
    if (atMs === undefined || this.#isStopped) return;
    const timer = new AbortController();
    this.#timer = timer;
    clock.sleep(Math.max(0, atMs - clock.now()), timer.signal).then(
      () => this.wake(),
      () => undefined,
    );
  }

  // ── status ────────────────────────────────────────────────────────────────────────────────────────

  async #report({ waiting, isTerminated, isPastDeadline }: PodPlan, sandbox: SandboxStatus | undefined): Promise<void> {
    const { runtime, machine, hostIps, clock } = this.#options;
    const pod = this.allocated;
    // Terminal before this kubelet ran it: its status was written by another component.
    if (isTerminal(pod) && sandbox === undefined) return;
    const runtimeName = runtime.version.slice(0, runtime.version.indexOf("://"));
    const { granted, grantedPod, eviction } = this.#memory;
    this.#resize.observe(pod, { isUnderWay: isResizing(pod, sandbox, this.#memory) });
    const { conditions: resizes } = this.#resize;
    const supportsRecursiveReadOnly = machine?.supportsRecursiveReadOnly(pod);
    const resized = { granted, grantedPod, resizes };
    const seen = { pod, sandbox, waiting, ...resized, isTerminated, isPastDeadline, eviction, supportsRecursiveReadOnly };
    const deviceHealth = (container: Container) => machine?.deviceHealth(pod, container) ?? [];
    const status = podStatusOf({ ...seen, deviceHealth, runtimeName, hostIps, nowMs: clock.now() });
    if (isPastDeadline && !isTerminal(pod)) this.#events.recordDeadline(this.#pod);
    await this.#write(status);
    this.#metrics.reported(status);
  }

  /** Writes the status while actions are performed. `observed`: what is reported; absent: observed again. */
  #reportDuringActions(observed?: Observation): void {
    this.#statusWrite ??= this.#tryReport(observed).finally(() => (this.#statusWrite = undefined));
  }

  /** Never rejects: the status is reported again when the actions are completed. */
  async #tryReport(observed?: Observation): Promise<void> {
    const { log } = this.#options;
    try {
      const { plan, sandbox } = observed ?? (await this.#observe());
      if (this.#state.sync.is === "acting") await this.#report(plan, sandbox);
    } catch (error) {
      log.debug("Cannot report the status of a Pod while actions are performed", { error });
    }
  }

  async #observe(): Promise<Observation> {
    const sandbox = this.#probed(await this.#options.runtime.status(this.#uid));
    return { plan: this.#plan(sandbox), sandbox };
  }

  /** An invalid status does not block actions, least of all the termination of the Pod. */
  async #write(status: PodStatus): Promise<void> {
    try {
      const answer = await this.#status.write(this.#pod, status);
      if (answer !== undefined && this.#isNewer(answer)) this.#replacePod(answer);
    } catch (error) {
      if (!isReason(error, "Invalid")) throw error;
      const { namespace, name } = this.#pod.metadata;
      this.#options.log.warn("The API server rejected the status of a Pod", { pod: `${namespace}/${name}`, error });
    }
  }
}

interface Observation {
  readonly plan: PodPlan;
  readonly sandbox: SandboxStatus | undefined;
}

function hasSameMetadata({ metadata: a }: Pod, { metadata: b }: Pod): boolean {
  return deepEqual(a.annotations, b.annotations) && deepEqual(a.labels, b.labels);
}

/** True if both versions ask the same of the kubelet: the same spec, and the same termination. */
function isSameTask(a: Pod, b: Pod): boolean {
  return (
    a.metadata.generation === b.metadata.generation &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    a.metadata.deletionGracePeriodSeconds === b.metadata.deletionGracePeriodSeconds
  );
}
