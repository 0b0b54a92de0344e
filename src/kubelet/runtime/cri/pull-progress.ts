/**
 * How far a pull is. Only containerd says it, in its own API on the same socket: what it fetches now, with sizes. What is fetched for other
 * pulls at the same moment is counted too, since it does not say which is for which. Elsewhere nothing is told.
 */
import type { Clock } from "../../../base/clock.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { PullOptions, PullProgress } from "../../contracts/runtime.ts";
import type { CriClient } from "./cri-client.ts";
import { CONTAINERD_NAMESPACE, downloads } from "./messages/event.ts";

const ASK_EVERY_MS = 1_000;

export function followPull(client: CriClient, clock: Clock, { onProgress }: PullOptions): Disposable {
  const over = new AbortController();
  if (onProgress !== undefined) void ask(client, clock, onProgress, over.signal);
  return { [Symbol.dispose]: () => over.abort(NOT_NEEDED) };
}

/** Never rejects. Ends with the pull, or when the runtime does not know the question. */
async function ask(client: CriClient, clock: Clock, tell: (done: PullProgress) => void, signal: AbortSignal): Promise<void> {
  const sum = new DownloadSum();
  try {
    for (;;) {
      await clock.sleep(ASK_EVERY_MS, signal);
      const { statuses } = await client.call(downloads, {}, { signal, metadata: { "containerd-namespace": CONTAINERD_NAMESPACE } });
      const done = sum.add(statuses);
      if (done.totalBytes > 0 && !signal.aborted) tell(done);
    }
  } catch {
    // It is over, or there is nobody to ask: a pull without progress is a pull.
  }
}

interface Download {
  readonly ref: string;
  readonly offset: number;
  readonly total: number;
}

/** A part that is complete is not named any more; it counts as a whole from then on. */
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
