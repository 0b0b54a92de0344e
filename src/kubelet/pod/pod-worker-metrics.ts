/** Metrics of one Pod worker: duration of its passes by reason, time until the Pod runs, and containers that terminated. */
import type { Pod, PodStatus } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { ContainerType, KubeletMetrics, SyncReason } from "../kubelet-metrics.ts";

const CONTAINER_FIELDS = [
  ["initContainerStatuses", "init_container"],
  ["containerStatuses", "container"],
  ["ephemeralContainerStatuses", "ephemeral_container"],
] as const satisfies readonly (readonly [keyof PodStatus, ContainerType])[];

export class PodWorkerMetrics {
  readonly #metrics: KubeletMetrics | undefined;
  readonly #clock: Clock;
  /** When this kubelet first saw the Pod; undefined once it runs, or if it ran before. */
  #pendingSinceMs: number | undefined;
  #reason: SyncReason = "create";
  /** The last reported status. */
  #reported: PodStatus | undefined;

  constructor({ status }: Pod, { metrics, clock }: { readonly metrics?: KubeletMetrics | undefined; readonly clock: Clock }) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#reported = status;
    if ((status?.phase ?? "Pending") === "Pending") this.#pendingSinceMs = clock.monotonic();
  }

  /** The next pass is due to a change of the Pod. */
  changed(): void {
    if (this.#reason !== "create") this.#reason = "update";
  }

  /** A pass of the sync loop begins; the returned function is called at its end. */
  passStarted({ metadata }: Pod, { isInApi }: { readonly isInApi: boolean }): () => void {
    const reason = !isInApi ? "terminated" : metadata.deletionTimestamp === undefined ? this.#reason : "kill";
    this.#reason = "sync";
    const startedAtMs = this.#clock.monotonic();
    return () => this.#metrics?.podSynced(reason, this.#clock.monotonic() - startedAtMs);
  }

  /** This status was written to the API. */
  reported(status: PodStatus): void {
    this.#countTerminated(status);
    this.#startedRunning(status.phase);
  }

  /** Counts containers that are newly reported as terminated, as upstream's status manager does. */
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
    if (phase !== "Running" || this.#pendingSinceMs === undefined) return;
    this.#metrics?.podStarted(this.#clock.monotonic() - this.#pendingSinceMs);
    this.#pendingSinceMs = undefined;
  }
}
