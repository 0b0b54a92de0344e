/** Deletes bootstrap tokens when they expire. They are no longer accepted then anyway. */
import { secrets } from "../../api/core/v1/secret.ts";
import { bootstrapTokenEndMs, isBootstrapToken } from "../../api/core/v1/secret/bootstrap-token.ts";
import { after, defineController, onChange, watch, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";

export const tokenCleanerController = defineController({
  name: "token-cleaner-controller",
  aliases: ["tokencleaner"],
  account: "token-cleaner",
  onlyIfNamed: true,
  rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["delete"] }],
  watches: [watch(secrets, ({ object }) => (isBootstrapToken(object) ? [keyOf(object)] : []))],
  concurrency: 1,
  reconcile,
});

async function reconcile(key: WorkKey, { read, write, clock }: Pass): Promise<Outcome> {
  const found = read.get(secrets, key);
  if (found === undefined || !isBootstrapToken(found) || found.metadata.deletionTimestamp !== undefined) return onChange;
  const endMs = bootstrapTokenEndMs(found);
  if (endMs === undefined) return onChange;
  const leftMs = endMs - clock.now();
  if (leftMs > 0) return after(leftMs);
  const { uid = "", resourceVersion = "" } = found.metadata;
  // With its resourceVersion, too: it may just have been extended.
  await write.delete(secrets, key, { preconditions: { uid, resourceVersion } });
  return onChange;
}
