/**
 * Waiters for a state of an informer. Each is settled once: when the state is reached, its signal aborts, or the informer is closed. A
 * change touches only the waiters that it concerns.
 */
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { onAbort } from "../../base/abort.ts";
import { Heap } from "../../base/heap.ts";

interface Waiter {
  resolve(): void;
  reject(reason: unknown): void;
}

/** A promise with its settlers; `leave` is called when the signal aborts first. */
function wait(signal: AbortSignal | undefined, begin: (waiter: Waiter) => () => void): Promise<void> {
  if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
  const promise = new Promise<void>((resolve, reject) => {
    const leave = begin({
      resolve() {
        stopListening?.();
        resolve();
      },
      reject(reason) {
        stopListening?.();
        reject(reason);
      },
    });
    const stopListening =
      signal &&
      onAbort(signal, () => {
        leave();
        reject(signal.reason as Error);
      });
  });
  // A waiter that lost interest need not catch it.
  promise.catch(() => undefined);
  return promise;
}

/** Waiting for a revision. */
export class RevisionWaiters {
  readonly #waiters = new Heap<Waiter & { readonly revision: string }>((a, b) => compareResourceVersions(a.revision, b.revision));

  wait(revision: string, signal?: AbortSignal): Promise<void> {
    return wait(signal, ({ resolve, reject }) => {
      const seat = this.#waiters.push({ revision, resolve, reject });
      return () => void this.#waiters.remove(seat);
    });
  }

  /** Releases all that wait for this revision or less. */
  reached(revision: string): void {
    for (let first = this.#waiters.peek(); first !== undefined; first = this.#waiters.peek()) {
      if (compareResourceVersions(first.revision, revision) > 0) return;
      this.#waiters.pop();
      first.resolve();
    }
  }

  /** Their revisions belong to the previous history. */
  resolveAll(): void {
    for (let first = this.#waiters.pop(); first !== undefined; first = this.#waiters.pop()) first.resolve();
  }

  /** `reason` is called for each: an Error costs more than all else of an informer that nothing waits for. */
  rejectAll(reason: () => Error): void {
    for (let first = this.#waiters.pop(); first !== undefined; first = this.#waiters.pop()) first.reject(reason());
  }
}

/** Waiting for a condition on one key. */
export class KeyWaiters {
  readonly #waiters = new Map<string, Set<Waiter & { isDone(): boolean }>>();

  wait(key: string, isDone: () => boolean, signal?: AbortSignal): Promise<void> {
    return wait(signal, ({ resolve, reject }) => {
      const waiter = { isDone, resolve, reject };
      let waiters = this.#waiters.get(key);
      if (waiters === undefined) this.#waiters.set(key, (waiters = new Set()));
      waiters.add(waiter);
      return () => this.#leave(key, waiter);
    });
  }

  /** Something changed under this key. */
  changed(key: string): void {
    for (const waiter of this.#waiters.get(key) ?? []) {
      if (!waiter.isDone()) continue;
      this.#leave(key, waiter);
      waiter.resolve();
    }
  }

  /** Something may have changed under any key. */
  allChanged(): void {
    for (const key of this.#waiters.keys()) this.changed(key);
  }

  rejectAll(reason: () => Error): void {
    const all = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const waiters of all) for (const { reject } of waiters) reject(reason());
  }

  #leave(key: string, waiter: Waiter & { isDone(): boolean }): void {
    const waiters = this.#waiters.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(key);
  }
}
