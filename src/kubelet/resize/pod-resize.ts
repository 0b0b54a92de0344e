/**
 * The resize of one Pod: its allocated resources, whether a request is deferred (PodResizePending), and whether an allocation is not in
 * effect yet (PodResizeInProgress), with upstream's conditions and events. A resize that does not fit is Deferred and changes nothing. No
 * resize is Infeasible here: the API server rejects what the node could never have (admission plugin PodResizeValidator), and the features
 * that upstream's kubelet rejects for (swap, exclusive CPUs and memory) do not exist on k8ts nodes. Not here: whether it fits
 * (admit-pod.ts), the order of resizes (resize-order.ts), applying them (start-containers.ts).
 */
import type { Pod, PodCondition } from "../../api/generated/core/v1.ts";
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { Clock } from "../../base/clock.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { AdmissionRefusal } from "../pod/admit-pod.ts";
import { allocationOf, restoredAllocation, withAllocation, type Allocation } from "./allocation.ts";
import { RESIZE_IN_PROGRESS, RESIZE_PENDING } from "../pod/status/pod-conditions.ts";
import type { PodWorkerMemory } from "../pod/pod-state.ts";
import { resizeSummary } from "./resize-summary.ts";

export interface PodResizeOptions {
  readonly memory: PodWorkerMemory;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
}

export class PodResize {
  readonly #options: PodResizeOptions;
  #allocation: Allocation;
  #pending: PodCondition | undefined;
  #inProgress: PodCondition | undefined;
  /** Cached: read many times between two changes. */
  #answered: { readonly pod: Pod; readonly allocated: Pod } | undefined;

  constructor(pod: Pod, options: PodResizeOptions) {
    this.#options = options;
    this.#allocation = restoredAllocation(pod);
    this.#pending = findCondition(pod.status?.conditions, RESIZE_PENDING);
    this.#inProgress = findCondition(pod.status?.conditions, RESIZE_IN_PROGRESS);
  }

  /** The Pod with allocated resources in place of requested ones. */
  allocated(pod: Pod): Pod {
    if (this.#answered?.pod !== pod) this.#answered = { pod, allocated: withAllocation(pod, this.#allocation) };
    return this.#answered.allocated;
  }

  /** True if the node has to decide: the requests differ from the allocation, or the reported condition is outdated. */
  isUndecided(pod: Pod): boolean {
    return this.allocated(pod) !== pod || this.#pending !== undefined;
  }

  get isInProgress(): boolean {
    return this.#inProgress !== undefined;
  }

  get pendingSinceMs(): number | undefined {
    return timestampMs(this.#pending?.lastTransitionTime);
  }

  /** In upstream's order. */
  get conditions(): readonly PodCondition[] {
    return [this.#pending, this.#inProgress].filter((condition) => condition !== undefined);
  }

  /** Called before admission. The current requests count, unless the Pod ran here before. */
  begin(pod: Pod): void {
    if (pod.status?.startTime === undefined) this.#allocate(pod);
  }

  /** Accepts the resize (undefined), or defers it with a reason. Returns whether anything changed. */
  decide(pod: Pod, refusal: AdmissionRefusal | undefined): boolean {
    const before = this.#pending;
    if (this.allocated(pod) === pod || refusal === undefined) {
      this.#pending = undefined;
      if (this.allocated(pod) !== pod) this.#start(pod);
      else if (before === undefined) return false;
      return true;
    }
    const { generation } = pod.metadata;
    this.#pending = this.#condition(RESIZE_PENDING, before, { reason: "Deferred", message: refusal.message, generation });
    if (before?.reason !== this.#pending.reason || before?.observedGeneration !== generation) {
      const message = `Pod resize ${refusal.reason}: ${resizeSummary(pod, generation, refusal.message)}`;
      this.#options.recorder.record(pod, { type: "Warning", reason: "ResizeDeferred", message });
    }
    return this.#pending !== before;
  }

  /** `pod`: with allocated resources. Updates whether the allocation is in effect in all running containers. */
  observe(pod: Pod, { isUnderWay }: { readonly isUnderWay: boolean }): void {
    const { memory, recorder } = this.#options;
    const before = this.#inProgress;
    const generation = before === undefined ? pod.metadata.generation : before.observedGeneration;
    if (!isUnderWay) {
      this.#inProgress = undefined;
      if (before === undefined) return;
      const message = `Pod resize completed: ${resizeSummary(pod, generation)}`;
      return recorder.record(pod, { type: "Normal", reason: "ResizeCompleted", message });
    }
    const { resizeError } = memory;
    // An error is reported until the resize succeeds, not only until the next attempt.
    const words = resizeError === undefined ? before : { reason: "Error", message: resizeError };
    const { reason, message } = words ?? {};
    this.#inProgress = this.#condition(RESIZE_IN_PROGRESS, before, { reason, message, generation });
    if (this.#inProgress === before || resizeError === undefined) return;
    const text = `Pod resize error: ${resizeSummary(pod, generation, resizeError)}`;
    recorder.record(pod, { type: "Warning", reason: "ResizeError", message: text });
  }

  #start(pod: Pod): void {
    const { memory, recorder } = this.#options;
    const { generation } = pod.metadata;
    this.#allocate(pod);
    memory.resizeBegins();
    this.#inProgress = this.#condition(RESIZE_IN_PROGRESS, undefined, { generation });
    recorder.record(pod, { type: "Normal", reason: "ResizeStarted", message: `Pod resize started: ${resizeSummary(pod, generation)}` });
  }

  #allocate(pod: Pod): void {
    this.#allocation = allocationOf(pod);
    this.#answered = undefined;
  }

  /** Returns the previous condition if it is equal. The time changes only with the reason. */
  #condition(type: string, before: PodCondition | undefined, { reason, message, generation }: Saying): PodCondition {
    const isSame = before?.reason === reason && before?.message === message && before?.observedGeneration === generation;
    if (before !== undefined && isSame) return before;
    const now = formatTime(this.#options.clock.now());
    return {
      type,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      status: "True",
      lastProbeTime: now,
      lastTransitionTime: before !== undefined && before.reason === reason ? (before.lastTransitionTime ?? now) : now,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    };
  }
}

interface Saying {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly generation?: number | undefined;
}
