/**
 * Completes Secrets of type kubernetes.io/service-account-token with a token of their ServiceAccount, and deletes them when the account
 * does not exist. When such a Secret is deleted, the account no longer lists it; a deletion that no controller manager observes leaves the
 * reference, as upstream. Not here: the contents (completed-secret.ts), tokens that expire (TokenRequest of the API server).
 */
import { secrets } from "../../api/core/v1/secret.ts";
import { isServiceAccountToken, isTokenOf, serviceAccountNameOf } from "../../api/core/v1/secret/service-account-token.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import type { Secret, ServiceAccount } from "../../api/generated/core/v1.ts";
import { KUBE_CONTROLLER_MANAGER } from "../../api/identities.ts";
import type { TokenSigner } from "../../api/machinery/codec/json-web-token-writer.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import {
  defineController,
  onChange,
  watch,
  type Change,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../runtime/controller.ts";
import { keyOf, objectText } from "../runtime/keys.ts";
import { completedSecret, type TokenContents } from "./completed-secret.ts";

export interface ServiceAccountTokenSettings {
  /** Certificates in PEM. */
  readonly rootCa: string;
  /** Key of the tokens (--service-account-private-key-file). Absent: the controller does nothing. */
  readonly tokenSigner?: TokenSigner;
}

/** Token Secrets by the name of their account. */
const tokensByAccount = defineIndex(secrets, (secret) => (isServiceAccountToken(secret) ? [accountText(secret)] : []));

/** Kind of a key of an account that may list a deleted Secret. The name of the Secret follows. */
const REFERENCE = "reference:";

export function serviceAccountTokenController({ rootCa, tokenSigner }: ServiceAccountTokenSettings): Controller {
  return defineController({
    name: "serviceaccount-token-controller",
    aliases: ["serviceaccount-token"],
    // It existed before the accounts of controllers, whose tokens it wrote, and still has none of its own.
    account: KUBE_CONTROLLER_MANAGER.name,
    rules: [
      { apiGroups: [""], resources: ["secrets"], verbs: ["delete", "update"] },
      { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["get", "update"] },
    ],
    watches: [watch(secrets, keysOfSecret), watch(serviceAccounts, keysOfAccount)],
    start({ log }) {
      if (tokenSigner === undefined) {
        log.info("Secrets get no service account tokens: no private key is set");
        return () => Promise.resolve(onChange);
      }
      const contents = { rootCa, tokenSigner };
      return (key, pass) => (key.kind === undefined ? completeOrDelete(key, pass, contents) : removeReference(key, pass));
    },
  });
}

function accountText(secret: Secret): string {
  return objectText({ namespace: secret.metadata.namespace, name: serviceAccountNameOf(secret) });
}

function keysOfSecret({ is, object, previous }: Change<Secret>): readonly WorkKey[] {
  const isReplaced = previous !== undefined && previous.metadata.uid !== object.metadata.uid;
  if (is === "deleted") return isServiceAccountToken(object) ? [referenceKey(object)] : [];
  return [
    ...(isReplaced && isServiceAccountToken(previous) ? [referenceKey(previous)] : []),
    ...(isServiceAccountToken(object) ? [keyOf(object)] : []),
  ];
}

function referenceKey(secret: Secret): WorkKey {
  const { name, namespace } = secret.metadata;
  return { kind: `${REFERENCE}${name}`, namespace, name: serviceAccountNameOf(secret) };
}

/** An account that is deleted, or replaced by another of its name, takes its tokens with it. */
function* keysOfAccount({ is, object, previous }: Change<ServiceAccount>, read: Reader): Iterable<WorkKey> {
  if (is === "added" || (is === "updated" && object.metadata.uid === previous?.metadata.uid)) return;
  for (const token of read.indexed(tokensByAccount, objectText(object.metadata))) yield keyOf(token);
}

async function completeOrDelete(key: WorkKey, { read, write }: Pass, contents: TokenContents): Promise<Outcome> {
  const secret = read.get(secrets, key);
  if (secret === undefined || !isServiceAccountToken(secret) || secret.metadata.deletionTimestamp !== undefined) return onChange;
  const account = await accountOf(secret, { read, write });
  if (account === undefined) {
    await deleteToken(secret, write);
    return onChange;
  }
  const completed = completedSecret(secret, account, contents);
  // The contents of an immutable Secret can never be added.
  if (completed !== undefined && secret.immutable !== true) await write.update(secrets, completed);
  return onChange;
}

/** Undefined if it does not exist. The server is queried, because the informers may not have received a new account. */
async function accountOf(secret: Secret, { read, write }: Pick<Pass, "read" | "write">): Promise<ServiceAccount | undefined> {
  const key = { namespace: secret.metadata.namespace, name: serviceAccountNameOf(secret) };
  const known = read.get(serviceAccounts, key);
  if (known !== undefined && isTokenOf(secret, known)) return known;
  try {
    const found = await write.get(serviceAccounts, key);
    return isTokenOf(secret, found) ? found : undefined;
  } catch (error) {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  }
}

async function deleteToken({ metadata }: Secret, write: Pass["write"]): Promise<void> {
  const { namespace, name, uid = "" } = metadata;
  try {
    await write.delete(secrets, { namespace, name }, { preconditions: { uid } });
  } catch (error) {
    // It is deleted, or replaced by another Secret, whose change is reconciled.
    if (!isReason(error, "NotFound") && !isReason(error, "Conflict")) throw error;
  }
}

async function removeReference({ kind = "", namespace, name }: WorkKey, { read, write }: Pass): Promise<Outcome> {
  const secretName = kind.slice(REFERENCE.length);
  const account = read.get(serviceAccounts, { namespace, name });
  if (account?.secrets?.some((listed) => listed.name === secretName) !== true) return onChange;
  // Created again: the account lists the new one.
  if (read.get(secrets, { namespace, name: secretName }) !== undefined) return onChange;
  await write.update(serviceAccounts, { ...account, secrets: account.secrets.filter((listed) => listed.name !== secretName) });
  return onChange;
}
