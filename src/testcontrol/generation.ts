/**
 * One run of a cluster's components on one store. A reset replaces the generation; the HTTPS server of the cluster stays (door.ts). Each
 * generation has its own range of revisions above those of all earlier ones: a client that kept a resourceVersion of an earlier generation
 * gets 410 and lists again, and no resourceVersion is ever used twice.
 */
import type { Advertised } from "../apiserver/bootstrap/kubernetes-endpoints.ts";
import type { Exchange } from "../apiserver/framework/exchange.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { seededRandom, type Random } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { startClusterParts, type ClusterParts, type ClusterPartsOptions } from "../components/control-plane.ts";
import type { ClusterNodes, NodesConfig } from "../components/simulated-nodes/simulated-nodes.ts";
import { driverOf, type Driver } from "../embedded/driver.ts";
import { realClock, realMacrotask } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import type { Pki } from "../pki/pki.ts";
import { openMemoryStore, type MemoryStore } from "../store/memory/memory-store.ts";
import { FaultyComponents } from "./faults/faulty-components.ts";
import type { Snapshot } from "./snapshot.ts";

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

/** Virtual time that a shutdown may take: more than any component's last requests need. */
const CLOSING_MAX_MS = 60_000;

export async function startGeneration(beginning: Beginning, config: GenerationConfig, served: ServedAs): Promise<Generation> {
  const { isVirtual, log, ...parts } = config;
  const { nowMs, nodes } = beginning.is === "new" ? beginning : beginning.snapshot;
  const clock = isVirtual ? new VirtualClock({ macrotask: realMacrotask, startMs: nowMs }) : realClock;
  const driver = driverOf(clock);
  const store =
    beginning.is === "new" ? openMemoryStore({ clock }) : beginning.snapshot.store.fork({ clock, revision: beginning.revision });
  const components = new FaultyComponents(clock);
  const starting = startClusterParts({
    ...parts,
    aroundTransport: (transport, { name: user }, userAgent) => components.around(transport, { user, userAgent }),
    ...{ clock, log, nodes, pki: served.pki, random: randomOf(beginning, isVirtual), listens: false },
    ...(served.advertised === undefined ? {} : { advertised: served.advertised }),
    store: { config: { driver: "memory" }, opened: store },
  });
  try {
    const started = await (driver === undefined ? starting : driver.through(starting));
    await driver?.settle();
    return new Generation(started, { store, clock, driver, components });
  } catch (error) {
    await store.close();
    throw error;
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
}

export class Generation implements AsyncDisposable {
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** Absent: real time. */
  readonly driver: Driver | undefined;
  readonly parts: ClusterParts;
  readonly nodes: ClusterNodes;
  readonly components: FaultyComponents;
  readonly #store: MemoryStore;
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(parts: ClusterParts, { store, clock, driver, components }: GenerationState) {
    this.parts = parts;
    this.clock = clock;
    this.driver = driver;
    this.components = components;
    this.#store = store;
    this.exchange = parts.core.exchange;
    this.nodes = parts.nodes;
  }

  /** Aborted when the generation is replaced. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** With virtual time: requests of clients proceed at the current time, or when time advances. */
  whenever(exchange: Exchange): Exchange {
    const { driver } = this;
    return driver === undefined ? exchange : (request, offer, switching) => driver.whenever(exchange(request, offer, switching));
  }

  /** Runs an operation at the current time. */
  through<T>(operation: () => Promise<T>): Promise<T> {
    return this.driver === undefined ? operation() : this.driver.through(operation());
  }

  revision(): Promise<number> {
    return this.#store.currentRevision();
  }

  /** Its state now. Due work of the current instant of virtual time is done before. */
  async snapshot(name: string): Promise<Snapshot> {
    await this.driver?.settle();
    const revision = await this.#store.currentRevision();
    const { keys } = await this.#store.statistics();
    // A copy without history: a reset then copies in constant time.
    const store = this.#store.fork({ clock: this.clock, revision });
    return { name, store, revision, keys, nowMs: this.clock.now(), nodes: this.parts.nodes.config() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.components.end();
    this.#closed.abort(new Error("The cluster was reset or removed meanwhile"));
    const dispose = async (): Promise<void> => {
      await this.parts[Symbol.asyncDispose]();
      await this.#store.close();
    };
    return (this.#closing ??= this.driver === undefined ? dispose() : this.driver.toTheEnd(dispose(), CLOSING_MAX_MS));
  }
}
