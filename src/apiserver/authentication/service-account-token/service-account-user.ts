/** The user of a service account token, with extra fields from its claims. */
import { serviceAccountIdentity } from "../../../api/identities.ts";
import type { User } from "../../framework/request.ts";

const EXTRA = "authentication.kubernetes.io/";

export interface ServiceAccountToken {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `jti`; "" if absent. */
  readonly tokenId?: string;
  readonly pod?: { readonly name: string; readonly uid: string };
  readonly node?: { readonly name: string; readonly uid: string };
}

export function serviceAccountUser(token: ServiceAccountToken): User {
  const extra = extraOf(token);
  return {
    ...serviceAccountIdentity(token.namespace, token.name),
    uid: token.uid,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** Sorted by name, as upstream. */
function extraOf({ tokenId = "", pod, node }: ServiceAccountToken): Readonly<Record<string, readonly string[]>> {
  return {
    ...(tokenId === "" ? {} : { [`${EXTRA}credential-id`]: [`JTI=${tokenId}`] }),
    ...(node === undefined || node.name === "" ? {} : { [`${EXTRA}node-name`]: [node.name] }),
    ...(node === undefined || node.name === "" || node.uid === "" ? {} : { [`${EXTRA}node-uid`]: [node.uid] }),
    ...(pod === undefined || pod.name === "" || pod.uid === "" ? {} : { [`${EXTRA}pod-name`]: [pod.name], [`${EXTRA}pod-uid`]: [pod.uid] }),
  };
}
