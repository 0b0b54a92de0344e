/**
 * One run of a cluster's components on one store. A reset replaces the generation; the HTTPS server of the cluster stays (door.ts). Each
 * generation has its own range of revisions above those of all earlier ones: a client that kept a resourceVersion of an earlier generation
 * gets 410 and lists again, and no resourceVersion is ever used twice.
 */
import { StatusError } from "../api/machinery/status-error.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import type { Advertised } from "../apiserver/bootstrap/kubernetes-endpoints.ts";
import type { Exchange } from "../apiserver/framework/exchange.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { seededRandom, type Random } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { startClusterParts, type ClusterParts, type ClusterPartsOptions } from "../components/control-plane.ts";
import type { NodesConfig } from "../components/simulated-nodes/simulated-nodes.ts";
import { driverOf, type Driver } from "../embedded/driver.ts";
import { realClock, realMacrotask } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import type { Pki } from "../pki/pki.ts";
import { openMemoryStore, type MemoryStore } from "../store/memory/memory-store.ts";
import { FaultyComponents } from "./faults/faulty-components.ts";
import { conflict } from "./problem.ts";
import type { Snapshot } from "./snapshot.ts";
import { statusAnswer } from "./status-answer.ts";

/** Configuration that all generations of all clusters share. */
export interface GenerationConfig extends Pick<
  ClusterPartsOptions,
  "apiServer" | "controllers" | "controllerSettings" | "scheduler" | "steps"
> {
  /** True: time passes only on request. */
  readonly isVirtual: boolean;
  readonly log: Logger;
}

/** What the generations of one cluster share: they are served at the same address with the same certificates. */
export interface ServedAs {
  readonly pki: Pki;
  readonly advertised: Advertised | undefined;
}

/** Where a generation begins. */
export type Beginning =
  | { readonly is: "new"; readonly nodes: NodesConfig; readonly nowMs: number }
  | { readonly is: "snapshot"; readonly snapshot: Snapshot; readonly revision: number; readonly seed?: number };

/** Seed of all randomness with virtual time, unless a reset sets another: the same requests have the same results. */
const DEFAULT_SEED = 1;

const REPLACED = conflict("The cluster was reset or removed meanwhile", "Send the request again");

/** Virtual time that a shutdown may take: more than any component's last requests need. */
const CLOSING_MAX_MS = 60_000;

