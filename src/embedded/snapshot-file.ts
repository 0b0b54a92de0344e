/**
 * Snapshot of a cluster in a file, with its timestamp and nodes: the format of `k8ts store snapshot` (store/snapshot.ts) with a trailer
 * that readers of that format ignore. So each can read the other's files.
 */
import type { Clock } from "../base/clock.ts";
import { silentLogger } from "../base/logger.ts";
import { readFilePieces, readTail, writeFileWhole } from "../host/files/files.ts";
import { sha256 } from "../host/crypto/hash.ts";
import { readSnapshot, writeSnapshot } from "../store/snapshot.ts";
import type { RestorableStore, Store } from "../store/store.ts";
import type { NodesConfig } from "../components/simulated-nodes/simulated-nodes.ts";
import { openStore } from "../components/store/open-store.ts";
import type { StoreConfig } from "../config/store-config.ts";

/** State of a cluster outside of its store. */
export interface TakenWith {
  readonly nowMs: number;
  /** Without functions, which cannot be serialized. */
  readonly nodes: NodesConfig;
}

/** Contains the length of the preceding JSON. */
const LAST_LINE = /\nk8ts-cluster (\d{1,9})\n$/;
/** Longest match. */
const LAST_LINE_BYTES_MAX = 24;

export async function writeSnapshotFile(file: string, store: Store, takenWith: TakenWith): Promise<void> {
  try {
    await writeFileWhole(file, withMore(writeSnapshot(store, sha256()), takenWith));
  } catch (error) {
    throw new Error(`Cannot write a snapshot to ${file}: ${(error as Error).message}`, { cause: error });
  }
}

async function* withMore(pieces: AsyncGenerator<Uint8Array, unknown>, takenWith: TakenWith): AsyncGenerator<Uint8Array, void> {
  yield* pieces;
  const json = new TextEncoder().encode(JSON.stringify(takenWith));
  yield json;
  yield new TextEncoder().encode(`\nk8ts-cluster ${json.length}\n`);
}

export interface SnapshotFile {
  /** Absent, like `nodes`, in a file of `k8ts store snapshot`, which contains only the store. */
  readonly takenAtMs?: number;
  readonly nodes?: NodesConfig;
  /** Opens a new store with the contents of the file. */
  open(context: { readonly clock: Clock; readonly config: StoreConfig }): Promise<Store>;
}

/** Rejects with a message if the file does not exist. */
export async function openSnapshotFile(file: string): Promise<SnapshotFile> {
  const open: SnapshotFile["open"] = ({ clock, config }) => openRestored(file, config, clock);
  try {
    const takenWith = await readTakenWith(file);
    return takenWith === undefined ? { open } : { takenAtMs: takenWith.nowMs, nodes: takenWith.nodes, open };
  } catch (error) {
    throw new Error(`Cannot start from ${file}: ${(error as Error).message}`, { cause: error });
  }
}

async function readTakenWith(file: string): Promise<TakenWith | undefined> {
  const lastLine = LAST_LINE.exec(new TextDecoder("latin1").decode(await readTail(file, LAST_LINE_BYTES_MAX)));
  if (lastLine === null) return undefined;
  const jsonBytes = Number(lastLine[1]);
  const tail = await readTail(file, jsonBytes + lastLine[0].length);
  try {
    return JSON.parse(new TextDecoder().decode(tail.subarray(0, jsonBytes))) as TakenWith;
  } catch (error) {
    throw new Error("the snapshot is corrupt: its trailer cannot be read", { cause: error });
  }
}

async function openRestored(file: string, config: StoreConfig, clock: Clock): Promise<Store> {
  const store = await openStore(config, { clock, log: silentLogger });
  try {
    if (!isRestorable(store)) throw new Error("this store cannot be restored into; leave out `store`, or choose an empty data directory");
    await clock.external(restore(store, file));
    return store;
  } catch (error) {
    await store.close();
    throw new Error(`Cannot start from ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function isRestorable(store: Store): store is RestorableStore {
  return "restore" in store;
}

async function restore(store: RestorableStore, file: string): Promise<void> {
  const snapshot = await readSnapshot(readFilePieces(file), sha256());
  await store.restore(snapshot.entries, snapshot.revision);
}
