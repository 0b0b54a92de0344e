/**
 * The composition root: from a configuration to the parts that run in this process, started in the order in which they need
 * each other and stopped in the reverse. A start that fails half-way stops what it had started. Until the API server exists,
 * the parts are the store and the two loops that keep it small.
 */
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import { realClock } from "../host/real-clock.ts";
import { startCompaction } from "../store/compaction.ts";
import { startExpiry } from "../store/expiry.ts";
import type { Store } from "../store/store.ts";
import { openStore } from "./open-store.ts";
import type { StoreConfig } from "./store-config.ts";

export interface ClusterOptions {
  /** Default: in memory, gone with the process. */
  readonly store?: StoreConfig;
  /** Default: the real time. */
  readonly clock?: Clock;
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

/** Something that runs. */
export interface ClusterPart {
  readonly name: string;
  /** What a person would like to know of it: its kind, its place. */
  readonly description: string;
}

export interface Cluster extends AsyncDisposable {
  readonly parts: readonly ClusterPart[];
  /** Stops everything; resolves when nothing of it is left. A second call waits for the same. */
  close(): Promise<void>;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { store: config = { driver: "memory" }, clock = realClock, log = silentLogger } = options;
  await using starting = new Disposables();
  const store = await openStore(config, { clock, log: log.with({ part: "store" }) });
  starting.defer(() => store.close());
  startStoreLoops(store, { clock, log }, starting);

  const running = starting.move();
  return {
    parts: [{ name: "store", description: describeStore(config) }],
    close: () => running[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

function startStoreLoops(store: Store, context: { readonly clock: Clock; readonly log: Logger }, owner: Disposables): void {
  for (const start of [startExpiry, startCompaction]) {
    const loop = start(store, context);
    owner.defer(() => loop.stop());
  }
}

function describeStore(config: StoreConfig): string {
  switch (config.driver) {
    case "memory":
      return "in memory, gone when this process ends";
    case "embedded":
      return `in ${config.dataDirectory}`;
    case "etcd":
      return `in etcd at ${config.servers.join(", ")}`;
  }
}
