/**
 * The state of a cluster in a file, with the time at which it was taken: the format of `k8ts store snapshot` (store/snapshot.ts), and
 * behind its end one line with the time, which readers of that format do not read.
 */
import type { Clock } from "../../base/clock.ts";
import { readFilePieces, readTail, writeFileWhole } from "../../host/files.ts";
import { sha256 } from "../../host/hash.ts";
import { readSnapshot, writeSnapshot } from "../../store/snapshot.ts";
import type { RestorableStore, Store } from "../../store/store.ts";
import { openStore } from "../open-store.ts";
import type { StoreConfig } from "../store-config.ts";
import { silentLogger } from "../../base/logger.ts";

const TIME_LINE = /\nk8ts-time (-?\d{1,16})\n$/;
/** The longest that matches, in bytes. */
const TIME_LINE_BYTES_MAX = 30;

export async function writeSnapshotFile(file: string, store: Store, { nowMs }: { readonly nowMs: number }): Promise<void> {
  await writeFileWhole(file, withTime(writeSnapshot(store, sha256()), nowMs));
}

async function* withTime(pieces: AsyncGenerator<Uint8Array, unknown>, nowMs: number): AsyncGenerator<Uint8Array, void> {
  yield* pieces;
  yield new TextEncoder().encode(`\nk8ts-time ${nowMs}\n`);
}

export interface SnapshotFile {
  /** Absent: `k8ts store snapshot` wrote it, which does not know a cluster's time. */
  readonly takenAtMs: number | undefined;
  /** A new store with what is in the file. */
  open(context: { readonly clock: Clock; readonly config: StoreConfig }): Promise<Store>;
}

export async function openSnapshotFile(file: string): Promise<SnapshotFile> {
  const time = TIME_LINE.exec(new TextDecoder().decode(await readTail(file, TIME_LINE_BYTES_MAX)));
  return {
    takenAtMs: time === null ? undefined : Number(time[1]),
    async open({ clock, config }) {
      const store = await openStore(config, { clock, log: silentLogger });
      try {
        if (!("restore" in store)) throw new Error(`Cannot restore ${file} into this store: leave \`store\` out, or name an empty data directory`);
        await clock.external(restore(store as RestorableStore, file));
        return store;
      } catch (error) {
        await store.close();
        throw error;
      }
    },
  };
}

async function restore(store: RestorableStore, file: string): Promise<void> {
  const snapshot = await readSnapshot(readFilePieces(file), sha256());
  await store.restore(snapshot.entries, snapshot.revision);
}
