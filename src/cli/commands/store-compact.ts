/** `k8ts store compact`: forgets old history now, where a running cluster would do it by itself. */
import { defineCommand } from "../framework/command.ts";
import { storedFlags, storedOptions, withStored } from "../shared/store-commands.ts";

export const storeCompact = defineCommand({
  description:
    "Forgets the history before a revision and frees its space for new writes. A running cluster does this every few minutes by itself; it may be running while this command is used.",
  flags: {
    ...storedFlags,
    revision: {
      type: "number",
      min: 1,
      placeholder: "REVISION",
      doc: "The oldest revision to keep. Default: the newest, so that no history is left.",
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
    io.out(
      `History is kept since revision ${compacted.compactedRevision}; ${compacted.usedBytes} of ${compacted.sizeBytes} bytes hold data`,
    );
  },
});
