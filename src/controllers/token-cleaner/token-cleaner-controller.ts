/** Bootstrap tokens that have ended are deleted, at that time. What they were for is over then already: nobody takes them any more. */
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
  // With its version, too: somebody may just have given it more time.
  await write.delete(secrets, key, { preconditions: { uid, resourceVersion } });
  return onChange;
}
