/**
 * Finds service accounts. Nearly always memory has them; "default" may be about to be made, since its namespace may be a moment old, so
 * whoever needs it waits for it as long as upstream tries again.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { ServiceAccount } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Objects } from "../../framework/objects.ts";

export const DEFAULT_ACCOUNT = "default";

const SERVICE_ACCOUNTS = { group: "", plural: "serviceaccounts" };

/** Upstream looks ten times, and between two looks waits 100 to 199 ms, as chance has it. */
const WAITS = 9;
const WAIT_MIN_MS = 100;
const WAIT_CHANCE_MS = 100;

export interface AccountDirectoryOptions {
  readonly objects: Objects;
  readonly clock: Pick<Clock, "sleep">;
  readonly random: Random;
}

export class AccountDirectory {
  readonly #objects: Objects;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #random: Random;
  /** Those who wait for the default account of a namespace. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor({ objects, clock, random }: AccountDirectoryOptions) {
    this.#objects = objects;
    this.#clock = clock;
    this.#random = random;
  }

  start(): Promise<void> {
    return this.#objects.follow(SERVICE_ACCOUNTS, {
      put: ({ metadata }: KubeObject) => {
        if (metadata.name !== DEFAULT_ACCOUNT || this.#waiting.size === 0) return;
        for (const wake of this.#waiting.get(metadata.namespace ?? "") ?? []) wake();
      },
      gone() {},
      reset() {},
    });
  }

  /** What memory has. */
  cached(namespace: string, name: string): ServiceAccount | undefined {
    return this.#objects.cached<ServiceAccount>(SERVICE_ACCOUNTS, { namespace, name });
  }

  /** What the store has, and if that is nothing, what comes within the time. Rejects if the signal is aborted meanwhile. */
  async find(namespace: string, name: string, signal: AbortSignal | undefined): Promise<ServiceAccount | undefined> {
    const found = await this.#objects.getExact<ServiceAccount>(SERVICE_ACCOUNTS, { namespace, name });
    if (found !== undefined || name !== DEFAULT_ACCOUNT) return found;
    await this.#untilTold(namespace, signal);
    return this.#objects.getExact<ServiceAccount>(SERVICE_ACCOUNTS, { namespace, name });
  }

  /** Until the default account of the namespace is there, or the time is over. */
  async #untilTold(namespace: string, signal: AbortSignal | undefined): Promise<void> {
    const told = new AbortController();
    const wake = () => told.abort();
    const waiting = this.#waiting.get(namespace) ?? new Set();
    this.#waiting.set(namespace, waiting.add(wake));
    try {
      // It may have come between asking and waiting.
      if (this.cached(namespace, DEFAULT_ACCOUNT) !== undefined) return;
      const either = signal === undefined ? told.signal : AbortSignal.any([told.signal, signal]);
      // Not one long wait: of a process that was held up for so long it would be over before the account can have come.
      for (let waits = 0; waits < WAITS && !told.signal.aborted; waits++) await this.#waitOnce(either, told.signal);
    } finally {
      waiting.delete(wake);
      if (waiting.size === 0) this.#waiting.delete(namespace);
    }
  }

  async #waitOnce(either: AbortSignal, told: AbortSignal): Promise<void> {
    await this.#clock.sleep(WAIT_MIN_MS + this.#random.below(WAIT_CHANCE_MS), either).catch((error: unknown) => {
      if (!told.aborted) throw error;
    });
  }
}
