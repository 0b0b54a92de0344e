/** Requests pages of many targets: a bounded number at a time, each with a timeout. Used by the metrics APIs. */
import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";

/** Calls `work` for every item, at most `atOnce` at a time. `work` must not reject. */
export async function forEachAtOnce<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

export interface TimeLimit {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** "the kubelet": in the message of the error. */
  readonly target: string;
}

/** The result of `request`, which gets a signal that is aborted at the timeout; rejects then even if `request` does not end. */
export async function withinTimeout<T>(limit: TimeLimit, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, timeoutMs, target } = limit;
  const over = new AbortController();
  const done = new AbortController();
  clock.sleep(timeoutMs, done.signal).then(
    () => over.abort(new Error(`${target} did not respond within ${timeoutMs / 1_000} s`)),
    () => undefined,
  );
  try {
    return await untilAborted(request(over.signal), over.signal);
  } finally {
    done.abort();
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason as Error));
    promise.then(resolve, reject).finally(stopListening);
  });
}
