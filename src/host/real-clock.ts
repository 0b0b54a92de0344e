/**
 * The machine's clock. The only place that sets timers; all other code receives a Clock. Not here: virtual time (base/virtual-clock.ts),
 * for which `realMacrotask` is one of the two ends.
 */
import { onAbort } from "../base/abort.ts";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";

/** Maximum delay of setTimeout, 24.8 days; a longer one fires immediately. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep,
  soon: (work) => void setImmediate(work),
  external: (operation) => operation,
};

/** Resolves in the next event-loop tick, after all resolved promises. */
export function realMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  assert(!Number.isNaN(durationMs), "a sleep lasts a number of milliseconds");
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const wakeAtMs = performance.now() + durationMs;
    let timer = setTimeout(wakeOrWaitOn, timerMs(durationMs));
    const stopListening =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });

    /** Timers can fire a fraction of a millisecond early, and long sleeps need several of them. */
    function wakeOrWaitOn(): void {
      const remainingMs = wakeAtMs - performance.now();
      if (remainingMs > 0) {
        timer = setTimeout(wakeOrWaitOn, timerMs(remainingMs));
        return;
      }
      stopListening?.();
      resolve();
    }
  });
}

function timerMs(remainingMs: number): number {
  return Math.min(TIMER_MAX_MS, Math.ceil(remainingMs));
}
