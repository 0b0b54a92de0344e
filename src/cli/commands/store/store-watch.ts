/** `k8ts store watch PREFIX`: prints changes in a running cluster's store. */
import { defineCommand, type Io } from "../../framework/command.ts";
import type { WatchEnd } from "../../../store/store.ts";
import { connectStore, explainEnd } from "../../../components/store/connect-store.ts";
import type { StoreAccess } from "../../../components/store/protocol.ts";
import { printableChange } from "../../../components/store/shown-value.ts";
import { storedFlags, storedOptions, normalizeKey, withStored } from "../../shared/store-commands.ts";

export const storeWatch = defineCommand({
  description:
    "Print every change of keys that start with a prefix, one JSON object per line, until Ctrl-C. Requires a running cluster or etcd.",
  flags: {
    ...storedFlags,
    after: {
      type: "number",
      min: 1,
      placeholder: "REVISION",
      doc: "Start after this revision, which must not be compacted yet. Default: the newest revision.",
    },
  },
  arguments: { prefix: { doc: "Key prefix: at least a whole resource, such as /registry/pods/." } },
  examples: ["k8ts store watch /registry/pods/", "k8ts store watch /registry/leases/kube-node-lease/ --after 4711"],

  options(values, environment) {
    const stored = storedOptions(values, environment);
    return stored.ok ? { ok: true, options: { ...stored.options, after: values.after, prefix: values.prefix } } : stored;
  },

  async run({ store, after, prefix }, io) {
    if (store.driver === "embedded" && (await connectStore(store.dataDirectory, io.environment)) === undefined) {
      throw new Error(`Cannot watch the store of ${store.dataDirectory}: no cluster is running there; start it first (k8ts up)`);
    }
    await withStored(store, io, (opened) => printChanges(opened, normalizeKey(prefix, store), after, io));
  },
});

async function printChanges(store: StoreAccess, prefix: string, given: number | undefined, io: Io): Promise<void> {
  const after = given ?? (await store.currentRevision());
  const end = await new Promise<WatchEnd>((resolve) => {
    const watch = store.watch(
      prefix,
      { after },
      { changes: (changes) => changes.forEach((change) => io.out(printableChange(change))), ended: resolve },
    );
    io.signal.addEventListener("abort", () => watch.close());
    if (io.signal.aborted) watch.close();
  });
  if (io.signal.aborted) return;
  throw explainEnd(end, { prefix, after });
}
