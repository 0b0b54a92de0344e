/**
 * Authenticates bootstrap tokens "<id>.<secret>" of joining machines, stored in the Secret bootstrap-token-<id> of kube-system. The user is
 * system:bootstrap:<id>; all its groups are below system:bootstrappers. A token that does not match its Secret is reported as unknown, as
 * upstream; the log gives the reason without the token.
 */
import {
  BOOTSTRAP_TOKEN_NAMESPACE,
  BOOTSTRAP_TOKEN_TYPE,
  bootstrapTokenName,
  bootstrapTokenValue,
  hasBootstrapTokenEnded,
} from "../../../api/core/v1/secret/bootstrap-token.ts";
import type { Secret } from "../../../api/generated/core/v1.ts";
import type { AuthenticatedToken, TokenAuthenticatorFactory } from "../../framework/authentication.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const SECRETS = { group: "", plural: "secrets" };
const DEFAULT_GROUP = "system:bootstrappers";
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

export const bootstrapTokens: TokenAuthenticatorFactory = ({ identity, objects, clock, log }) => {
  if (!identity.bootstrapTokens) return undefined;
  /** Cached while the Secret is this object. */
  const answers = new WeakMap<Secret, AuthenticatedToken>();
  return {
    name: "bootstrap token",
    authenticateToken(token) {
      const match = TOKEN.exec(token);
      if (match === null) return undefined;
      const [, id = "", secretPart = ""] = match;
      const name = bootstrapTokenName(id);
      return objects.get<Secret>(SECRETS, { namespace: BOOTSTRAP_TOKEN_NAMESPACE, name }).then((secret) => {
        if (secret === undefined) return undefined;
        const found = judge(secret, { id, secretPart, nowMs: clock.now() });
        if ("wrong" in found) {
          // Rate-limited: unauthenticated clients must not be able to flood the log.
          log.debug("Bootstrap token rejected", { secret: `${BOOTSTRAP_TOKEN_NAMESPACE}/${name}`, wrong: found.wrong });
          return undefined;
        }
        const answer = answers.get(secret) ?? { user: { name: `system:bootstrap:${id}`, groups: found.groups } };
        answers.set(secret, answer);
        return answer;
      });
    },
  };
};

interface BootstrapToken {
  readonly id: string;
  readonly secretPart: string;
  readonly nowMs: number;
}

/** Returns the user's groups, or what is wrong. */
export function judge(
  secret: Secret,
  { id, secretPart, nowMs }: BootstrapToken,
): { readonly groups: readonly string[] } | { readonly wrong: string } {
  if (secret.metadata.deletionTimestamp !== undefined) return { wrong: "is deleted and awaiting removal" };
  if (secret.type !== BOOTSTRAP_TOKEN_TYPE || secret.data === undefined)
    return { wrong: `has invalid type, expected ${BOOTSTRAP_TOKEN_TYPE}` };
  if (!isSame(bootstrapTokenValue(secret, "token-secret"), secretPart)) return { wrong: "has invalid value for key token-secret" };
  if (bootstrapTokenValue(secret, "token-id") !== id) return { wrong: "has invalid value for key token-id" };
  if (hasBootstrapTokenEnded(secret, nowMs)) return { wrong: "has expired" };
  if (bootstrapTokenValue(secret, "usage-bootstrap-authentication") !== "true")
    return { wrong: "not marked usage-bootstrap-authentication=true" };
  const groups = bootstrapTokenValue(secret, "auth-extra-groups");
  const extra = groups === "" ? [] : groups.split(",");
  if (!extra.every((group) => EXTRA_GROUP.test(group))) return { wrong: "has invalid value for key auth-extra-groups" };
  return { groups: [...new Set([DEFAULT_GROUP, ...extra])].toSorted() };
}

/** Constant-time comparison of texts of equal length. */
function isSame(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}
