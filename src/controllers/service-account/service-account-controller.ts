/**
 * Every namespace has a ServiceAccount "default", under which its pods run unless they say otherwise: it is made when the namespace is,
 * and again when somebody deletes it. Not here: tokens (they are asked for), what the account may do (RBAC).
 */
import { namespaces } from "../../api/core/v1/namespace.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { defineController, onChange, watch, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { itself } from "../runtime/keys.ts";

const NAME = "default";

/** Keys are namespaces. */
export const serviceAccountController = defineController({
  name: "serviceaccount-controller",
  aliases: ["serviceaccount"],
  account: "service-account-controller",
  rules: [{ apiGroups: [""], resources: ["serviceaccounts"], verbs: ["create"] }],
  watches: [
    watch(namespaces, itself),
    watch(serviceAccounts, ({ is, object: { metadata } }) =>
      is === "deleted" && metadata.name === NAME ? [{ name: metadata.namespace ?? "" }] : [],
    ),
  ],
  reconcile,
});

async function reconcile({ name: namespace }: WorkKey, { read, write }: Pass): Promise<Outcome> {
  const found = read.get(namespaces, { name: namespace });
  if (found?.status?.phase !== "Active") return onChange;
  if (read.get(serviceAccounts, { namespace, name: NAME }) !== undefined) return onChange;
  try {
    await write.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME, namespace } });
  } catch (error) {
    // Somebody was first, or the namespace has begun to go.
    if (!isReason(error, "AlreadyExists") && !isNamespaceTerminating(error)) throw error;
  }
  return onChange;
}
