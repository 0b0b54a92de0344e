/** What is counted of the worker of one Pod: how long looking at it takes, by why it is looked at, how long it took until it ran,
 * and which of its containers have terminated. */
import type { Pod, PodStatus } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { ContainerType, KubeletMetrics, LookReason } from "../kubelet-metrics.ts";

const CONTAINER_FIELDS = [
  ["initContainerStatuses", "init_container"],
  ["containerStatuses", "container"],
  ["ephemeralContainerStatuses", "ephemeral_container"],
] as const satisfies readonly (readonly [keyof PodStatus, ContainerType])[];

export class PodWorkerFigures {
  readonly #metrics: KubeletMetrics | undefined;
  readonly #clock: Clock;
  /** When this kubelet first saw it. Undefined once it was seen to run, and of one that ran before. */
  #waitsSinceMs: number | undefined;
  #reason: LookReason = "create";
  /** What the API was last told. */
  #reported: PodStatus | undefined;

  constructor({ status }: Pod, { metrics, clock }: { readonly metrics?: KubeletMetrics | undefined; readonly clock: Clock }) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#reported = status;
    if ((status?.phase ?? "Pending") === "Pending") this.#waitsSinceMs = clock.monotonic();
  }

  /** The next look is because the Pod has changed. */
  changed(): void {
    if (this.#reason !== "create") this.#reason = "update";
  }

  /** A look begins; what this returns is called at its end. */
  look({ metadata }: Pod, isGone: boolean): () => void {
    const reason = isGone ? "terminated" : metadata.deletionTimestamp === undefined ? this.#reason : "kill";
    this.#reason = "sync";
    const beganAtMs = this.#clock.monotonic();
    return () => this.#metrics?.looked(reason, this.#clock.monotonic() - beganAtMs);
  }

  /** The API was told of this status. */
  told(status: PodStatus): void {
    this.#countTerminated(status);
    this.#startedRunning(status.phase);
  }

  /** Each container that is now reported as terminated and was not before, as upstream's status manager counts. */
  #countTerminated(status: PodStatus): void {
    const before = this.#reported;
    this.#reported = status;
    for (const [field, type] of CONTAINER_FIELDS) {
      for (const { name, state } of status[field] ?? []) {
        const wasTerminated = before?.[field]?.find((one) => one.name === name)?.state?.terminated !== undefined;
        if (state?.terminated !== undefined && !wasTerminated) this.#metrics?.containerTerminated(type, state.terminated);
      }
    }
  }

  #startedRunning(phase: string | undefined): void {
    if (phase !== "Running" || this.#waitsSinceMs === undefined) return;
    this.#metrics?.podStarted(this.#clock.monotonic() - this.#waitsSinceMs);
    this.#waitsSinceMs = undefined;
  }
}
