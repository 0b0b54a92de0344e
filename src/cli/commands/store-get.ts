/** `k8ts store get KEY`: one value as it is stored. */
import { defineCommand } from "../framework/command.ts";
import { shownKey, shownValue } from "../../components/store/shown-value.ts";
import { revisionFlag, storedFlags, storedOptions, typedKey, withStored } from "../shared/store-commands.ts";

export const storeGet = defineCommand({
  description:
    "Prints the value of one key as it is stored, as JSON on one line; also of a value that upstream's API server has written to etcd as protobuf. A value that is neither, such as an encrypted one, is printed as base64. The cluster may be running: its API server answers then.",
  flags: { ...storedFlags, revision: revisionFlag },
  arguments: { key: { doc: "The key, as k8ts store list shows it; /registry may precede it." } },
  examples: [
    "k8ts store get /registry/namespaces/default",
    "k8ts store get /registry/pods/default/web --revision 4711",
    "k8ts store get /registry/pods/default/web --etcd-servers http://127.0.0.1:2379",
  ],

  options(values, environment) {
    const stored = storedOptions(values, environment);
    return stored.ok ? { ok: true, options: { ...stored.options, revision: values.revision, key: values.key } } : stored;
  },

  async run({ store, revision, key: typed }, io) {
    const key = typedKey(typed, store);
    const entry = await withStored(store, io, (opened) => opened.get(key, revision === undefined ? {} : { revision }));
    if (entry === undefined) throw new Error(`Cannot find ${shownKey(key)}: there is no such key; "k8ts store list" shows all of them`);
    io.out(shownValue(entry.value.bytes()));
  },
});
