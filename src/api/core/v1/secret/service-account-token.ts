/**
 * Secrets of type kubernetes.io/service-account-token: what the API server, which accepts their tokens, and the controllers, which write and
 * delete them, both know. Nothing here prints a token.
 */
import type { Secret, ServiceAccount } from "../../../generated/core/v1.ts";
import { serviceAccountIdentity } from "../../../identities.ts";
import type { JsonObject } from "../../../machinery/object.ts";

export const SERVICE_ACCOUNT_TOKEN_TYPE = "kubernetes.io/service-account-token";

/** Annotations that name the ServiceAccount of a token Secret. */
export const SERVICE_ACCOUNT_NAME_ANNOTATION = "kubernetes.io/service-account.name";
export const SERVICE_ACCOUNT_UID_ANNOTATION = "kubernetes.io/service-account.uid";

/** Label with the date of last use. */
export const LAST_USED_LABEL = "kubernetes.io/legacy-token-last-used";
/** Label set by the cleaner of unused tokens; removing it makes the token valid again. */
export const INVALID_SINCE_LABEL = "kubernetes.io/legacy-token-invalid-since";

/** ConfigMap in kube-system with the date since which the use of token Secrets is recorded, under the key `since`. */
export const TOKEN_TRACKING_CONFIG_MAP = "kube-apiserver-legacy-service-account-token-tracking";

export const LEGACY_ISSUER = "kubernetes/serviceaccount";
export const LEGACY_CLAIM_PREFIX = "kubernetes.io/serviceaccount/";

export function isServiceAccountToken({ type }: Secret): boolean {
  return type === SERVICE_ACCOUNT_TOKEN_TYPE;
}

/** Name of its ServiceAccount; "" if it has none. */
export function serviceAccountNameOf({ metadata }: Secret): string {
  return metadata.annotations?.[SERVICE_ACCOUNT_NAME_ANNOTATION] ?? "";
}

/** True if the account is the one that the annotations name: by uid, too, once it is known. */
export function isTokenOf({ metadata }: Secret, account: ServiceAccount): boolean {
  const { name, namespace, uid } = account.metadata;
  const { [SERVICE_ACCOUNT_NAME_ANNOTATION]: tokenName, [SERVICE_ACCOUNT_UID_ANNOTATION]: tokenUid = "" } = metadata.annotations ?? {};
  return metadata.namespace === namespace && tokenName === name && (tokenUid === "" || tokenUid === uid);
}

/** Claims of the token in a Secret. They have no expiration: the token is valid as long as the Secret holds it. */
export function legacyTokenClaims(account: ServiceAccount, secretName: string): JsonObject {
  const { name, namespace = "", uid = "" } = account.metadata;
  return {
    iss: LEGACY_ISSUER,
    sub: serviceAccountIdentity(namespace, name).name,
    [`${LEGACY_CLAIM_PREFIX}namespace`]: namespace,
    [`${LEGACY_CLAIM_PREFIX}secret.name`]: secretName,
    [`${LEGACY_CLAIM_PREFIX}service-account.name`]: name,
    [`${LEGACY_CLAIM_PREFIX}service-account.uid`]: uid,
  };
}
