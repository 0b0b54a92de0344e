/**
 * A cluster under test control: one HTTPS server, and the current generation of its components. To reset it within milliseconds, the next
 * generation is started ahead (a spare) from the snapshots that were used last, and a reset only switches to it. A reset that comes before
 * a spare is ready switches to a new API server on the snapshot; its nodes, controllers and scheduler start once no other reset follows.
 */
import type { Logger } from "../base/logger.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { realClock, realMacrotask } from "../host/real-clock.ts";
import type { Pki } from "../pki/pki.ts";
import { Door } from "./door.ts";
import { Faults } from "./faults/faults.ts";
import type { FaultMatch } from "./faults/fault.ts";
import { FaultyExchange, type DropMode } from "./faults/inject.ts";
import { startGeneration, type Beginning, type Generation, type GenerationConfig } from "./generation.ts";
import type { Snapshot } from "./snapshot.ts";

/** A spare costs memory and an idle cluster's processor time: the last snapshot, and the one before it for suites that alternate. */
const SNAPSHOTS_MAX = 2;
/**
 * Starting all components takes some 40 ms in pieces of up to 20, which a reset that follows immediately should neither wait for nor cause.
 * Longer than a client needs to send the next request after an answer.
 */
const START_AFTER_MS = 20;

/** Replaced generations that are still stopping; a reset beyond waits for one. Stopping takes some 10 ms. */
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
  /** By snapshot, the last used one last. */
  readonly #spares = new Map<Snapshot, Spare>();
  /** The snapshots of the last resets, the last one last. */
  #recent: readonly Snapshot[] = [];
  readonly #retiring = new Set<Promise<void>>();
  #current: Generation;
  /** First revision of the current generation. Spares below it are stale: revisions of a cluster only grow. */
  #firstRevision = 0;
  #number = 1;
  /** Resolves when the last reset is over. */
  #resetting: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** Rejects with a ListenError if it cannot listen. */
  static async start(beginning: Beginning, options: ControlledClusterOptions): Promise<ControlledCluster> {
    const { apiServer, pki, config, log } = options;
    const door = await Door.open({ apiServer, isVirtual: config.isVirtual, log, ...(pki === undefined ? {} : { pki }) });
    try {
      const first = await startGeneration(beginning, config, door.served);
      await first.started();
      return new ControlledCluster(options, door, first);
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

  /** True if a reset to this snapshot finds all components started ahead. */
  isPrepared(snapshot: Snapshot): boolean {
    return this.#spares.get(snapshot)?.isReady === true;
  }

  /** Replaces the state by the snapshot's. Resolves when requests are served from it. */
  async reset(snapshot: Snapshot, seed?: number): Promise<ResetOutcome> {
    const outcome = this.#reset(snapshot, seed);
    this.#resetting = outcome.then(
      () => undefined,
      () => undefined,
    );
    return outcome;
  }

  async #reset(snapshot: Snapshot, seed: number | undefined): Promise<ResetOutcome> {
    while (this.#retiring.size >= RETIRING_MAX) await Promise.race(this.#retiring);
    const spare = seed === undefined ? this.#takeSpare(snapshot) : undefined;
    // If the spare could not start, this attempt reports why.
    const begin = () => this.#begin(snapshot, seed).serving();
    const { generation: next, revision } = await (spare?.serving().catch(begin) ?? begin());
    const before = this.#current;
    const wasPrepared = next.isStarted;
    before.components.end();
    this.#current = next;
    this.#firstRevision = revision;
    this.#number++;
    this.faults.clear();
    this.#serve(next);
    const stopped = this.#stop(before);
    this.#track(stopped);
    this.#recent = [...this.#recent.filter((recent) => recent !== snapshot), snapshot].slice(-SNAPSHOTS_MAX);
    void this.#complete(next, stopped);
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

  /** Starts a spare for the next reset to this snapshot, unless there is one. */
  prepare(snapshot: Snapshot): void {
    if (this.#isClosed) return;
    const spare = this.#spares.get(snapshot) ?? this.#begin(snapshot);
    spare.start();
    this.#spares.delete(snapshot);
    this.#spares.set(snapshot, spare);
    for (const [other] of this.#spares) if (this.#spares.size > SNAPSHOTS_MAX) this.#stopSpare(other);
  }

  /** Stops the spare of a snapshot that was deleted or is not used any more. */
  forget(snapshot: Snapshot): void {
    this.#recent = this.#recent.filter((recent) => recent !== snapshot);
    this.#stopSpare(snapshot);
  }

  #stopSpare(snapshot: Snapshot): void {
    const spare = this.#spares.get(snapshot);
    this.#spares.delete(snapshot);
    if (spare !== undefined) this.#track(disposed(spare.generation));
  }

  #takeSpare(snapshot: Snapshot): Spare | undefined {
    const spare = this.#spares.get(snapshot);
    if (spare !== undefined && this.#isStale(spare)) {
      this.#stopSpare(snapshot);
      return undefined;
    }
    this.#spares.delete(snapshot);
    return spare;
  }

  #isStale({ revision }: Spare): boolean {
    return revision < this.#firstRevision;
  }

  #begin(snapshot: Snapshot, seed?: number): Spare {
    const { config, nextRevision } = this.#options;
    const revision = nextRevision();
    const beginning = { is: "snapshot", snapshot, revision, ...(seed === undefined ? {} : { seed }) } as const;
    return new Spare(revision, startGeneration(beginning, config, this.door.served));
  }

  /** After the answer of the reset: stopping components takes more processor time than the switch. */
  async #stop(generation: Generation): Promise<void> {
    // In the first one the answer is written.
    await realMacrotask();
    await realMacrotask();
    await generation[Symbol.asyncDispose]();
  }

  /** Starts the other components of the current generation, then spares, unless another reset follows first. Never rejects. */
  async #complete(current: Generation, stopped: Promise<void>): Promise<void> {
    // The pause begins when the event loop is free again. A failure is reported elsewhere.
    await stopped.catch(() => undefined);
    try {
      await realClock.sleep(START_AFTER_MS, current.signal);
      await this.#resetting;
      await current.started();
    } catch (error) {
      if (!current.signal.aborted) this.#options.log.error("Starting the components after a reset failed", { cluster: this.name, error });
    }
    if (this.#current !== current) return;
    for (const [other, spare] of this.#spares) if (this.#isStale(spare)) this.#stopSpare(other);
    for (const recent of this.#recent) this.prepare(recent);
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
  #isStarting = false;
  #failure: Error | undefined;
  isReady = false;

  constructor(revision: number, generation: Promise<Generation>) {
    this.revision = revision;
    this.generation = generation;
    // Reported by the reset that uses it.
    generation.catch(() => undefined);
  }

  /** Starts all of its components, once. A failure is reported by the reset that uses it. */
  start(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    this.generation
      .then((generation) => generation.started())
      .then(
        () => void (this.isReady = true),
        (error: unknown) => void (this.#failure = error as Error),
      );
  }

  /** Resolves when its API server serves. */
  async serving(): Promise<{ readonly generation: Generation; readonly revision: number }> {
    if (this.#failure !== undefined) throw this.#failure;
    return { generation: await this.generation, revision: this.revision };
  }
}

async function disposed(starting: Promise<Generation>): Promise<void> {
  const generation = await starting.catch(() => undefined);
  await generation?.[Symbol.asyncDispose]();
}
