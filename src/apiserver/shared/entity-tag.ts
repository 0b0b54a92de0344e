/** Entity tags of documents: what a client kept is still true if the hash of what it kept is. */
import { sha256Hex } from "../../base/crypto/hash.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";

/** The hash itself; in headers it stands in quotes. */
export function hashOf(bytes: Uint8Array): string {
  return sha256Hex(bytes);
}

export function entityTag(hash: string): string {
  return `"${hash}"`;
}

/** Whether the client says that it has what has this hash. */
export function hasAlready(request: ExchangeRequest, hash: string): boolean {
  const known = request.header("if-none-match");
  if (known === undefined) return false;
  return known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === entityTag(hash) || tag.trim() === "*");
}
