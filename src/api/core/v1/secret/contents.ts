/**
 * The contents of a Secret or ConfigMap: values by key; bytes are base64 (RFC 4648, with padding). Sizes are computed without decoding,
 * since every write of every Secret needs them.
 */
import { decodeBase64, encodeBase64 } from "../../../machinery/codec/base64.ts";

export type Contents = Readonly<Record<string, string>>;

/**
 * Maximum total size of the values. Such an object is sent whole to every kubelet that needs it, and etcd accepts no more than 1.5 MiB at
 * once.
 */
export const CONTENTS_MAX_BYTES = 1024 * 1024;

export const IMMUTABLE = "field is immutable when `immutable` is set";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes of a text in UTF-8. */
export function textLength(text: string): number {
  return encoder.encode(text).length;
}

/** Decoded length of a base64 text. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}

export function encodeText(text: string): string {
  return encodeBase64(encoder.encode(text));
}

export function decodeText(base64: string): string {
  return decoder.decode(decodeBase64(base64));
}
