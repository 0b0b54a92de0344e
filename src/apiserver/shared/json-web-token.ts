/**
 * JSON Web Tokens, signed and in their compact form: `header.payload.signature`. Reading one says nothing about whether it is good;
 * `checkSignature` does, and takes the algorithm from the key, not from the token: a token only chooses among those that its key
 * allows, and there is no key that allows "none" or a shared secret.
 * Not here: what the claims mean (bound-token.ts, legacy-token.ts).
 */
import { isJsonSyntaxError, parseJson } from "../../api/machinery/codec/json.ts";
import { writeStableJson } from "../../api/machinery/codec/stable-json.ts";
import { isObject, type JsonObject } from "../../api/machinery/object.ts";
import type { SignatureAlgorithm, Signer, Verifier } from "../../base/crypto/signing.ts";
import { AuthenticationError } from "../framework/authentication.ts";
import { decodeBase64Url, encodeBase64Url } from "../../api/machinery/codec/base64-url.ts";

/** Real ones have one or two thousand characters, and no header of a request holds more than this; longer ones are not even looked at. */
export const TOKEN_LENGTH_MAX = 256 * 1024;

/** As upstream says it, whose library it names: reviews show it. */
const BAD_SIGNATURE = "go-jose/go-jose: error in cryptographic primitive";

export interface SignedToken {
  /** As the token has it; "" if it does not say. */
  readonly algorithm: string;
  /** "" if it does not say. */
  readonly keyId: string;
  /** It asks for something to be understood (`crit`) that nobody here understands. */
  readonly hasCriticalHeaders: boolean;
  readonly payload: JsonObject;
  /** A claim that is there twice, if any is: then it is not known what was signed. */
  readonly repeatedClaim?: string;
  /** What was signed. */
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** undefined: it is no such token. */
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

/** Throws an AuthenticationError if none of the keys has signed it. */
export function checkSignature(token: SignedToken, verifiers: readonly Verifier[]): void {
  const keys = token.keyId === "" ? verifiers : verifiers.filter(({ keyId }) => keyId === token.keyId);
  if (keys.length === 0) throw new AuthenticationError("invalid signature, no keys found");
  if (token.hasCriticalHeaders || !keys.some((key) => hasSigned(key, token))) throw new AuthenticationError(BAD_SIGNATURE);
}

function hasSigned(key: Verifier, { algorithm, message, signature }: SignedToken): boolean {
  const allowed = key.algorithms.find((candidate: SignatureAlgorithm) => candidate === algorithm);
  return allowed !== undefined && key.verify(message, signature, allowed);
}

/** Members are in the order of their names, as upstream has them. */
export function writeToken(payload: JsonObject, { signer, keyId }: { readonly signer: Signer; readonly keyId: string }): string {
  const message = `${writePart({ alg: signer.algorithm, kid: keyId })}.${writePart(payload)}`;
  return `${message}.${encodeBase64Url(signer.sign(new TextEncoder().encode(message)))}`;
}

function writePart(value: JsonObject): string {
  return encodeBase64Url(new TextEncoder().encode(writeStableJson(value)));
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
