/** `k8ts store hash`: a hash of all contents, to compare two stores or a store with its snapshot. Reads every value. */
import { sha256 } from "../../../host/crypto/hash.ts";
import { hashState } from "../../../store/snapshot.ts";
import { defineCommand } from "../../framework/command.ts";
import { revisionFlag, storedFlags, storedOptions, withStored } from "../../shared/store-commands.ts";

export const storeHash = defineCommand({
  description:
    "Print the SHA-256 of all keys, values and revisions as of one revision. Equal hashes mean equal contents. Every value is read and its checksum verified, so corruption is detected. Works while the cluster is running.",
  flags: { ...storedFlags, revision: revisionFlag },
  arguments: {},
  examples: ["k8ts store hash", "k8ts store hash --revision 4711"],

  options(values, environment) {
    const stored = storedOptions(values, environment);
    return stored.ok ? { ok: true, options: { ...stored.options, revision: values.revision } } : stored;
  },

  async run({ store, revision }, io) {
    const { hash, keys, ...state } = await withStored(store, io, (opened) => hashState(opened, sha256(), revision));
    io.out(`${hash} revision ${state.revision}, ${keys} keys`);
  },
});
