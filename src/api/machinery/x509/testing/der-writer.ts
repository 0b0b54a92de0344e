/** Writes DER for tests beyond what certificates need (der-writer.ts): of any bytes, malformed ones too. */
import { TAG } from "../der.ts";
import { element, type Content } from "../der-writer.ts";

export function integer(...bytes: readonly number[]): Uint8Array {
  return element(TAG.integer, bytes);
}

export function bitString(...contents: readonly Content[]): Uint8Array {
  return element(TAG.bitString, [0], ...contents);
}

export function text(tag: number, value: string): Uint8Array {
  return element(tag, new TextEncoder().encode(value));
}
