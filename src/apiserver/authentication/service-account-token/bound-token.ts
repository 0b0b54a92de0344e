/**
 * Tokens issued by TokenRequest: they expire, and become invalid with the objects they are bound to (the service account always, and a Pod,
 * Secret or Node if requested). shared/bound-claims.ts encodes their claims.
 *
 * A token with an extended lifetime for old clients (`warnafter`) is as valid as any other: upstream records its use in the audit log and
 * does not notify the client.
 */
import type { JsonObject, KubeObject } from "../../../api/machinery/object.ts";
import { parseTime } from "../../../api/machinery/time.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { KindName } from "../../framework/objects.ts";
import { checkTimes, LEEWAY_MS, objectClaim, readCommonClaims, textClaim } from "./claims.ts";
import { serviceAccountUser } from "./service-account-user.ts";
import { NODES, PODS, SECRETS, SERVICE_ACCOUNTS, type Reference, type VerifiedToken } from "./verified-token.ts";
import type { ObjectClaim } from "../../shared/bound-claims.ts";

/** Throws an AuthenticationError if the claims are malformed. */
export function boundToken(payload: JsonObject): VerifiedToken {
  const common = readCommonClaims(payload);
  const own = objectClaim(payload["kubernetes.io"], "serviceaccount.kubernetes") ?? {};
  const namespace = textClaim(own["namespace"]);
  const account = readObjectClaim(own, "serviceaccount") ?? { name: "", uid: "" };
  const secret = readObjectClaim(own, "secret");
  const pod = readObjectClaim(own, "pod");
  const node = readObjectClaim(own, "node");
  const bindings: readonly Binding[] = [
    ...bindingTo(SECRETS, "secret", namespace, secret),
    ...bindingTo(PODS, "pod", namespace, pod),
    // A Pod is deleted with its node, so the node of a Pod's token is informative only.
    ...(pod === undefined ? bindingTo(NODES, "node", "", node) : []),
  ];
  const serviceAccount = { kind: SERVICE_ACCOUNTS, namespace, ...account };
  return {
    audiences: common.audiences,
    user: serviceAccountUser({
      namespace,
      ...account,
      tokenId: common.id,
      ...(pod === undefined ? {} : { pod }),
      ...(node === undefined ? {} : { node }),
    }),
    references: [serviceAccount, ...bindings],
    checkTimes: (nowMs) => checkTimes(common, nowMs),
    judge([foundAccount, ...found], nowMs) {
      checkAccount(serviceAccount, foundAccount, nowMs);
      for (const [index, binding] of bindings.entries()) checkBinding(binding, found[index], nowMs);
      return {};
    },
  };
}

interface Binding extends Reference {
  /** Name in messages. */
  readonly what: string;
  readonly uid: string;
}

function bindingTo(kind: KindName, what: string, namespace: string, claim: ObjectClaim | undefined): readonly Binding[] {
  return claim === undefined ? [] : [{ kind, what, namespace, ...claim }];
}

function readObjectClaim(own: JsonObject, name: string): ObjectClaim | undefined {
  const claim = objectClaim(own[name], "serviceaccount.ref");
  return claim === undefined ? undefined : { name: textClaim(claim["name"]), uid: textClaim(claim["uid"]) };
}

function checkAccount({ namespace, name, uid }: Reference, found: KubeObject | undefined, nowMs: number): void {
  // Upstream queries its own API, which rejects these two with its own messages.
  if (name === "") throw new AuthenticationError("resource name may not be empty");
  if (namespace === "") throw new AuthenticationError("the server could not find the requested resource");
  if (found === undefined) throw new AuthenticationError(`serviceaccounts "${name}" not found`);
  if (found.metadata.uid !== uid)
    throw new AuthenticationError(`service account UID (${found.metadata.uid}) does not match claim (${uid})`);
  if (isDeletionOverdue(found, nowMs)) throw new AuthenticationError(`service account ${namespace}/${name} has been deleted`);
}

const INVALIDATED = "service account token has been invalidated";

function checkBinding({ what, uid }: Binding, found: KubeObject | undefined, nowMs: number): void {
  if (found === undefined) throw new AuthenticationError(INVALIDATED);
  if (found.metadata.uid !== uid)
    throw new AuthenticationError(`${what} UID (${found.metadata.uid}) does not match service account ${what} ref claim (${uid})`);
  if (isDeletionOverdue(found, nowMs)) throw new AuthenticationError(INVALIDATED);
}

/** Deletion is overdue. Until then the Pod may need its token for a graceful shutdown. */
function isDeletionOverdue({ metadata: { deletionTimestamp } }: KubeObject, nowMs: number): boolean {
  const deletedAtMs = deletionTimestamp === undefined ? undefined : parseTime(deletionTimestamp);
  return deletedAtMs !== undefined && deletedAtMs < nowMs - LEEWAY_MS;
}
