/** The claims of tokens that TokenRequest issues. authentication/service-account-token/bound-token.ts reads them. */
import { serviceAccountIdentity } from "../../api/identities.ts";
import type { JsonObject } from "../../api/machinery/object.ts";

export interface ObjectClaim {
  readonly name: string;
  /** "" if unknown. */
  readonly uid: string;
}

/** Claims of a new token. */
export interface BoundClaims {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly id: string;
  readonly nowMs: number;
  readonly expirationSeconds: number;
  /** When the client should request a new token, if the token lives longer than that. */
  readonly warnAfterSeconds?: number;
  readonly namespace: string;
  readonly serviceAccount: ObjectClaim;
  readonly pod?: ObjectClaim;
  readonly secret?: ObjectClaim;
  /** The bound object, or the Pod's node. */
  readonly node?: ObjectClaim;
}

export function boundPayload(claims: BoundClaims): JsonObject {
  const { issuer, audiences, id, nowMs, expirationSeconds, warnAfterSeconds, namespace, serviceAccount } = claims;
  const now = Math.floor(nowMs / 1_000);
  return {
    iss: issuer,
    sub: serviceAccountIdentity(namespace, serviceAccount.name).name,
    aud: audiences,
    iat: now,
    nbf: now,
    exp: now + expirationSeconds,
    jti: id,
    "kubernetes.io": {
      namespace,
      serviceaccount: writeObjectClaim(serviceAccount),
      ...(claims.pod === undefined ? {} : { pod: writeObjectClaim(claims.pod) }),
      ...(claims.secret === undefined ? {} : { secret: writeObjectClaim(claims.secret) }),
      ...(claims.node === undefined ? {} : { node: writeObjectClaim(claims.node) }),
      ...(warnAfterSeconds === undefined ? {} : { warnafter: now + warnAfterSeconds }),
    },
  };
}

function writeObjectClaim({ name, uid }: ObjectClaim): JsonObject {
  return uid === "" ? { name } : { name, uid };
}
