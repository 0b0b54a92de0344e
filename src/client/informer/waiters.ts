/**
 * Those who wait until an informer knows something. Each is let go once: when it is known, when its signal is aborted, or when the
 * informer is closed. However many wait, a change looks only at those whom it concerns.
 */
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { onAbort } from "../../base/abort.ts";
import { Heap } from "../../base/heap.ts";

interface Waiter {
  resolve(): void;
  reject(reason: unknown): void;
}

/** A promise and how to settle it; `leave` is called when the signal is aborted before. */
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
  // Who has stopped caring need not catch it.
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

  /** Lets go all who wait for this or less. */
  reached(revision: string): void {
    for (let first = this.#waiters.peek(); first !== undefined; first = this.#waiters.peek()) {
      if (compareResourceVersions(first.revision, revision) > 0) return;
      this.#waiters.pop();
      first.resolve();
    }
  }

  /** What they wait for belongs to a history that is no more. */
  resolveAll(): void {
    for (let first = this.#waiters.pop(); first !== undefined; first = this.#waiters.pop()) first.resolve();
  }

  rejectAll(reason: unknown): void {
    for (let first = this.#waiters.pop(); first !== undefined; first = this.#waiters.pop()) first.reject(reason);
  }
}

/** Waiting for something to become true of one key. */
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

  /** Something has changed under this key. */
  changed(key: string): void {
    for (const waiter of this.#waiters.get(key) ?? []) {
      if (!waiter.isDone()) continue;
      this.#leave(key, waiter);
      waiter.resolve();
    }
  }

  /** Something may have changed under any. */
  allChanged(): void {
    for (const key of this.#waiters.keys()) this.changed(key);
  }

  rejectAll(reason: unknown): void {
    const all = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const waiters of all) for (const { reject } of waiters) reject(reason);
  }

  #leave(key: string, waiter: Waiter & { isDone(): boolean }): void {
    const waiters = this.#waiters.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(key);
  }
}
