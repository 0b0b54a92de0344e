/**
 * Listening to an AbortSignal by many at once. A process has few signals and many waiters on each, and Node warns of a leak
 * from the eleventh listener on and walks the whole list to add or remove one. So each signal gets one listener, and its
 * waiters stand in a set: adding and leaving cost the same however many there are, and the last to leave takes the listener away.
 */

/** Why something that nobody waits for any more was ended. Given as reason: making a new one each time costs more than all the rest of it. */
export const NO_LONGER_WANTED = new Error("It is no longer wanted");

const waitersOf = new WeakMap<AbortSignal, Waiters>();

interface Waiters {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Calls `callback` once when `signal` is aborted, in the order of the calls of this function; never if it is aborted already, so
 * look first. Returns how to stop listening, which may be called any number of times. `callback` must not throw: the others
 * would not be called.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const waiters = waitersOf.get(signal) ?? listenTo(signal);
  // A new function each time, so that one callback given twice is two waiters.
  const waiter = () => callback();
  waiters.callbacks.add(waiter);
  return () => {
    if (waiters.callbacks.delete(waiter) && waiters.callbacks.size === 0) stopListeningTo(signal, waiters);
  };
}

function listenTo(signal: AbortSignal): Waiters {
  const callbacks = new Set<() => void>();
  const listener = () => {
    // Over the set itself, not a copy: a callback may make another waiter leave.
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

/** Aborted when one of the two is. Made only if there are two, since it costs. */
export function eitherOf(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  return AbortSignal.any([a, b]);
}

/** Resolves when the signal has come, at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => void onAbort(signal, resolve));
}
