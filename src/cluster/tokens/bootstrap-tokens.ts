/** Bootstrap tokens as `k8ts token` shows and creates them: Secrets of kube-system, with kubeadm's defaults. */
import { randomInt } from "node:crypto";
import {
  BOOTSTRAP_TOKEN_NAMESPACE,
  BOOTSTRAP_TOKEN_TYPE,
  bootstrapTokenEndMs,
  bootstrapTokenName,
  bootstrapTokenValue,
  type BootstrapTokenKey,
  type BootstrapTokenParts,
} from "../../api/core/v1/secret/bootstrap-token.ts";
import { DEFAULT_NODE_TOKEN_GROUP } from "../../api/node-joining.ts";
import type { Secret } from "../../api/generated/core/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";

export const TOKEN_USAGES = ["signing", "authentication"] as const;
export const TOKEN_GROUPS = [DEFAULT_NODE_TOKEN_GROUP];

/** Groups of bootstrap tokens must be below this one: a token must not become an administrator. */
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** As `expects` of a flag. */
export function tokenGroupExpected(group: string): string | undefined {
  return GROUP.test(group) ? undefined : "a group that begins with system:bootstrappers:";
}

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

export function randomToken(): BootstrapTokenParts {
  const text = (length: number) => Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return { id: text(6), secret: text(16) };
}

export interface TokenOptions {
  /** 0: it never expires. */
  readonly ttlMs: number;
  readonly usages: readonly string[];
  readonly groups: readonly string[];
  readonly description?: string | undefined;
}

export function tokenSecret({ id, secret }: BootstrapTokenParts, options: TokenOptions, nowMs: number): Secret {
  const { ttlMs, usages, groups, description } = options;
  const values: Partial<Record<BootstrapTokenKey, string>> = {
    "token-id": id,
    "token-secret": secret,
    ...(ttlMs === 0 ? {} : { expiration: formatTime(nowMs + ttlMs) }),
    ...(description === undefined ? {} : { description }),
    ...(usages.includes("authentication") ? { "usage-bootstrap-authentication": "true" } : {}),
    ...(usages.includes("signing") ? { "usage-bootstrap-signing": "true" } : {}),
    // Groups are for authentication only.
    ...(usages.includes("authentication") && groups.length > 0 ? { "auth-extra-groups": groups.join(",") } : {}),
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: bootstrapTokenName(id), namespace: BOOTSTRAP_TOKEN_NAMESPACE },
    type: BOOTSTRAP_TOKEN_TYPE,
    data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
  };
}

export interface ShownToken {
  readonly token: string;
  /** RFC 3339. Absent: never. */
  readonly expires?: string;
  /** Time left. */
  readonly ttlMs?: number;
  readonly usages: readonly string[];
  readonly description?: string;
  readonly groups: readonly string[];
}

export function shownToken(secret: Secret, nowMs: number): ShownToken {
  const value = (key: BootstrapTokenKey) => bootstrapTokenValue(secret, key);
  const endMs = bootstrapTokenEndMs(secret);
  const [description, groups] = [value("description"), value("auth-extra-groups")];
  return {
    token: `${value("token-id")}.${value("token-secret")}`,
    ...(endMs === undefined ? {} : { expires: value("expiration"), ttlMs: Math.max(0, endMs - nowMs) }),
    usages: TOKEN_USAGES.filter((usage) => value(`usage-bootstrap-${usage}`) === "true"),
    ...(description === "" ? {} : { description }),
    groups: groups === "" ? [] : groups.split(","),
  };
}
