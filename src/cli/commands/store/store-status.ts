/** `k8ts store status`: prints revision, key count and size of a store. */
import type { StoreStatistics } from "../../../store/store.ts";
import { defineCommand } from "../../framework/command.ts";
import { storedFlags, storedOptions, withStored } from "../../shared/store-commands.ts";

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

/** One `name: value` line each, for scripts. */
export function describe({ driver, revision, compactedRevision, keys, sizeBytes, usedBytes }: StoreStatistics): string[] {
  return [
    `driver: ${driver}`,
    `revision: ${revision}`,
    `compacted revision: ${compactedRevision}`,
    `keys: ${keys}`,
    `size: ${sizeBytes} bytes, ${usedBytes} in use`,
  ];
}
