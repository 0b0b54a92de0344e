/** Secrets of the machine's own randomness, which nobody can guess from others. */
import { randomBytes } from "node:crypto";

/** 256 bits: more than anybody can try. */
const TOKEN_BYTES = 32;

/** A bearer token, of characters that need no quoting anywhere. */
export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}
