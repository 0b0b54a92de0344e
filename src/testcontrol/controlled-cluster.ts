/**
 * A cluster under test control: one HTTPS server, and the current generation of its components. To reset it within milliseconds, the next
 * generation is started ahead (a spare) from the snapshots that were used last, and a reset only switches to it.
 */
import type { Logger } from "../base/logger.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { realMacrotask } from "../host/real-clock.ts";
import type { Pki } from "../pki/pki.ts";
import { Door } from "./door.ts";
import { Faults } from "./faults/faults.ts";
import type { FaultMatch } from "./faults/fault.ts";
import { FaultyExchange, type DropMode } from "./faults/inject.ts";
import { startGeneration, type Beginning, type Generation, type GenerationConfig } from "./generation.ts";
import type { Snapshot } from "./snapshot.ts";

/** A spare costs memory and an idle cluster's processor time: the last snapshot, and the one before it for suites that alternate. */
const SNAPSHOTS_MAX = 2;
/** Spares of a snapshot that was used twice in a row: a suite may reset faster than a spare starts, and the machine has to catch up. */
const SPARES_IN_A_ROW = 4;

/** Replaced generations that are still stopping; a reset beyond waits for one. Stopping takes some 50 ms. */
const RETIRING_MAX = 4;

export interface ControlledClusterOptions {
  readonly name: string;
  readonly config: GenerationConfig;
  readonly apiServer: ApiServerOptions;
  readonly pki?: Pki;
  /** First revision of the next generation: higher than all that any generation of this process has used. */
  nextRevision(): number;
  readonly log: Logger;
}

export interface ResetOutcome {
  readonly generation: number;
  readonly revision: number;
  /** True if the components had started ahead: the reset waited for nothing. */
  readonly wasPrepared: boolean;
}

export class ControlledCluster implements AsyncDisposable {
  readonly name: string;
  readonly door: Door;
  readonly faults = new Faults();
  readonly exchange = new FaultyExchange(this.faults);
  readonly #options: ControlledClusterOptions;
  /** By snapshot, the last used one last; spares in the order of their revisions. */
  readonly #spares = new Map<Snapshot, Spare[]>();
  /** The snapshot of the last reset. */
  #last: Snapshot | undefined;
  #isFilling = false;
  readonly #retiring = new Set<Promise<void>>();
  #current: Generation;
  /** First revision of the current generation. Spares below it are stale: revisions of a cluster only grow. */
  #firstRevision = 0;
  #number = 1;
  #isClosed = false;

