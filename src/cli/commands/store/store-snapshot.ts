/** `k8ts store snapshot FILE`: writes the whole state to one file. */
import { sha256 } from "../../../host/crypto/hash.ts";
import { writeFileWhole } from "../../../host/files/files.ts";
import { explainFileError } from "../../../cluster/home/start-errors.ts";
import { writeSnapshot } from "../../../store/snapshot.ts";
import { defineCommand } from "../../framework/command.ts";
import { revisionFlag, storedFlags, storedOptions, withStored } from "../../shared/store-commands.ts";

export const storeSnapshot = defineCommand({
  description:
    "Write a consistent snapshot of a store, as of one revision, to a file for `k8ts store restore`. The file is created atomically and is readable only by its owner, because it contains the cluster's Secrets. Works while the cluster is running.",
  flags: { ...storedFlags, revision: revisionFlag },
  arguments: { file: { doc: "File to write the snapshot to. An existing file is replaced." } },
  examples: [
    "k8ts store snapshot backup.k8ts",
    "k8ts store snapshot backup.k8ts --name second",
    "k8ts store snapshot --etcd-servers http://127.0.0.1:2379 etcd.k8ts",
  ],

  options(values, environment) {
    const stored = storedOptions(values, environment);
    return stored.ok ? { ok: true, options: { ...stored.options, revision: values.revision, file: values.file } } : stored;
  },

  async run({ store, revision, file }, io) {
    const written = await withStored(store, io, (opened) =>
      writeFileWhole(file, writeSnapshot(opened, sha256(), revision)).catch((error: unknown) => {
        throw explainFileError(error, { action: `write ${file}`, flag: "FILE" });
      }),
    );
    io.out(`Wrote ${written.keys} keys at revision ${written.revision} to ${file}, hash ${written.hash}`);
  },
});
