/**
 * A condition variable for many waiters. A woken waiter checks for itself: others may have been faster, so that it may have to wait again.
 */
import { onAbort } from "../../base/abort.ts";

export class ConditionVariable {
  readonly #waiters = new Set<{ readonly wake: () => void; readonly fail: (reason: unknown) => void }>();
  #isDisposed = false;

  /** Resolves at the next `wake`. Rejects with the signal's reason, or on disposal. */
  wait(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#isDisposed) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        stopListening?.();
      };
      const fail = (reason: unknown) => {
        leave();
        reject(reason);
      };
      const wake = () => {
        leave();
        resolve();
      };
      const waiter = { wake, fail };
      const stopListening = signal && onAbort(signal, () => fail(signal.reason));
      this.#waiters.add(waiter);
    });
  }

  wake(): void {
    for (const { wake } of this.#waiters) wake();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const { fail } of this.#waiters) fail(closed());
  }
}

function closed(): Error {
  return new Error("The scheduling queue is closed");
}
