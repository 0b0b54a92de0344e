/**
 * Tokens with which a machine joins that has nothing else yet: "<id>.<secret>", kept in the Secret bootstrap-token-<id> of kube-system.
 * They show a user system:bootstrap:<id> whose groups are all under system:bootstrappers. A token that its Secret does not bear out is
 * one that nobody knows: upstream does not say more, and neither does this. The log says why, without the token.
 */
import { Base64Error, decodeBase64 } from "../../../api/machinery/codec/base64.ts";
import type { Secret } from "../../../api/generated/core/v1.ts";
import { parseTime } from "../../../api/machinery/time.ts";
import type { AuthenticatedToken, TokenAuthenticatorFactory } from "../../authentication.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const SECRETS = { group: "", plural: "secrets" };
const SECRET_TYPE = "bootstrap.kubernetes.io/token";
const DEFAULT_GROUP = "system:bootstrappers";
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

export const bootstrapTokens: TokenAuthenticatorFactory = ({ identity, objects, clock, log }) => {
  if (!identity.bootstrapTokens) return undefined;
  /** For as long as its Secret is this object. */
  const answers = new WeakMap<Secret, AuthenticatedToken>();
  return {
    name: "bootstrap token",
    authenticateToken(token) {
      const match = TOKEN.exec(token);
      if (match === null) return undefined;
      const [, id = "", secretPart = ""] = match;
      const name = `bootstrap-token-${id}`;
      return objects.get<Secret>(SECRETS, { namespace: "kube-system", name }).then((secret) => {
        if (secret === undefined) return undefined;
        const found = judge(secret, { id, secretPart, nowMs: clock.now() });
        if ("wrong" in found) {
          // Anybody can try, as often as they like: the log is not theirs to fill.
          log.debug("A bootstrap token is not good", { secret: `kube-system/${name}`, wrong: found.wrong });
          return undefined;
        }
        const answer = answers.get(secret) ?? { user: { name: `system:bootstrap:${id}`, groups: found.groups } };
        answers.set(secret, answer);
        return answer;
      });
    },
  };
};

interface ShownToken {
  readonly id: string;
  readonly secretPart: string;
  readonly nowMs: number;
}

/** The groups of its user, or what is wrong. */
export function judge(
  secret: Secret,
  { id, secretPart, nowMs }: ShownToken,
): { readonly groups: readonly string[] } | { readonly wrong: string } {
  if (secret.metadata.deletionTimestamp !== undefined) return { wrong: "is deleted and awaiting removal" };
  if (secret.type !== SECRET_TYPE || secret.data === undefined) return { wrong: `has invalid type, expected ${SECRET_TYPE}` };
  if (!isSame(valueOf(secret, "token-secret"), secretPart)) return { wrong: "has invalid value for key token-secret" };
  if (valueOf(secret, "token-id") !== id) return { wrong: "has invalid value for key token-id" };
  if (hasExpired(valueOf(secret, "expiration"), nowMs)) return { wrong: "has expired" };
  if (valueOf(secret, "usage-bootstrap-authentication") !== "true") return { wrong: "not marked usage-bootstrap-authentication=true" };
  const groups = valueOf(secret, "auth-extra-groups");
  const extra = groups === "" ? [] : groups.split(",");
  if (!extra.every((group) => EXTRA_GROUP.test(group))) return { wrong: "has invalid value for key auth-extra-groups" };
  return { groups: [...new Set([DEFAULT_GROUP, ...extra])].toSorted() };
}

/** "" if it is not there, or no text. */
function valueOf({ data = {} }: Secret, key: string): string {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined) return "";
  try {
    return new TextDecoder().decode(decodeBase64(value));
  } catch (error) {
    if (error instanceof Base64Error) return "";
    throw error;
  }
}

/** Takes the same time wherever two texts of one length differ. */
function isSame(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}

/** What is no time has passed. */
function hasExpired(expiration: string, nowMs: number): boolean {
  if (expiration === "") return false;
  const endMs = parseTime(expiration);
  return endMs === undefined || endMs <= nowMs;
}