/** Resolves when its API server serves. The other components start with `started`. */
export async function startGeneration(beginning: Beginning, config: GenerationConfig, served: ServedAs): Promise<Generation> {
  const { isVirtual, log, ...parts } = config;
  const { nowMs, nodes } = beginning.is === "new" ? beginning : beginning.snapshot;
  const clock = isVirtual ? new VirtualClock({ macrotask: realMacrotask, startMs: nowMs }) : realClock;
  const driver = driverOf(clock);
  const store =
    beginning.is === "new" ? openMemoryStore({ clock }) : beginning.snapshot.store.fork({ clock, revision: beginning.revision });
  const components = new FaultyComponents(clock);
  const gate = new Gate();
  let starting!: Promise<ClusterParts>;
  const serving = new Promise<ApiServer>((resolve, reject) => {
    starting = startClusterParts({
      ...parts,
      beforeComponents: async (core) => {
        resolve(core);
        await gate.opened;
      },
      aroundTransport: (transport, { name: user }, userAgent) => components.around(transport, { user, userAgent }),
      ...{ clock, log, nodes, pki: served.pki, random: randomOf(beginning, isVirtual), listens: false },
      ...(served.advertised === undefined ? {} : { advertised: served.advertised }),
      store: { config: { driver: "memory" }, opened: store },
    });
    // A later rejection is reported by `started`.
    starting.catch(reject);
  });
  try {
    const core = await (driver === undefined ? serving : driver.through(serving));
    return new Generation(core, { store, clock, driver, components, gate, starting });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Holds the components back until they are needed. */
class Gate {
  readonly opened: Promise<void>;
  open!: () => void;
  refuse!: (reason: Error) => void;

  constructor() {
    this.opened = new Promise((resolve, reject) => {
      this.open = resolve;
      this.refuse = reject;
    });
    // Without a waiter, a refusal is no error.
    this.opened.catch(() => undefined);
  }
}

/** From the snapshot, not from the generation: every reset to a snapshot repeats the same history. */
function randomOf(beginning: Beginning, isVirtual: boolean): Random {
  const { seed } = beginning.is === "snapshot" ? beginning : {};
  if (seed === undefined && !isVirtual) return realRandom();
  const random = seededRandom(seed ?? DEFAULT_SEED);
  return beginning.is === "new" ? random : random.derive(`from revision ${beginning.snapshot.revision}`);
}

interface GenerationState {
  readonly store: MemoryStore;
  readonly clock: Clock;
  readonly driver: Driver | undefined;
  readonly components: FaultyComponents;
  readonly gate: Gate;
  readonly starting: Promise<ClusterParts>;
}

export class Generation implements AsyncDisposable {
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** Absent: real time. */
  readonly driver: Driver | undefined;
  readonly components: FaultyComponents;
  readonly #state: GenerationState;
  readonly #closed = new AbortController();
  #parts: ClusterParts | undefined;
  #started: Promise<ClusterParts> | undefined;
  #closing: Promise<void> | undefined;

  constructor(core: ApiServer, state: GenerationState) {
    this.exchange = core.exchange;
    this.clock = state.clock;
    this.driver = state.driver;
    this.components = state.components;
    this.#state = state;
  }

  /** Aborted when the generation is replaced. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** True if all components run. */
  get isStarted(): boolean {
    return this.#parts !== undefined;
  }

  /** Starts the nodes, controllers and scheduler, once; resolves when they run. Rejects if the generation was replaced before. */
  started(): Promise<ClusterParts> {
    this.#started ??= this.#start();
    // Every caller gets the rejection.
    this.#started.catch(() => undefined);
    return this.#started;
  }

  async #start(): Promise<ClusterParts> {
    const { gate, starting } = this.#state;
    this.signal.throwIfAborted();
    gate.open();
    const parts = await (this.driver === undefined ? starting : this.driver.through(starting));
    await this.driver?.settle();
    return (this.#parts = parts);
  }

  /** With virtual time: requests of clients proceed at the current time, or when time advances, and find all components started. */
  whenever(exchange: Exchange): Exchange {
    const { driver } = this;
    if (driver === undefined) return exchange;
    return async (request, offer, switching) => {
      if (!this.isStarted) await this.started().catch(() => undefined);
      if (this.signal.aborted) return statusAnswer(new StatusError("ServiceUnavailable", REPLACED.message));
      return driver.whenever(exchange(request, offer, switching));
    };
  }

  /** Runs an operation at the current time. */
  async through<T>(operation: (parts: ClusterParts) => Promise<T>): Promise<T> {
    const parts = await this.started();
    return this.driver === undefined ? operation(parts) : this.driver.through(operation(parts));
  }

  revision(): Promise<number> {
    return this.#state.store.currentRevision();
  }

  /** Its state now. Due work of the current instant of virtual time is done before. */
  async snapshot(name: string): Promise<Snapshot> {
    const { nodes } = await this.started();
    const { store: running } = this.#state;
    await this.driver?.settle();
    const revision = await running.currentRevision();
    const { keys } = await running.statistics();
    // A copy without history: a reset then copies in constant time.
    const store = running.fork({ clock: this.clock, revision });
    return { name, store, revision, keys, nowMs: this.clock.now(), nodes: nodes.config() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.components.end();
    this.#closed.abort(REPLACED);
    return (this.#closing ??= this.driver === undefined ? this.#dispose() : this.driver.toTheEnd(this.#dispose(), CLOSING_MAX_MS));
  }

  async #dispose(): Promise<void> {
    const { gate, starting, store } = this.#state;
    // Components that have not begun to start never do.
    gate.refuse(REPLACED);
    const parts = await starting.catch(() => undefined);
    await parts?.[Symbol.asyncDispose]();
    await store.close();
  }
}
