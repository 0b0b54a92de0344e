/** `k8ts store restore FILE`: creates an embedded store from a snapshot, with the same revisions. */
import { sha256 } from "../../../host/crypto/hash.ts";
import { readFilePieces } from "../../../host/files/files.ts";
import { readSnapshot } from "../../../store/snapshot.ts";
import type { RestorableStore, Store } from "../../../store/store.ts";
import { defineCommand, type Environment } from "../../framework/command.ts";
import { chooseHome } from "../../../cluster/home/home-flags.ts";
import { connectStore } from "../../../components/store/connect-store.ts";
import { nameFlag, storedFlags, withStore } from "../../shared/store-commands.ts";

export const storeRestore = defineCommand({
  description:
    "Restore a snapshot into an empty data directory in which no cluster is running. Objects keep their revisions. A corrupt snapshot is rejected as a whole. Restoring into etcd is not supported, because etcd assigns a new revision to every write.",
  flags: { name: nameFlag, "data-dir": storedFlags["data-dir"] },
  arguments: { file: { doc: "Snapshot file written by k8ts store snapshot." } },
  examples: ["k8ts store restore backup.k8ts --name copy", "k8ts store restore backup.k8ts --data-dir /srv/k8ts"],

  options(values, environment) {
    const home = chooseHome(values, environment);
    if (!home.ok) return home;
    const store = { driver: "embedded", dataDirectory: home.options.directory } as const;
    return { ok: true, options: { store, file: values.file } };
  },

  async run({ store, file }, io) {
    await checkStopped(store.dataDirectory, io.environment);
    const snapshot = await readSnapshot(readFilePieces(file), sha256());
    await withStore(store, io, (opened) => restorable(opened).restore(snapshot.entries, snapshot.revision));
    io.out(`Restored revision ${snapshot.revision} from ${file}`);
  },
});

async function checkStopped(directory: string, environment: Environment): Promise<void> {
  if ((await connectStore(directory, environment)) === undefined) return;
  throw new Error(
    `Cannot restore into ${directory}: a cluster is running there; stop it first (k8ts down), or restore into another directory`,
  );
}

function restorable(store: Store): RestorableStore {
  if (!("restore" in store))
    throw new Error(
      "Cannot restore into this store: only the embedded store is supported; choose its data directory with --name or --data-dir",
    );
  return store as RestorableStore;
}
