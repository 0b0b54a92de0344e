/** `k8ts store compact`: discards old revisions now; a running cluster does it periodically. */
import { defineCommand } from "../../framework/command.ts";
import { storedFlags, storedOptions, withStored } from "../../shared/store-commands.ts";

export const storeCompact = defineCommand({
  description:
    "Discard history older than a revision and reclaim its space for new writes. A running cluster compacts its store every few minutes; this command also works while it runs.",
  flags: {
    ...storedFlags,
    revision: {
      type: "number",
      min: 1,
      placeholder: "REVISION",
      doc: "Oldest revision to keep. Default: the newest, which discards all history.",
    },
  },
  arguments: {},
  examples: ["k8ts store compact", "k8ts store compact --revision 4711"],

  options(values, environment) {
    const stored = storedOptions(values, environment);
    return stored.ok ? { ok: true, options: { ...stored.options, revision: values.revision } } : stored;
  },

  async run({ store, revision }, io) {
    const compacted = await withStored(store, io, async (opened) => {
      const oldest = revision ?? (await opened.currentRevision());
      await opened.compact(oldest);
      return opened.statistics();
    });
    io.out(`Compacted to revision ${compacted.compactedRevision}; ${compacted.usedBytes} of ${compacted.sizeBytes} bytes in use`);
  },
});
