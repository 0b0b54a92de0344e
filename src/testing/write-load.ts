/**
 * Writers that never rest, and remember what the server has acknowledged: whatever happens to it meanwhile, that is to be there at the end,
 * with the acknowledged value or a later one. While the server is known to be away a write may fail; at any other time that is an error.
 */
import { configMaps } from "../api/core/v1/config-map.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { Client } from "../client/client.ts";
import { realClock } from "../host/real-clock.ts";

/** Of one writer: all of them are made, and then written again and again. */
const OBJECTS = 20;
/** Enough to have a write under way at most moments, and to leave the machine to others. */
const PACE_MS = 15;

export interface WriteLoadOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly writers?: number;
}

export class WriteLoad {
  readonly #options: WriteLoadOptions;
  readonly #acknowledged = new Map<string, number>();
  readonly #tried = new Map<string, number>();
  readonly #failures: unknown[] = [];
  readonly #running: Promise<unknown>;
  #acknowledgements = 0;
  #isStopped = false;
  #away: { readonly over: Promise<void>; end(): void } | undefined;
  #onAcknowledged = (): void => {};

  constructor(options: WriteLoadOptions) {
    this.#options = options;
    const writers = Array.from({ length: options.writers ?? 2 }, (_, number) => this.#write(`writer-${number}`));
    this.#running = Promise.all(writers);
  }

  /** From now on the server may not answer. */
  serverGoes(): void {
    let end = (): void => {};
    const over = new Promise<void>((resolve) => (end = resolve));
    this.#away = { over, end };
  }

  /** From now on it must. */
  serverIsBack(): void {
    this.#away?.end();
    this.#away = undefined;
  }

  /** Resolves when so many more writes were acknowledged. */
  async advances(by: number): Promise<void> {
    const until = this.#acknowledgements + by;
    while (this.#acknowledgements < until) await new Promise<void>((resolve) => (this.#onAcknowledged = resolve));
  }

  /** Resolves when nothing more is written. */
  async end(): Promise<void> {
    this.#isStopped = true;
    this.serverIsBack();
    await this.#running;
  }

  /** Ends, and resolves with what was acknowledged and is not there, and with what failed and should not have: mostly nothing. */
  async failings(): Promise<readonly string[]> {
    const { client, namespace } = this.#options;
    await this.end();
    const { items } = await client.list(configMaps, { namespace });
    const there = new Map(items.map(({ metadata, data }) => [metadata.name ?? "", Number(data?.["value"])]));
    const lost = [...this.#acknowledged].flatMap(([name, value]) => {
      const is = there.get(name) ?? 0;
      return is >= value && is <= (this.#tried.get(name) ?? 0) ? [] : [`${name} is ${is}, acknowledged was ${value}`];
    });
    return [...lost, ...this.#failures.map(String)];
  }

  async #write(writer: string): Promise<void> {
    const made = new Set<string>();
    for (let value = 1; !this.#isStopped; value++) {
      const name = `${writer}-${value % OBJECTS}`;
      this.#tried.set(name, value);
      try {
        await this.#writeOne(name, value, made.has(name));
        made.add(name);
        this.#acknowledged.set(name, value);
        this.#acknowledgements += 1;
        this.#onAcknowledged();
      } catch (error) {
        // It was made, and nobody could say so any more.
        if (isReason(error, "AlreadyExists")) made.add(name);
        else if (this.#away === undefined) this.#failures.push(error);
        await this.#away?.over;
      }
      await realClock.sleep(PACE_MS);
    }
  }

  async #writeOne(name: string, value: number, isThere: boolean): Promise<void> {
    const { client, namespace } = this.#options;
    const data = { value: String(value) };
    if (isThere) await client.patch(configMaps, { namespace, name }, { type: "merge", value: { data } });
    else await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data });
  }
}
