/** Runs at most `max` operations concurrently; the others wait in order of arrival. */
import { onAbort } from "../../../base/abort.ts";

export class Slots {
  readonly #max: number;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(operation: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#taken < this.#max) this.#taken++;
    else await this.#slot(signal);
    try {
      return await operation();
    } finally {
      this.#release();
    }
  }

  /** Rejects when aborted; otherwise the released slot is this one's. */
  #slot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const unsubscribe = onAbort(signal, () => {
        this.#waiting.delete(taken);
        reject(signal.reason as Error);
      });
      const taken = (): void => {
        unsubscribe();
        resolve();
      };
      this.#waiting.add(taken);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken--;
    } else {
      this.#waiting.delete(next);
      next();
    }
  }
}
