/** `k8ts store get KEY`: prints one stored value. */
import { defineCommand } from "../../framework/command.ts";
import { printableKey, printableValue } from "../../../components/store/shown-value.ts";
import { revisionFlag, storedFlags, storedOptions, normalizeKey, withStored } from "../../shared/store-commands.ts";

export const storeGet = defineCommand({
  description:
    "Print the stored value of a key as JSON on one line. Protobuf values that kube-apiserver wrote to etcd are decoded; other values, such as encrypted ones, are printed as base64. Works while the cluster is running: the request then goes through its API server.",
  flags: { ...storedFlags, revision: revisionFlag },
  arguments: { key: { doc: "Key, as printed by k8ts store list; the prefix /registry is optional." } },
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
    const key = normalizeKey(typed, store);
    const entry = await withStored(store, io, (opened) => opened.get(key, revision === undefined ? {} : { revision }));
    if (entry === undefined) throw new Error(`Cannot find ${printableKey(key)}: the key does not exist; "k8ts store list" lists all keys`);
    io.out(printableValue(entry.value.bytes()));
  },
});
