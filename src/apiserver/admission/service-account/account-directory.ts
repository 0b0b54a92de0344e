/**
 * Looks up service accounts, nearly always in the cache. "default" may not exist yet in a new namespace, so lookups wait for it as long as
 * upstream retries.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { ServiceAccount } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Objects } from "../../framework/objects.ts";

export const DEFAULT_ACCOUNT = "default";

const SERVICE_ACCOUNTS = { group: "", plural: "serviceaccounts" };

/** Upstream tries ten times with 100 to 199 ms (jitter) in between. */
const WAITS = 9;
const WAIT_MIN_MS = 100;
const WAIT_JITTER_MS = 100;

export interface AccountDirectoryOptions {
  readonly objects: Objects;
  readonly clock: Pick<Clock, "sleep">;
  readonly random: Random;
}

export class AccountDirectory {
  readonly #objects: Objects;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #random: Random;
  /** Waiters for the default account of a namespace. */
  readonly #waiters = new Map<string, Set<() => void>>();

  constructor({ objects, clock, random }: AccountDirectoryOptions) {
    this.#objects = objects;
    this.#clock = clock;
    this.#random = random;
  }

  start(): Promise<void> {
    return this.#objects.follow(SERVICE_ACCOUNTS, {
      put: ({ metadata }: KubeObject) => {
        if (metadata.name !== DEFAULT_ACCOUNT || this.#waiters.size === 0) return;
        for (const wake of this.#waiters.get(metadata.namespace ?? "") ?? []) wake();
      },
      remove() {},
      reset() {},
    });
  }

  /** Looks up the cache only. */
  cached(namespace: string, name: string): ServiceAccount | undefined {
    return this.#objects.cached<ServiceAccount>(SERVICE_ACCOUNTS, { namespace, name });
  }

  /** Reads the store and, if the account is missing, waits for it up to the timeout. Rejects if the signal is aborted meanwhile. */
  async find(namespace: string, name: string, signal: AbortSignal | undefined): Promise<ServiceAccount | undefined> {
    const found = await this.#objects.getExact<ServiceAccount>(SERVICE_ACCOUNTS, { namespace, name });
    if (found !== undefined || name !== DEFAULT_ACCOUNT) return found;
    await this.#waitForDefault(namespace, signal);
    return this.#objects.getExact<ServiceAccount>(SERVICE_ACCOUNTS, { namespace, name });
  }

  /** Waits until the namespace's default account exists or the timeout expires. */
  async #waitForDefault(namespace: string, signal: AbortSignal | undefined): Promise<void> {
    const appeared = new AbortController();
    const wake = () => appeared.abort();
    const waiters = this.#waiters.get(namespace) ?? new Set();
    this.#waiters.set(namespace, waiters.add(wake));
    try {
      // It may have appeared between lookup and registration.
      if (this.cached(namespace, DEFAULT_ACCOUNT) !== undefined) return;
      const either = signal === undefined ? appeared.signal : AbortSignal.any([appeared.signal, signal]);
      // Several short waits: in a stalled process one long wait would expire before the account can be observed.
      for (let waits = 0; waits < WAITS && !appeared.signal.aborted; waits++) await this.#waitOnce(either, appeared.signal);
    } finally {
      waiters.delete(wake);
      if (waiters.size === 0) this.#waiters.delete(namespace);
    }
  }

  async #waitOnce(either: AbortSignal, appeared: AbortSignal): Promise<void> {
    await this.#clock.sleep(WAIT_MIN_MS + this.#random.below(WAIT_JITTER_MS), either).catch((error: unknown) => {
      if (!appeared.aborted) throw error;
    });
  }
}
