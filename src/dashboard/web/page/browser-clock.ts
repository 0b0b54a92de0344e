/** The clock of a browser. */
import type { Clock } from "../../../base/clock.ts";

export const browserClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (durationMs, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, durationMs);
      signal?.addEventListener("abort", abort, { once: true });
    }),
  soon: (work) => queueMicrotask(work),
  external: (operation) => operation,
};
