/**
 * Keeps what every cluster has: when one of these objects is deleted, or one that must not differ is changed, the step that makes it runs
 * again. Told by the caches, so nothing is looked at while nothing happens.
 */
import type { ChangeListener } from "../storage/watch-index.ts";
import type { ResourceStorage } from "../storage/resource-storage.ts";
import type { BootstrapContext, BootstrapStep, KeptObject } from "./bootstrap.ts";

export class Keeper {
  readonly #context: BootstrapContext;
  readonly #waiting = new Set<BootstrapStep>();
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(context: BootstrapContext) {
    this.#context = context;
  }

  async keep(step: BootstrapStep): Promise<void> {
    for (const kept of step.keeps) {
      const storage = this.#context.server.endpoints.stored(kept.group, kept.plural)?.storage;
      if (storage !== undefined) await this.#listen(storage, kept, step);
    }
  }

  /** Nothing begins any more. What runs may wait for a store that is gone, so nobody waits for it. */
  close(): void {
    this.#isClosed = true;
  }

  async #listen(storage: ResourceStorage, kept: KeptObject, step: BootstrapStep): Promise<void> {
    const { cache } = storage;
    const { namespace, name, always } = kept;
    await cache.load();
    const listener: ChangeListener & { ended(): void } = {
      scope: { namespace, name },
      changed: ({ type }) => {
        if (type === "delete" || always === true) this.#wake(step);
      },
      // The cache is read anew; what was missed meanwhile is found by looking.
      ended: () => {
        cache.leave(listener);
        if (this.#isClosed) return;
        this.#listen(storage, kept, step).then(
          () => this.#wake(step),
          (error: unknown) => this.#failed(error),
        );
      },
    };
    cache.join(listener);
  }

  /** Once, however often it was told until it comes to it; and one step after the other. */
  #wake(step: BootstrapStep): void {
    if (this.#isClosed || this.#waiting.has(step)) return;
    this.#waiting.add(step);
    this.#running = this.#running.then(async () => {
      this.#waiting.delete(step);
      if (this.#isClosed) return;
      try {
        await step.make(this.#context);
      } catch (error) {
        this.#failed(error);
      }
    });
  }

  #failed(error: unknown): void {
    if (this.#isClosed) return;
    this.#context.server.log.warn(`An object that every cluster has could not be made again: ${String(error)}; the next start does it`);
  }
}
