/**
 * Every namespace has a ServiceAccount "default", the default identity of its Pods: created with the namespace, and again when deleted. Not
 * here: tokens (TokenRequest), permissions (RBAC).
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
    // It was created concurrently, or the namespace is terminating.
    if (!isReason(error, "AlreadyExists") && !isNamespaceTerminating(error)) throw error;
  }
  return onChange;
}
