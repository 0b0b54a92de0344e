/**
 * Retries to unstage volumes that no Pod uses any more, with upstream's back-off for all of them together. It runs only while there are
 * such volumes. Not here: what is recorded about them (staged-volumes.ts).
 */
import { NOT_NEEDED } from "../../../base/abort.ts";
import { exponentialDelayMs } from "../../../base/backoff.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { all } from "../../volumes/all.ts";
import type { VolumeNode } from "../../volumes/framework/volume-plugin.ts";
import type { StagedVolumes } from "./staged-volumes.ts";
import { recordedName, type TimedOperation } from "./volume-metrics.ts";

/** Upstream's values. */
const RETRY_DELAY = { minMs: 500, maxMs: 122_000 };

export interface UnstageRetriesOptions {
  readonly staged: StagedVolumes;
  readonly node: VolumeNode;
  readonly timed: TimedOperation;
  readonly clock: Clock;
  readonly log: Logger;
  /** A volume need not be reported as in use any more. */
  onUnused(): void;
}

export class UnstageRetries implements AsyncDisposable {
  readonly #options: UnstageRetriesOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: UnstageRetriesOptions) {
    this.#options = options;
  }

  /** Some volume may be owed. */
  want(): void {
    if (this.#stop.signal.aborted || this.#options.staged.owed.length === 0) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      this.want();
    });
  }

  failed(volumeId: string, error: unknown): void {
    this.#options.log.warn("Cannot unstage a volume; retrying with backoff", { volume: volumeId, error });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(NOT_NEEDED);
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { staged, clock, onUnused } = this.#options;
    const { signal } = this.#stop;
    for (let attempt = 0; staged.owed.length > 0; attempt++) {
      await clock.sleep(exponentialDelayMs(RETRY_DELAY, attempt), signal).catch(() => undefined); // Stopped.
      if (signal.aborted) return;
      const before = staged.owed.length;
      for (const owed of staged.owed) await this.#retry(owed);
      if (staged.owed.length < before) onUnused();
    }
  }

  async #retry({ volumeId, plugin, isBlockDevice }: StagedVolumes["owed"][number]): Promise<void> {
    const { staged, node, timed } = this.#options;
    const found = all.find(({ directory }) => directory === plugin);
    if (found === undefined) return;
    const operation = isBlockDevice ? "unmap_device" : "unmount_device";
    const releasing = { plugin: found, node, timed: (run: () => Promise<void>) => timed(operation, recordedName(found, volumeId), run) };
    const failure = await staged.retry(volumeId, releasing).catch((error: unknown) => error);
    if (failure !== undefined) this.failed(volumeId, failure);
  }
}
