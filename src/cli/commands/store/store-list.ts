/** `k8ts store list [PREFIX]`: lists the keys of a store in order. */
import { defineCommand, type Io } from "../../framework/command.ts";
import type { ListOptions } from "../../../store/store.ts";
import type { StoreAccess } from "../../../components/store/protocol.ts";
import { printableEntry, printableKey } from "../../../components/store/shown-value.ts";
import { revisionFlag, storedFlags, storedOptions, normalizeKey, withStored } from "../../shared/store-commands.ts";

/** Entries read at a time. */
const PAGE_ENTRIES = 50;

export const storeList = defineCommand({
  description:
    "Print the keys that start with a prefix, in order and as of one revision; with --values, one JSON object per line with key, revision and value. Control characters are escaped. Works while the cluster is running: the request then goes through its API server.",
  flags: {
    ...storedFlags,
    revision: revisionFlag,
    values: { type: "boolean", doc: "Also print revisions and values: one JSON object per line." },
  },
  arguments: { prefix: { doc: "Key prefix; the prefix /registry is optional. Default: all keys.", optional: true } },
  examples: ["k8ts store list", "k8ts store list /registry/pods/default/", "k8ts store list /registry/secrets/ --values --name second"],

  options(values, environment) {
    const stored = storedOptions(values, environment);
    const { revision, prefix = "", values: withValues } = values;
    return stored.ok ? { ok: true, options: { ...stored.options, revision, prefix, withValues } } : stored;
  },

  async run({ store, revision, prefix, withValues }, io) {
    const show = withValues ? printableEntry : ({ key }: { readonly key: string }) => printableKey(key);
    await withStored(store, io, async (opened) => {
      for await (const entry of entriesOf(opened, normalizeKey(prefix, store), revision, io)) io.out(show(entry));
    });
  },
});

async function* entriesOf(store: StoreAccess, prefix: string, revision: number | undefined, { signal }: Io) {
  let options: ListOptions = { limit: PAGE_ENTRIES, countRemaining: false, ...(revision === undefined ? {} : { revision }) };
  while (!signal.aborted) {
    const page = await store.list(prefix, options);
    yield* page.entries;
    if (page.remaining === 0) return;
    options = { ...options, revision: page.revision, startAfter: page.entries.at(-1)?.key ?? "" };
  }
}
