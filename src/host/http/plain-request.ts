/**
 * Reads a plain HTTP/1.1 request: one whose bytes are exactly one request, whole, in the simplest form that the protocol has. Everything
 * else is undefined here and left to Node's parser: a part of a request, more than one, other framing than Content-Length, an expectation,
 * an upgrade, a repeated header, unusual characters. So where a request ends is never a matter of interpretation. Pure.
 */
import type { Buffer } from "node:buffer";

export interface PlainRequest {
  readonly method: string;
  /** Path with its query, as received. */
  readonly target: string;
  /** Lower case, each once. */
  readonly names: readonly string[];
  /** In the order of `names`. */
  readonly values: readonly string[];
  readonly body: Uint8Array;
}

/** Longer ones are rare: tokens and selectors need a few KiB. */
const HEAD_BYTES_MAX = 8 * 1024;

/** Names are compared with each other, so there are few. */
const HEADERS_MAX = 32;

const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

const REQUEST_LINE = /^(GET|POST|PUT|PATCH|DELETE) \/[A-Za-z0-9\-._~%!$&'()*+,;=:@/?]* HTTP\/1\.1$/;

const VERSION_LENGTH = " HTTP/1.1".length;

const UNUSUAL_CHARACTER = /[^\t\x20-\x7e\r\n]/;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const LENGTH = /^[0-9]{1,9}$/;

/** Headers that change the framing, the connection or the protocol. */
const SPECIAL: ReadonlySet<string> = new Set([
  "transfer-encoding",
  "expect",
  "upgrade",
  "te",
  "trailer",
  "keep-alive",
  "proxy-connection",
  "http2-settings",
]);

export function readPlainRequest(bytes: Buffer): PlainRequest | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1 || end > HEAD_BYTES_MAX) return undefined;
  const head = bytes.toString("latin1", 0, end + 2);
  if (UNUSUAL_CHARACTER.test(head)) return undefined;
  const lineEnd = lineEndAfter(head, 0);
  const [, method] = REQUEST_LINE.exec(head.slice(0, lineEnd)) ?? [];
  if (lineEnd === -1 || method === undefined) return undefined;
  const names: string[] = [];
  const values: string[] = [];
  if (!readHeaders(bytes, head, lineEnd + 2, { names, values }) || !names.includes("host")) return undefined;
  const length = bodyLength(names, values);
  const start = end + 4;
  if (bytes.length !== start + length) return undefined;
  const target = bytes.toString("latin1", method.length + 1, lineEnd - VERSION_LENGTH);
  return { method, target, names, values, body: bytes.subarray(start) };
}

/** Index of the line's CR LF; -1 if one of the two stands alone before it, or none follows. */
function lineEndAfter(head: string, start: number): number {
  const end = head.indexOf("\r", start);
  return end !== -1 && head.charCodeAt(end + 1) === LF && head.indexOf("\n", start) === end + 1 ? end : -1;
}

interface Headers {
  readonly names: string[];
  readonly values: string[];
}

/**
 * Appends to both lists. False: not plain. Values are read from the bytes: a slice would retain the whole head for as long as
 * a caller keeps the value.
 */
function readHeaders(bytes: Buffer, head: string, start: number, { names, values }: Headers): boolean {
  for (let at = start; at < head.length;) {
    const end = lineEndAfter(head, at);
    const colon = head.indexOf(":", at);
    if (end === -1 || colon === -1 || colon > end || names.length >= HEADERS_MAX) return false;
    const name = lowerCaseName(head.slice(at, colon));
    const from = head.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1;
    const value = isTrimmed(head, from, end) ? bytes.toString("latin1", from, end) : undefined;
    if (name === undefined || value === undefined || names.includes(name) || !isPlain(name, value)) return false;
    names.push(name);
    values.push(value);
    at = end + 2;
  }
  return true;
}

/** Names that clients send, in their usual spelling. Of others the characters are checked. */
const KNOWN_NAMES: ReadonlyMap<string, string> = new Map(
  ["Host", "User-Agent", "Accept", "Accept-Encoding", "Authorization", "Content-Length", "Content-Type", "Connection"].flatMap((name) => [
    [name, name.toLowerCase()] as const,
    [name.toLowerCase(), name.toLowerCase()] as const,
  ]),
);

function lowerCaseName(name: string): string | undefined {
  return KNOWN_NAMES.get(name) ?? (TOKEN.test(name) ? name.toLowerCase() : undefined);
}

/** No further space surrounds the value. */
function isTrimmed(head: string, from: number, end: number): boolean {
  return from >= end ? from === end : !isSpace(head.charCodeAt(from)) && !isSpace(head.charCodeAt(end - 1));
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}

function isPlain(name: string, value: string): boolean {
  if (name === "connection") return value.toLowerCase() === "keep-alive";
  if (name === "content-length") return LENGTH.test(value);
  return !SPECIAL.has(name);
}

function bodyLength(names: readonly string[], values: readonly string[]): number {
  const index = names.indexOf("content-length");
  return index === -1 ? 0 : Number(values[index]);
}
