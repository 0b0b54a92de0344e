/** Writes JSON Web Tokens in signed compact form. Not here: reading and verifying them (apiserver/shared/json-web-token.ts). */
import type { Signer } from "../../../base/crypto/signing.ts";
import type { JsonObject } from "../object.ts";
import { encodeBase64Url } from "./base64-url.ts";
import { writeStableJson } from "./stable-json.ts";

/** A key that signs tokens, and the id that they name it by. */
export interface TokenSigner {
  readonly signer: Signer;
  readonly keyId: string;
}

/** Members are sorted by name, as upstream. */
export function writeToken(payload: JsonObject, { signer, keyId }: TokenSigner): string {
  const message = `${writePart({ alg: signer.algorithm, kid: keyId })}.${writePart(payload)}`;
  return `${message}.${encodeBase64Url(signer.sign(new TextEncoder().encode(message)))}`;
}

function writePart(value: JsonObject): string {
  return encodeBase64Url(new TextEncoder().encode(writeStableJson(value)));
}
