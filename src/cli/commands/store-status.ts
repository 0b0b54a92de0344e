/** `k8ts store status`: what is in a store, in numbers. */
import type { StoreStatistics } from "../../store/store.ts";
import { defineCommand } from "../framework/command.ts";
import { storedFlags, storedOptions, withStored } from "../shared/store-commands.ts";

export const storeStatus = defineCommand({
  description:
    "Print the revisions, key count and size of a store. Works while the cluster is running: the request then goes through its API server.",
  flags: storedFlags,
  arguments: {},
  examples: ["k8ts store status", "k8ts store status --name second", "k8ts store status --data-dir /srv/k8ts"],
  options: (values, environment) => storedOptions(values, environment),

  async run({ store }, io) {
    for (const line of describe(await withStored(store, io, (opened) => opened.statistics()))) io.out(line);
  },
});

/** One line per number, names first, so that a script can cut them. */
export function describe({ driver, revision, compactedRevision, keys, sizeBytes, usedBytes }: StoreStatistics): string[] {
  return [
    `driver: ${driver}`,
    `revision: ${revision}`,
    `compacted revision: ${compactedRevision}`,
    `keys: ${keys}`,
    `size: ${sizeBytes} bytes, ${usedBytes} in use`,
  ];
}
