/** `k8ts store restore FILE`: a new embedded store from a snapshot, with the same revisions. */
import { sha256 } from "../../host/hash.ts";
import { readFilePieces } from "../../host/files.ts";
import { readSnapshot } from "../../store/snapshot.ts";
import type { RestorableStore, Store } from "../../store/store.ts";
import { defineCommand } from "../command.ts";
import { storeConfig, storeFlags } from "../store-config.ts";
import { withStore } from "../stored.ts";

export const storeRestore = defineCommand({
  description:
    "Fills an empty data directory with a snapshot. Objects keep their revisions. A snapshot that is damaged restores nothing. An etcd cluster cannot be restored this way, since etcd gives every write a new revision.",
  flags: { "data-dir": storeFlags["data-dir"] },
  arguments: { file: { doc: "The snapshot, from k8ts store snapshot." } },
  examples: ["k8ts store restore backup.k8ts --data-dir /srv/k8ts"],

  options(values, environment) {
    const ofEmbedded = {
      store: "embedded",
      "etcd-servers": [],
      "etcd-prefix": undefined,
      "etcd-cafile": undefined,
      "etcd-certfile": undefined,
      "etcd-keyfile": undefined,
    } as const;
    const store = storeConfig({ ...ofEmbedded, "data-dir": values["data-dir"] }, environment);
    return store.ok ? { ok: true, options: { store: store.options, file: values.file } } : store;
  },

  async run({ store, file }, io) {
    const snapshot = await readSnapshot(readFilePieces(file), sha256());
    await withStore(store, io, (opened) => restorable(opened).restore(snapshot.entries, snapshot.revision));
    io.out(`Restored revision ${snapshot.revision} from ${file}`);
  },
});

function restorable(store: Store): RestorableStore {
  if (!("restore" in store)) throw new Error("Cannot restore into this store: choose a data directory of the embedded store");
  return store as RestorableStore;
}
