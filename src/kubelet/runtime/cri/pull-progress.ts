/**
 * Progress of an image pull. Only containerd reports it, in its own API on the same socket: current downloads with their sizes. Downloads
 * of concurrent pulls are counted too, since it does not report which belongs to which. Other runtimes report no progress.
 */
import type { Clock } from "../../../base/clock.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { PullOptions, PullProgress } from "../../contracts/runtime.ts";
import type { CriClient } from "./cri-client.ts";
import { CONTAINERD_NAMESPACE, downloads } from "./messages/event.ts";

const POLL_INTERVAL_MS = 1_000;

export function followPull(client: CriClient, clock: Clock, { onProgress }: PullOptions): Disposable {
  const over = new AbortController();
  if (onProgress !== undefined) void poll(client, clock, onProgress, over.signal);
  return { [Symbol.dispose]: () => over.abort(NOT_NEEDED) };
}

/** Never rejects. Ends with the pull, or when the runtime does not implement the call. */
async function poll(client: CriClient, clock: Clock, report: (done: PullProgress) => void, signal: AbortSignal): Promise<void> {
  const sum = new DownloadSum();
  try {
    for (;;) {
      await clock.sleep(POLL_INTERVAL_MS, signal);
      const { statuses } = await client.call(downloads, {}, { signal, metadata: { "containerd-namespace": CONTAINERD_NAMESPACE } });
      const done = sum.add(statuses);
      if (done.totalBytes > 0 && !signal.aborted) report(done);
    }
  } catch {
    // The pull is over, or the runtime has no such API: a pull works without progress.
  }
}

interface Download {
  readonly ref: string;
  readonly offset: number;
  readonly total: number;
}

/** A completed part is not listed any more; it counts in full from then on. */
export class DownloadSum {
  readonly #parts = new Map<string, { bytes: number; totalBytes: number }>();

  add(downloads: readonly Download[]): PullProgress {
    const underWay = new Set(downloads.map(({ ref }) => ref));
    for (const [ref, part] of this.#parts) if (!underWay.has(ref)) part.bytes = part.totalBytes;
    for (const { ref, offset, total } of downloads) this.#parts.set(ref, { bytes: offset, totalBytes: total });
    const parts = [...this.#parts.values()];
    return {
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      totalBytes: parts.reduce((sum, { totalBytes }) => sum + totalBytes, 0),
    };
  }
}
