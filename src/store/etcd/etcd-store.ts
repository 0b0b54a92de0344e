/**
 * The store on a real etcd cluster, shared by any number of API servers. Durable and ordered by etcd's quorum; this driver adds what the
 * contract guarantees on top of it: failover between members, "Uncertain" only when the outcome cannot be known, watches that survive
 * members and connections. The parts are beside this file; here they are composed.
 *
 * Keys are `<root><key>`, by default `/registry/pods/default/web`, as upstream's (key-space.ts). `capabilities.progress` follows the
 * versions of the members that were seen; where it is false a consistent read calls `currentRevision`.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { GrpcTls } from "../../host/grpc/channel.ts";
import { COMPACTION_KEY } from "../compaction.ts";
import { checkWatchPrefix } from "../key.ts";
import { prepareOperations } from "../operations.ts";
import { checkReadOptions } from "../read-options.ts";
import type {
  CommitResult,
  Entry,
  ListOptions,
  ListResult,
  Operation,
  ReadOptions,
  Store,
  StoreCapabilities,
  StoreStatistics,
  Watch,
  WatchListener,
} from "../store.ts";
import { closed, futureRevision, isStoreError, StoreError } from "../store-error.ts";
import { CompactedRevision } from "./compacted-revision.ts";
import { DEFAULT_TIMEOUTS, openEtcdCluster, type EtcdCluster, type EtcdTimeouts } from "./etcd-cluster.ts";
import { commitToEtcd, doesExpire } from "./etcd-commit.ts";
import { parseAddress, type EtcdAddress } from "./etcd-endpoint.ts";
import { COMPACT } from "./etcd-messages.ts";
import { EtcdReader } from "./etcd-reader.ts";
import { EtcdWatch } from "./etcd-watch.ts";
import { ExpiryLeases } from "./expiry-leases.ts";
import { DEFAULT_ROOT, KeySpace } from "./key-space.ts";
import { OwnWrites } from "../own-writes.ts";

export interface EtcdStoreOptions {
  /** `http://host:port` or `https://host:port`, all of one cluster. */
  readonly endpoints: readonly string[];
  /** For https endpoints. Without a CA Node's are trusted. */
  readonly tls?: GrpcTls;
  /** Prefix of every key; begins with a slash and does not end with one. Default: `/registry`. */
  readonly root?: string;
  /** Opening rejects with "Unsupported" if an earlier version of k8ts has written other keys under the root. Costs a read. */
  readonly refusesLegacyKeys?: boolean;
  readonly timeouts?: Partial<EtcdTimeouts>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Rejects with "Invalid", "Unusable", "Unavailable" or "Unsupported". */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const keys = new KeySpace(options.root ?? DEFAULT_ROOT);
  const addresses = addressesOf(options);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const { tls, clock, random, log } = options;
  const cluster = await openEtcdCluster({ addresses, tls, timeouts, clock, random, log });
  const store = new EtcdStore({ ...options, timeouts, cluster, keys });
  try {
    if (options.refusesLegacyKeys === true) await store.refuseLegacyKeys(options.root ?? DEFAULT_ROOT);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

interface EtcdStoreParts {
  readonly cluster: EtcdCluster;
  readonly keys: KeySpace;
  readonly timeouts: EtcdTimeouts;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

class EtcdStore implements Store {
  readonly capabilities: StoreCapabilities;
  readonly #parts: EtcdStoreParts;
  readonly #ownWrites = new OwnWrites();
  readonly #compaction: CompactedRevision;
  readonly #reader: EtcdReader;
  readonly #leases: ExpiryLeases;
  readonly #watches = new Set<EtcdWatch>();
  readonly #commitsUnderWay = new Set<Promise<unknown>>();
  #commits = 0;
  #closing: Promise<void> | undefined;

  constructor(parts: EtcdStoreParts) {
    const { cluster, keys, clock, log } = parts;
    this.#leases = new ExpiryLeases({ cluster, clock, log });
    this.#parts = parts;
    this.#compaction = new CompactedRevision({ cluster, keys, clock });
    this.#reader = new EtcdReader({ cluster, keys, ownWrites: this.#ownWrites, compaction: this.#compaction });
    this.capabilities = {
      get progress() {
        return cluster.hasProgress;
      },
      shared: true,
      durable: true,
    };
  }

  refuseLegacyKeys(root: string): Promise<void> {
    return this.#reader.refuseLegacyKeys(root);
  }

  async get(key: string, options: ReadOptions = {}): Promise<Entry | undefined> {
    this.#checkOpen(`get ${key}`);
    return this.#reader.get(key, options);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    this.#checkOpen(`list ${prefix}`);
    return this.#reader.list(prefix, options);
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen("read the newest revision");
    return this.#reader.currentRevision();
  }

  async commit(operations: readonly Operation[], options: { readonly signal?: AbortSignal } = {}): Promise<CommitResult> {
    this.#checkOpen("commit");
    const prepared = prepareOperations(operations);
    const commit = this.#commit(prepared, options.signal);
    this.#commitsUnderWay.add(commit);
    return commit.finally(() => this.#commitsUnderWay.delete(commit));
  }

  watch(prefix: string, { after }: { readonly after: number }, listener: WatchListener): Watch {
    this.#checkOpen(`watch ${prefix}`);
    checkWatchPrefix(prefix);
    if (!Number.isSafeInteger(after) || after < 0) {
      throw new StoreError("Invalid", `Cannot watch ${prefix}: a revision is a whole number, is ${after}`);
    }
    const { cluster, keys, clock, random, log } = this.#parts;
    const watch = new EtcdWatch({
      cluster,
      clock,
      random,
      log,
      prefix,
      after,
      listener,
      compaction: this.#compaction,
      entryOf: (kv) => this.#reader.entryOf(kv),
      range: keys.rangeOf(prefix),
      whenClosed: () => void this.#watches.delete(watch),
    });
    this.#watches.add(watch);
    return watch;
  }

  async compact(revision: number): Promise<void> {
    const action = `compact to revision ${revision}`;
    this.#checkOpen(action);
    checkReadOptions({ revision });
    if (revision <= this.#compaction.revision) return;
    try {
      await this.#parts.cluster.read(action, (endpoint, options) => endpoint.call(COMPACT, { revision }, options));
    } catch (error) {
      if (isStoreError(error, "FutureRevision")) throw futureRevision(revision, await this.currentRevision());
      if (!isStoreError(error, "Compacted")) throw error; // Another API server was faster, or went further.
    }
    this.#compaction.learn(revision);
  }

  async statistics(): Promise<StoreStatistics> {
    this.#checkOpen("read the statistics");
    const [{ dbSize, dbSizeInUse }, { keys, revision }, compactedRevision] = await Promise.all([
      this.#parts.cluster.read("read the status of etcd", (endpoint, options) => endpoint.status(options)),
      this.#reader.count(),
      this.#compactedRevision(),
    ]);
    return {
      driver: "etcd",
      revision,
      compactedRevision,
      keys,
      sizeBytes: dbSize,
      usedBytes: dbSizeInUse,
      watches: this.#watches.size,
      commits: this.#commits,
      syncs: this.#commits, // Each transaction waits for the quorum by itself.
    };
  }

  /** Others compact, too: the known value is correct exactly if it can still be read. */
  async #compactedRevision(): Promise<number> {
    const known = Math.max(1, this.#compaction.revision);
    try {
      await this.#reader.get(COMPACTION_KEY, { revision: known });
      return known;
    } catch (error) {
      if (isStoreError(error, "Compacted")) return this.#compaction.revision;
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #commit(operations: readonly Operation[], signal: AbortSignal | undefined): Promise<CommitResult> {
    const { cluster, keys, timeouts } = this.#parts;
    const ended = this.#ownWrites.begin(operations);
    let revision: number | undefined;
    try {
      const granting = this.#leaseFor(operations);
      const lease = granting === undefined ? undefined : await granting;
      const result = await commitToEtcd({ cluster, keys, timeouts, lease, entryOf: (kv) => this.#reader.entryOf(kv) }, operations, signal);
      if (result.committed) {
        revision = result.revision;
        this.#commits += 1;
      }
      return result;
    } finally {
      ended(revision);
    }
  }

  #leaseFor(operations: readonly Operation[]): Promise<bigint | undefined> | undefined {
    let latestMs = -Infinity;
    let keys = 0;
    for (const operation of operations) {
      if (operation.type === "delete" || !doesExpire(operation)) continue;
      latestMs = Math.max(latestMs, operation.expiresAtMs ?? latestMs);
      keys += 1;
    }
    return latestMs === -Infinity ? undefined : this.#leases.leaseFor(latestMs, keys);
  }

  async #close(): Promise<void> {
    this.#parts.cluster.stopReading();
    for (const watch of this.#watches) watch.close();
    await Promise.allSettled(this.#commitsUnderWay);
    this.#parts.cluster.close();
  }

  #checkOpen(action: string): void {
    if (this.#closing !== undefined) throw closed(action);
  }
}

function addressesOf({ endpoints, tls }: EtcdStoreOptions): readonly EtcdAddress[] {
  if (endpoints.length === 0) throw new StoreError("Invalid", "Cannot open the etcd store: no endpoint is given");
  const addresses = [...new Set(endpoints)].map(parseAddress);
  const plain = addresses.find(({ secure }) => !secure);
  if (tls !== undefined && plain !== undefined) {
    throw new StoreError("Invalid", `Cannot use etcd endpoint ${plain.url} with certificates: it must begin with https://`);
  }
  return addresses;
}