  /** Rejects with a ListenError if it cannot listen. */
  static async start(beginning: Beginning, options: ControlledClusterOptions): Promise<ControlledCluster> {
    const { apiServer, pki, config, log } = options;
    const door = await Door.open({ apiServer, isVirtual: config.isVirtual, log, ...(pki === undefined ? {} : { pki }) });
    try {
      return new ControlledCluster(options, door, await startGeneration(beginning, config, door.served));
    } catch (error) {
      await door[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(options: ControlledClusterOptions, door: Door, first: Generation) {
    this.name = options.name;
    this.#options = options;
    this.door = door;
    this.#current = first;
    this.#serve(first);
  }

  get current(): Generation {
    return this.#current;
  }

  /** Number of the current generation, from 1 on. */
  get generation(): number {
    return this.#number;
  }

  /** Number of clusters that were started ahead for resets to this snapshot, or are starting. */
  spares(snapshot: Snapshot): number {
    return this.#spares.get(snapshot)?.length ?? 0;
  }

  /** Replaces the state by the snapshot's. Resolves when requests are served from it. */
  async reset(snapshot: Snapshot, seed?: number): Promise<ResetOutcome> {
    while (this.#retiring.size >= RETIRING_MAX) await Promise.race(this.#retiring);
    const spare = seed === undefined ? this.#takeSpare(snapshot) : undefined;
    const wasPrepared = spare?.isReady === true;
    // If the spare could not start, this attempt reports why.
    const begin = () => this.#begin(snapshot, seed).started();
    const { generation: next, revision } = await (spare?.started().catch(begin) ?? begin());
    const before = this.#current;
    before.components.end();
    this.#current = next;
    this.#firstRevision = revision;
    this.#number++;
    this.faults.clear();
    this.#serve(next);
    const count = this.#last === snapshot ? SPARES_IN_A_ROW : 1;
    this.#last = snapshot;
    this.#track(this.#replace(before, snapshot, count));
    return { generation: this.#number, revision: await next.revision(), wasPrepared };
  }

  #serve(generation: Generation): void {
    generation.components.use(this.faults);
    this.door.use(generation.whenever(this.exchange.around(generation)));
  }

  /** Drops the running watches of clients, and of components if `match` names a user; returns their number. */
  dropWatches(match: FaultMatch, how: DropMode): number {
    return this.exchange.dropWatches(match, how) + this.#current.components.dropWatches(match);
  }

  /** Starts spares for the next resets to this snapshot, unless there are as many. */
  prepare(snapshot: Snapshot, count = 1): void {
    if (this.#isClosed) return;
    const spares = this.#spares.get(snapshot) ?? [];
    if (spares.length === 0) spares.push(this.#begin(snapshot));
    this.#spares.delete(snapshot);
    this.#spares.set(snapshot, spares);
    for (const [other] of this.#spares) if (this.#spares.size > SNAPSHOTS_MAX) this.forget(other);
    if (spares.length < count) void this.#fill(snapshot, count);
  }

  /** One after the other: several starts at once would delay the first. */
  async #fill(snapshot: Snapshot, count: number): Promise<void> {
    if (this.#isFilling) return;
    this.#isFilling = true;
    try {
      for (let spares = this.#spares.get(snapshot); spares !== undefined; spares = this.#spares.get(snapshot)) {
        await spares.at(-1)?.generation.catch(() => undefined);
        if (this.#isClosed || this.#spares.get(snapshot) !== spares || spares.length >= count) return;
        spares.push(this.#begin(snapshot));
      }
    } finally {
      this.#isFilling = false;
    }
  }

  /** Stops the spares of a snapshot that was deleted or is not used any more. */
  forget(snapshot: Snapshot): void {
    const spares = this.#spares.get(snapshot) ?? [];
    this.#spares.delete(snapshot);
    for (const { generation } of spares) this.#track(disposed(generation));
  }

  #takeSpare(snapshot: Snapshot): Spare | undefined {
    const spares = this.#spares.get(snapshot) ?? [];
    if (spares.some(({ revision }) => revision < this.#firstRevision)) this.forget(snapshot);
    return this.#spares.get(snapshot)?.shift();
  }

  #begin(snapshot: Snapshot, seed?: number): Spare {
    const { config, nextRevision } = this.#options;
    const revision = nextRevision();
    const beginning = { is: "snapshot", snapshot, revision, ...(seed === undefined ? {} : { seed }) } as const;
    return new Spare(revision, startGeneration(beginning, config, this.door.served));
  }

  /** After the answer of the reset: stopping and starting components takes more processor time than the switch. */
  async #replace(before: Generation, snapshot: Snapshot, count: number): Promise<void> {
    await realMacrotask();
    await before[Symbol.asyncDispose]();
    const isStale = ({ revision }: Spare): boolean => revision < this.#firstRevision;
    const stale = [...this.#spares].filter(([, spares]) => spares.some(isStale)).map(([other]) => other);
    for (const other of stale) {
      this.forget(other);
      this.prepare(other);
    }
    this.prepare(snapshot, count);
  }

  #track(stopping: Promise<void>): void {
    const tracked = stopping
      .catch((error: unknown) => this.#options.log.warn("Stopping a replaced cluster failed", { cluster: this.name, error }))
      .finally(() => this.#retiring.delete(tracked));
    this.#retiring.add(tracked);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const snapshot of this.#spares.keys()) this.forget(snapshot);
    await this.door[Symbol.asyncDispose]();
    await this.#current[Symbol.asyncDispose]();
    await Promise.all(this.#retiring);
  }
}

/** A generation that is started, usually ahead. */
class Spare {
  /** Its first revision. */
  readonly revision: number;
  readonly generation: Promise<Generation>;
  isReady = false;

  constructor(revision: number, generation: Promise<Generation>) {
    this.revision = revision;
    this.generation = generation;
    generation.then(
      () => (this.isReady = true),
      // Reported by the reset that uses it.
      () => undefined,
    );
  }

  async started(): Promise<{ readonly generation: Generation; readonly revision: number }> {
    return { generation: await this.generation, revision: this.revision };
  }
}

async function disposed(starting: Promise<Generation>): Promise<void> {
  const generation = await starting.catch(() => undefined);
  await generation?.[Symbol.asyncDispose]();
}
