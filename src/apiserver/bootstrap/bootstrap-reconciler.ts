/**
 * Keeps the bootstrap objects: when one is deleted, or one that must not differ is changed, its step runs again. Triggered by the caches,
 * so it does nothing while nothing changes.
 */
import type { Cause } from "../../api/machinery/cause.ts";
import { groupResourceOf } from "../../api/machinery/object.ts";
import type { BootstrapContext, BootstrapStep, KeptObject } from "./bootstrap.ts";
import type { ChangeListener, ResourceStorage } from "../framework/storage/storage.ts";

/** Upstream's interval between two passes. */
const RETRY_MS = 10_000;

export class BootstrapReconciler {
  readonly #context: BootstrapContext;
  readonly #waiting = new Set<BootstrapStep>();
  #running: Promise<void> = Promise.resolve();
  readonly #closed = new AbortController();

  constructor(context: BootstrapContext) {
    this.#context = context;
  }

  async keep(step: BootstrapStep): Promise<void> {
    for (const kept of step.keeps) {
      const storage = this.#context.server.endpoints.stored(kept.group, kept.plural)?.storage;
      if (storage !== undefined) await this.#listen(storage, kept, step);
    }
  }

  /** Starts no further step. A running one may be blocked by an unavailable store, so it is not awaited. */
  close(): void {
    this.#closed.abort();
  }

  async #listen(storage: ResourceStorage, kept: KeptObject, step: BootstrapStep): Promise<void> {
    const { cache } = storage;
    const { namespace, name, always } = kept;
    await cache.load();
    const listener: ChangeListener & { ended(): void } = {
      scope: { namespace, name },
      changed: ({ type, revision }) => {
        if (type === "delete" || always === true) this.#wake(step, causeOf(kept, type, revision));
      },
      // The cache was relisted; missed changes are found by running the steps.
      ended: () => {
        cache.leave(listener);
        if (this.#closed.signal.aborted) return;
        this.#listen(storage, kept, step).then(
          () => this.#wake(step),
          (error: unknown) => this.#failed(step, error),
        );
      },
    };
    cache.join(listener);
  }

  /** Coalesces triggers until the step runs; steps run one after the other. */
  #wake(step: BootstrapStep, cause: Omit<Cause, "controller"> = RETRY): void {
    if (this.#closed.signal.aborted || this.#waiting.has(step)) return;
    this.#waiting.add(step);
    this.#running = this.#running.then(async () => {
      this.#waiting.delete(step);
      if (this.#closed.signal.aborted) return;
      try {
        const { server, requests } = this.#context;
        await step.make({ server, requests: requests.because(cause) });
      } catch (error) {
        this.#failed(step, error);
      }
    });
  }

  /** The store may be unavailable for a while: retries until success or until the server stops. */
  #failed(step: BootstrapStep, error: unknown): void {
    const { signal } = this.#closed;
    if (signal.aborted) return;
    const { log, clock } = this.#context.server;
    log.warn(`Recreating a bootstrap object failed: ${String(error)}; retrying in ${RETRY_MS / 1_000} s`);
    clock.sleep(RETRY_MS, signal).then(
      () => this.#wake(step),
      () => undefined,
    );
  }
}

/** The cache was relisted, or the last attempt failed: the causing change is not known. */
const RETRY = { key: "bootstrap", reason: "Retry" };

function causeOf({ group, plural, namespace, name }: KeptObject, type: "put" | "delete", revision: number): Omit<Cause, "controller"> {
  const key = namespace === "" ? name : `${namespace}/${name}`;
  const reason = type === "delete" ? "Deleted" : "Updated";
  return { key, reason, object: `${groupResourceOf(group, plural)} ${key}`, revision: String(revision) };
}
