/** What is counted of the worker of one Pod: how long looking at it takes, by why it is looked at, and how long it took until it ran. */
import type { Pod } from "../api/generated/core/v1.ts";
import type { Clock } from "../base/clock.ts";
import type { KubeletMetrics, LookReason } from "./kubelet-metrics.ts";

export class PodWorkerFigures {
  readonly #metrics: KubeletMetrics | undefined;
  readonly #clock: Clock;
  /** When this kubelet first saw it. Undefined once it was seen to run, and of one that ran before. */
  #waitsSinceMs: number | undefined;
  #reason: LookReason = "create";

  constructor({ status }: Pod, { metrics, clock }: { readonly metrics?: KubeletMetrics | undefined; readonly clock: Clock }) {
    this.#metrics = metrics;
    this.#clock = clock;
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

  /** The API was told of this phase. */
  told(phase: string | undefined): void {
    if (phase !== "Running" || this.#waitsSinceMs === undefined) return;
    this.#metrics?.podStarted(this.#clock.monotonic() - this.#waitsSinceMs);
    this.#waitsSinceMs = undefined;
  }
}
