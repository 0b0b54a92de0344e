/**
 * PEM: binary in text, between a BEGIN and an END line. Parsed as Go does: incomplete blocks and surrounding text are skipped. Written in
 * lines of 64 characters.
 */
import { withoutTrailing } from "../../../base/text.ts";
import { Base64Error, decodeBase64, encodeBase64 } from "../codec/base64.ts";

export interface PemBlock {
  /** "CERTIFICATE REQUEST" */
  readonly type: string;
  /** Lines "name: value" before the contents; rarely used. */
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

const BEGIN = "-----BEGIN ";
const END = "\n-----END ";
const DASHES = "-----";

/** Writes one block. */
export function pemText(type: string, bytes: Uint8Array): string {
  const lines = encodeBase64(bytes).match(/.{1,64}/g) ?? [];
  return [`${BEGIN}${type}${DASHES}`, ...lines, `-----END ${type}${DASHES}`, ""].join("\n");
}

/** The blocks of a text, in order, parsed lazily. */
export function* pemBlocks(file: Uint8Array): Iterable<PemBlock> {
  // One character per byte: a block is ASCII only.
  const text = latin1(file);
  for (let at = 0; ;) {
    const found = nextBlock(text, at);
    if (found === undefined) return;
    yield found.block;
    at = found.end;
  }
}

function nextBlock(text: string, from: number): { readonly block: PemBlock; readonly end: number } | undefined {
  for (let at = from; ;) {
    const end = text.indexOf(END, at);
    if (end < 0) return undefined;
    // The last BEGIN before it: others have no END. An earlier one was tried already, and is not searched for again.
    const begin = at + text.slice(at, end + BEGIN.length).lastIndexOf(BEGIN);
    const found = begin < at || (begin > at && text[begin - 1] !== "\n") ? undefined : readBlock(text, begin + BEGIN.length, end);
    if (found !== undefined) return found;
    at = end + END.length;
  }
}

/** `from` is the offset of the type, `end` that of the END line's line break. */
function readBlock(text: string, from: number, end: number): { readonly block: PemBlock; readonly end: number } | undefined {
  const typeLine = readLine(text, from);
  if (!typeLine.text.endsWith(DASHES)) return undefined;
  const type = typeLine.text.slice(0, -DASHES.length);
  const body = skipHeaders(text, typeLine.next);
  if (body === undefined || (body.hasHeaders && body.at > end)) return undefined;
  const last = readLine(text, end + END.length);
  if (last.text !== type + DASHES) return undefined;
  const bytes = body.at < end ? decodeBody(text.slice(body.at, end)) : new Uint8Array(0);
  return bytes === undefined ? undefined : { block: { type, hasHeaders: body.hasHeaders, bytes }, end: last.next };
}

/** Undefined if the text ends in them. */
function skipHeaders(text: string, from: number): { readonly at: number; readonly hasHeaders: boolean } | undefined {
  for (let at = from; at < text.length;) {
    const line = readLine(text, at);
    if (!line.text.includes(":")) return { at, hasHeaders: at > from };
    at = line.next;
  }
  return undefined;
}

function decodeBody(text: string): Uint8Array | undefined {
  try {
    return decodeBase64(text.replace(/[ \t]/g, ""));
  } catch (error) {
    if (error instanceof Base64Error) return undefined;
    throw error;
  }
}

/** Without its line break and trailing blanks. */
function readLine(text: string, from: number): { readonly text: string; readonly next: number } {
  const lineFeed = text.indexOf("\n", from);
  const line = lineFeed < 0 ? text.slice(from) : text.slice(from, lineFeed).replace(/\r$/, "");
  return { text: withoutTrailing(line, " \t"), next: lineFeed < 0 ? text.length : lineFeed + 1 };
}

/** In chunks: a million arguments to one call are too many. */
const PART_BYTES = 8_192;

function latin1(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += PART_BYTES) parts.push(String.fromCharCode(...bytes.subarray(at, at + PART_BYTES)));
  return parts.join("");
}
