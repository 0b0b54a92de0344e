/**
 * Detached JSON Web Signature (RFC 7515, appendix F), as `kubeadm join` computes and compares it: a holder of a token can verify that a
 * public document was signed with that token.
 */
import { encodeBase64Url } from "../../../machinery/codec/base64-url.ts";
import { hmacSha256 } from "../../../../base/crypto/hash.ts";

/** "header..signature", with the token's id in the header and its secret as the key. */
export function detachedSignature(content: string, { id, key }: { readonly id: string; readonly key: Uint8Array }): string {
  const header = partOf(JSON.stringify({ alg: "HS256", kid: id }));
  return `${header}..${encodeBase64Url(hmacSha256(key, bytesOf(`${header}.${partOf(content)}`)))}`;
}

function partOf(text: string): string {
  return encodeBase64Url(bytesOf(text));
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
