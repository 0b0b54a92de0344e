/**
 * Many waiters on one AbortSignal. A process has few signals and many waiters on each; Node warns of a leak from the eleventh listener on
 * and scans its whole list to add or remove one. Each signal therefore gets one listener and a set of waiters: subscribing and
 * unsubscribing are O(1), and the last waiter to leave removes the listener.
 */

/**
 * Abort reason for work whose result is no longer needed. Shared instance: allocating an Error per abort costs more than the abort itself.
 */
export const NOT_NEEDED = new Error("The result is no longer needed");

const waitersOf = new WeakMap<AbortSignal, Waiters>();

interface Waiters {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Calls `callback` once when `signal` aborts, in registration order; never if it is already aborted, so check that first. Returns an
 * idempotent unsubscribe function. `callback` must not throw: later callbacks would not be called.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const waiters = waitersOf.get(signal) ?? listenTo(signal);
  // A new function per call, so that one callback registered twice is two waiters.
  const waiter = () => callback();
  waiters.callbacks.add(waiter);
  return () => {
    if (waiters.callbacks.delete(waiter) && waiters.callbacks.size === 0) stopListeningTo(signal, waiters);
  };
}

function listenTo(signal: AbortSignal): Waiters {
  const callbacks = new Set<() => void>();
  const listener = () => {
    // Iterates over the set itself, not a copy: a callback may unsubscribe another waiter.
    for (const callback of callbacks) {
      callbacks.delete(callback);
      callback();
    }
  };
  const waiters = { callbacks, listener };
  waitersOf.set(signal, waiters);
  signal.addEventListener("abort", listener, { once: true });
  return waiters;
}

function stopListeningTo(signal: AbortSignal, { listener }: Waiters): void {
  waitersOf.delete(signal);
  signal.removeEventListener("abort", listener);
}

/** Aborts when either of the two does. Allocates a new signal only if there are two. */
export function anySignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  return AbortSignal.any([a, b]);
}

/** Resolves when the signal aborts, immediately if it is already aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => void onAbort(signal, resolve));
}
