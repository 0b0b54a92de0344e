/**
 * Secrets with a bootstrap token "<id>.<secret>", with which a new machine joins: bootstrap-token-<id> in kube-system. A token is for
 * authentication (apiserver/authentication), for signing public cluster info (controllers/bootstrap-signer), or for both, and most of them
 * expire (controllers/token-cleaner). Nothing here prints a secret.
 */
import type { Secret } from "../../../generated/core/v1.ts";
import { Base64Error, decodeBase64 } from "../../../machinery/codec/base64.ts";
import { parseTime } from "../../../machinery/time.ts";

export const BOOTSTRAP_TOKEN_TYPE = "bootstrap.kubernetes.io/token";
export const BOOTSTRAP_TOKEN_NAMESPACE = "kube-system";

/** "<id>.<secret>" */
export interface BootstrapTokenParts {
  readonly id: string;
  readonly secret: string;
}

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const TOKEN_ID = /^[a-z0-9]{6}$/;

/** Undefined if it is not a bootstrap token. */
export function parseBootstrapToken(text: string): BootstrapTokenParts | undefined {
  const [, id, secret] = TOKEN.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

export function isBootstrapTokenId(text: string): boolean {
  return TOKEN_ID.test(text);
}

export type BootstrapTokenKey =
  | "token-id"
  | "token-secret"
  | "description"
  | "expiration"
  | "auth-extra-groups"
  | "usage-bootstrap-authentication"
  | "usage-bootstrap-signing";

const NAME = /^bootstrap-token-([a-z0-9]{6})$/;

export function bootstrapTokenName(id: string): string {
  return `bootstrap-token-${id}`;
}

export function isBootstrapToken({ type, metadata }: Secret): boolean {
  return type === BOOTSTRAP_TOKEN_TYPE && metadata.namespace === BOOTSTRAP_TOKEN_NAMESPACE;
}

/** "" if it is absent, or not text. */
export function bootstrapTokenValue(secret: Secret, key: BootstrapTokenKey): string {
  return new TextDecoder().decode(bytesOf(secret, key));
}

function bytesOf({ data = {} }: Secret, key: BootstrapTokenKey): Uint8Array {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  try {
    return decodeBase64(value ?? "");
  } catch (error) {
    if (error instanceof Base64Error) return new Uint8Array(0);
    throw error;
  }
}

/** Its expiration; undefined: never. A malformed time counts as expired. */
export function bootstrapTokenEndMs(secret: Secret): number | undefined {
  const expiration = bootstrapTokenValue(secret, "expiration");
  return expiration === "" ? undefined : (parseTime(expiration) ?? -Infinity);
}

export function hasBootstrapTokenEnded(secret: Secret, nowMs: number): boolean {
  return (bootstrapTokenEndMs(secret) ?? Infinity) <= nowMs;
}

/** A signing token. */
export interface SigningToken {
  readonly id: string;
  /** Its secret half. */
  readonly key: Uint8Array;
  /** Undefined: never. */
  readonly endMs: number | undefined;
}

/** Undefined if it must not sign, or has expired. */
export function signingTokenOf(secret: Secret, nowMs: number): SigningToken | undefined {
  const id = NAME.exec(secret.metadata.name)?.[1];
  const key = bytesOf(secret, "token-secret");
  if (!isBootstrapToken(secret) || id === undefined || bootstrapTokenValue(secret, "token-id") !== id || key.length === 0) return undefined;
  if (hasBootstrapTokenEnded(secret, nowMs) || bootstrapTokenValue(secret, "usage-bootstrap-signing") !== "true") return undefined;
  return { id, key, endMs: bootstrapTokenEndMs(secret) };
}
