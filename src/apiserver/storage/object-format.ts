/**
 * The JSON layout of objects of one resource: `{"kind":…,"apiVersion":…,"metadata":{` and then the rest, always in this order. So the
 * position where a resourceVersion is inserted, and the part that a typed list omits (kind and apiVersion), are known without parsing: a
 * response is a few small pieces and a slice of the stored bytes. managedFields come last in metadata; they are cut out before parsing,
 * since they are rarely needed.
 */
import { encodeUtf8 } from "../../base/utf8.ts";
import { parseJson, writeJson } from "../../api/machinery/codec/json.ts";
import { escapeForPages } from "../../api/machinery/codec/stable-json.ts";
import type { KubeObject, ObjectMeta } from "../../api/machinery/object.ts";
import type { ForeignReader } from "./foreign-value.ts";
import { keptBytes } from "./kept-bytes.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const MANAGED_FIELDS = ',"managedFields":[';

export interface ParsedObject {
  /** Without managedFields. */
  readonly object: KubeObject;
  /** The JSON text of managedFields; "" if none exist. */
  readonly managedFields: string;
}

export interface ObjectFormatOptions {
  readonly apiVersion: string;
  readonly kind: string;
  /** Reads values of another layout. Default: as JSON of the same version. */
  readonly readForeign?: ForeignReader | undefined;
  /** True if objects keep their own version, whatever `apiVersion` says. */
  readonly keepsVersion?: boolean;
}

export class ObjectFormat {
  readonly apiVersion: string;
  readonly kind: string;
  readonly #head: string;
  /** All of it is ASCII, so this is also the number of bytes. */
  readonly headLength: number;
  readonly #readForeign: ForeignReader | undefined;
  readonly #keepsVersion: boolean;

  constructor({ apiVersion, kind, readForeign, keepsVersion = false }: ObjectFormatOptions) {
    this.#readForeign = readForeign;
    this.#keepsVersion = keepsVersion;
    this.apiVersion = apiVersion;
    this.kind = kind;
    this.#head = this.#headOf(apiVersion);
    this.headLength = this.#head.length;
  }

  #headOf(apiVersion: string): string {
    return `{"kind":${JSON.stringify(this.kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`;
  }

  /** The stored form: without resourceVersion. */
  write(object: KubeObject, managedFields: string): Uint8Array {
    return encodeUtf8(this.writeText(object, managedFields), keptBytes);
  }

  writeText(object: KubeObject, managedFields: string): string {
    const { kind: _kind, apiVersion, metadata, ...rest } = object;
    // As Go's encoder: clients compare the raw text of some fields, such as the data of a ControllerRevision.
    const fields = escapeForPages(writeJson(rest));
    const owned = managedFields === "" ? "" : `,"managedFields":${managedFields}`;
    const head = this.#keepsVersion && apiVersion !== this.apiVersion ? this.#headOf(apiVersion) : this.#head;
    return `${head}${writeMetadata(metadata)}${owned}}${fields === "{}" ? "" : `,${fields.slice(1, -1)}`}}`;
  }

  /** Reads what `write` wrote; also other JSON with the same meaning, but slower. */
  read(bytes: Uint8Array): ParsedObject {
    const text = decoder.decode(bytes);
    const start = text.startsWith(this.#head) ? managedFieldsIn(text, this.headLength) : -1;
    if (start === -1) return splitManagedFields(parse(text) as KubeObject);
    const open = start + MANAGED_FIELDS.length - 1;
    const end = endOfArray(text, open);
    const cut = text.slice(0, start) + text.slice(end);
    return { object: parse(cut) as KubeObject, managedFields: text.slice(open, end) };
  }

  /** Bytes in the layout of `write`, whatever their origin. */
  normalise(bytes: Uint8Array): Uint8Array {
    if (this.#hasLayout(bytes)) return bytes;
    const { object, managedFields } = this.#readForeign === undefined ? this.read(bytes) : splitManagedFields(this.#readForeign(bytes));
    return this.write(object, managedFields);
  }

  /** Other writers that have the same order of members end it with a line break. */
  #hasLayout(bytes: Uint8Array): boolean {
    return hasHead(bytes, this.#head);
  }

  /** True if `write` would begin and end these bytes of an object of this version in the same way. */
  hasLayoutOf(apiVersion: string, bytes: Uint8Array): boolean {
    return hasHead(bytes, apiVersion === this.apiVersion ? this.#head : this.#headOf(apiVersion));
  }

  /** The text before the bytes after `headLength` in a whole object. Revision 0: none (a dry run). */
  headAt(revision: number): string {
    return revision === 0 ? this.#head : `${this.#head}"resourceVersion":"${revision}",`;
  }

  /** The same for an item of a typed list, which has no kind and apiVersion of its own. */
  itemHeadAt(revision: number): string {
    return revision === 0 ? `{"metadata":{` : `{"metadata":{"resourceVersion":"${revision}",`;
  }
}

function hasHead(bytes: Uint8Array, head: string): boolean {
  for (let index = 0; index < head.length; index++) if (bytes[index] !== head.charCodeAt(index)) return false;
  return bytes[bytes.length - 1] === CLOSE_BRACE;
}

/** The inside of the braces. resourceVersion is not stored: it is the revision of the write. */
function writeMetadata(metadata: ObjectMeta): string {
  const { resourceVersion: _resourceVersion, managedFields: _managedFields, ...kept } = metadata;
  return writeJson(kept).slice(1, -1);
}

/**
 * Index of `,"managedFields":[` in metadata, or -1. A quote inside a string is escaped, so these characters cannot be part of one; and
 * before the end of metadata no other member of this name has an array (labels and annotations are strings).
 */
function managedFieldsIn(text: string, from: number): number {
  const at = text.indexOf(MANAGED_FIELDS, from);
  if (at === -1) return -1;
  // A type with such a member elsewhere must not be mistaken: metadata may not be closed before.
  return isInsideMetadata(text, from, at) ? at : -1;
}

function isInsideMetadata(text: string, from: number, to: number): boolean {
  let depth = 1;
  for (let index = from; index < to; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) index = endOfString(text, index);
    else if (unit === OPEN_BRACE) depth++;
    else if (unit === CLOSE_BRACE && --depth === 0) return false;
  }
  return depth === 1;
}

function endOfArray(text: string, open: number): number {
  let depth = 0;
  for (let index = open; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) index = endOfString(text, index);
    else if (unit === OPEN_BRACKET) depth++;
    else if (unit === CLOSE_BRACKET && --depth === 0) return index + 1;
  }
  return text.length;
}

/** The index of the closing quote of the string that opens at `open`. */
function endOfString(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === BACKSLASH) index++;
    else if (unit === QUOTE) return index;
  }
  return text.length;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Output of `writeJson` has no duplicate keys and no great depth; only integers beyond 2^53 need the exact parser. */
const LONG_NUMBER = /\d{16}/;

function parse(text: string): Readonly<Record<string, unknown>> {
  return (LONG_NUMBER.test(text) ? parseJson(encoder.encode(text)).value : JSON.parse(text)) as Readonly<Record<string, unknown>>;
}

function splitManagedFields(object: KubeObject): ParsedObject {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return { object, managedFields: "" };
  return { object: { ...object, metadata }, managedFields: writeJson(managedFields) };
}
