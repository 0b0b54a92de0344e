/**
 * JSON Web Tokens in signed compact form: `header.payload.signature`. Parsing does not verify; `checkSignature` does, and takes the
 * algorithm from the key, not from the token: a token can choose only among the algorithms of its key, and no key allows "none" or a shared
 * secret. Not here: writing them (api/machinery/codec/json-web-token-writer.ts), the meaning of claims (bound-token.ts, legacy-token.ts).
 */
import { isJsonSyntaxError, parseJson } from "../../api/machinery/codec/json.ts";
import { isObject, type JsonObject } from "../../api/machinery/object.ts";
import type { SignatureAlgorithm, Verifier } from "../../base/crypto/signing.ts";
import { AuthenticationError } from "../framework/authentication.ts";
import { decodeBase64Url } from "../../api/machinery/codec/base64-url.ts";

/** Real tokens have one or two thousand characters, and no request header holds more than this; longer ones are rejected unparsed. */
export const TOKEN_LENGTH_MAX = 256 * 1024;

/** Upstream's message, which names its library: reviews show it. */
const BAD_SIGNATURE = "go-jose/go-jose: error in cryptographic primitive";

export interface SignedToken {
  /** As in the token; "" if absent. */
  readonly algorithm: string;
  /** "" if absent. */
  readonly keyId: string;
  /** The header has critical extensions (`crit`), none of which is supported. */
  readonly hasCriticalHeaders: boolean;
  readonly payload: JsonObject;
  /** A duplicate claim, if any: such a token is ambiguous. */
  readonly repeatedClaim?: string;
  /** The signed text. */
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** undefined: not a JSON Web Token. */
export function readToken(text: string): SignedToken | undefined {
  if (text.length > TOKEN_LENGTH_MAX) return undefined;
  const [head = "", body = "", end, ...more] = text.split(".");
  if (end === undefined || more.length > 0) return undefined;
  const header = readPart(head);
  const payload = readPart(body);
  const signature = decodeBase64Url(end);
  if (header === undefined || payload === undefined || signature === undefined || header.repeated !== undefined) return undefined;
  const { alg, kid = "", crit } = header.value;
  if (typeof kid !== "string") return undefined;
  return {
    algorithm: typeof alg === "string" ? alg : "",
    keyId: kid,
    hasCriticalHeaders: crit !== undefined,
    payload: payload.value,
    ...(payload.repeated === undefined ? {} : { repeatedClaim: payload.repeated }),
    message: new TextEncoder().encode(`${head}.${body}`),
    signature,
  };
}

/** Throws an AuthenticationError if no key verifies the signature. */
export function checkSignature(token: SignedToken, verifiers: readonly Verifier[]): void {
  const keys = token.keyId === "" ? verifiers : verifiers.filter(({ keyId }) => keyId === token.keyId);
  if (keys.length === 0) throw new AuthenticationError("invalid signature, no keys found");
  if (token.hasCriticalHeaders || !keys.some((key) => hasSigned(key, token))) throw new AuthenticationError(BAD_SIGNATURE);
}

function hasSigned(key: Verifier, { algorithm, message, signature }: SignedToken): boolean {
  const allowed = key.algorithms.find((candidate: SignatureAlgorithm) => candidate === algorithm);
  return allowed !== undefined && key.verify(message, signature, allowed);
}

function readPart(text: string): { readonly value: JsonObject; readonly repeated: string | undefined } | undefined {
  const bytes = decodeBase64Url(text);
  if (bytes === undefined) return undefined;
  try {
    const { value, duplicates } = parseJson(bytes);
    return isObject(value) ? { value, repeated: duplicates[0] } : undefined;
  } catch (error) {
    if (isJsonSyntaxError(error)) return undefined;
    throw error;
  }
}
