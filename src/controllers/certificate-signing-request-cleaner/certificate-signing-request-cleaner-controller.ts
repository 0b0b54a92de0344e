/**
 * Deletes CertificateSigningRequests that are no longer needed: kubelets create new ones all the time. Each is reconciled when it expires
 * and not before. Not here: when that is (clean-up-time.ts).
 */
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import { after, defineController, onChange, watch, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { itself } from "../runtime/keys.ts";
import { cleanUpAtMs } from "./clean-up-time.ts";

export const certificateSigningRequestCleanerController = defineController({
  name: "certificatesigningrequest-cleaner-controller",
  aliases: ["csrcleaner"],
  account: "certificate-controller",
  rules: [{ apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["delete"] }],
  watches: [watch(certificateSigningRequests, itself)],
  concurrency: 1,
  reconcile,
});

async function reconcile({ name }: WorkKey, { read, write, clock }: Pass): Promise<Outcome> {
  const found = read.get(certificateSigningRequests, { name });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return onChange;
  const dueMs = cleanUpAtMs(found) - clock.now();
  if (dueMs === Infinity) return onChange;
  if (dueMs > 0) return after(dueMs);
  const { uid = "", resourceVersion = "" } = found.metadata;
  await write.delete(certificateSigningRequests, { name }, { preconditions: { uid, resourceVersion } });
  return onChange;
}
