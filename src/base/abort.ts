/**
 * Cancellation: many waiters on one AbortSignal, and a cheaper signal for hot paths. A process has few signals and many waiters on each; Node warns of a leak from the eleventh listener on
 * and scans its whole list to add or remove one. Each signal therefore gets one listener and a set of waiters: subscribing and
 * unsubscribing are O(1), and the last waiter to leave removes the listener.
 */

/**
 * Abort reason for work whose result is no longer needed. Shared instance: allocating an Error per abort costs more than the abort itself.
 */
export const NOT_NEEDED = new Error("The result is no longer needed");

/** What work that can be cancelled needs to know. Every AbortSignal is one; a `Cancellation` is a cheaper one. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
}

/**
 * Cancels one piece of work. For hot paths, where an AbortController per request costs as much as several stages of a write: this one is a
 * small object until an API of the platform needs an AbortSignal (`signalOf`).
 */
export class Cancellation implements CancelSignal {
  #reason: unknown;
  #isAborted = false;
  #callbacks: Set<() => void> | undefined;
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  /** Only the first call has an effect. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    if (this.#callbacks !== undefined) callEach(this.#callbacks);
  }

  /** As the function `onAbort`. */
  onAbort(callback: () => void): () => void {
    this.#callbacks ??= new Set();
    return addTo(this.#callbacks, callback);
  }

  /** Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }
}

/** The AbortSignal for an API of the platform. */
export function signalOf(signal: CancelSignal): AbortSignal {
  if (signal instanceof Cancellation) return signal.signal;
  if (signal instanceof AbortSignal) return signal;
  throw new TypeError("Cannot pass on a cancellation: it is neither a Cancellation nor an AbortSignal");
}

const waitersOf = new WeakMap<AbortSignal, Waiters>();

interface Waiters {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Calls `callback` once when `signal` aborts, in registration order; never if it is already aborted, so check that first. Returns an
 * idempotent unsubscribe function. `callback` must not throw: later callbacks would not be called.
 */
export function onAbort(signal: CancelSignal, callback: () => void): () => void {
  if (signal instanceof Cancellation) return signal.onAbort(callback);
  return onAbortSignal(signalOf(signal), callback);
}

function onAbortSignal(signal: AbortSignal, callback: () => void): () => void {
  const waiters = waitersOf.get(signal) ?? listenTo(signal);
  const remove = addTo(waiters.callbacks, callback);
  return () => {
    if (remove() && waiters.callbacks.size === 0) stopListeningTo(signal, waiters);
  };
}

/** Returns a function that removes it, which returns false if it is not registered any more. */
function addTo(callbacks: Set<() => void>, callback: () => void): () => boolean {
  // A new function per call, so that one callback registered twice is two waiters.
  const waiter = () => callback();
  callbacks.add(waiter);
  return () => callbacks.delete(waiter);
}

function callEach(callbacks: Set<() => void>): void {
  // Iterates over the set itself, not a copy: a callback may unsubscribe another waiter.
  for (const callback of callbacks) {
    callbacks.delete(callback);
    callback();
  }
}

function listenTo(signal: AbortSignal): Waiters {
  const callbacks = new Set<() => void>();
  const listener = () => callEach(callbacks);
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
