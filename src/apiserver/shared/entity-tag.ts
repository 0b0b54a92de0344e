/** Entity tags of documents: a client's cached copy is current if its hash is. */
import { sha256Hex } from "../../base/crypto/hash.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";

/** The hash itself; quoted in headers. */
export function hashOf(bytes: Uint8Array): string {
  return sha256Hex(bytes);
}

export function entityTag(hash: string): string {
  return `"${hash}"`;
}

/** True if the client has the document with this hash. */
export function hasAlready(request: ExchangeRequest, hash: string): boolean {
  const known = request.header("if-none-match");
  if (known === undefined) return false;
  return known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === entityTag(hash) || tag.trim() === "*");
}
