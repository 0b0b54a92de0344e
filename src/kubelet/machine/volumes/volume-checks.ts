/**
 * Checks mounted volumes periodically, because a node may read their claims and CSIDrivers but not watch them: an enlarged claim is grown,
 * and a volume that no controller has to attach any more leaves the volumes in use. The timer runs only while there is something to check.
 * Not here: what growing does (volume-expansion.ts), and what an attachment means (volume-set-up.ts).
 */
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";

/**
 * Upstream notices an enlarged claim with the next sync of its Pod, within 60 to 90 s. A CSIDriver it watches; here each check reads the
 * CSIDriver of every attached volume, so that more frequent checks would load the API server.
 */
const INTERVAL_MS = 20_000;

export interface VolumeChecksOptions {
  readonly clock: Clock;
  /** Whether there is anything to check. */
  isNeeded(): boolean;
  /** Never rejects. */
  check(signal: AbortSignal): Promise<void>;
}

export class VolumeChecks implements AsyncDisposable {
  readonly #options: VolumeChecksOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: VolumeChecksOptions) {
    this.#options = options;
  }

  /** Something was mounted that may have to be checked. */
  want(): void {
    if (this.#stop.signal.aborted) return;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(NOT_NEEDED);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, isNeeded, check } = this.#options;
    const { signal } = this.#stop;
    while (isNeeded() && !signal.aborted) {
      await clock.sleep(INTERVAL_MS, signal).catch(() => undefined); // Stopped.
      if (!signal.aborted) await check(signal);
    }
  }
}
