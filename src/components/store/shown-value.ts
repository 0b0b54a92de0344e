/**
 * Formats stored values and keys for a terminal: JSON as stored, protobuf (as upstream's API server writes it to etcd) as the JSON of the
 * same object, anything else as base64. Control characters are escaped.
 */
import { decodeEnvelope, decodeProtobuf, isEnvelope } from "../../api/machinery/codec/protobuf/protobuf.ts";
import { all as builtInResources } from "../../api/all.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import type { ObjectSchema } from "../../api/machinery/schema.ts";
import { schemaOf } from "../../api/schemas.ts";
import type { Change, Entry } from "../../store/store.ts";

/** Of control characters, and of those that change the direction of a line. */
const UNSAFE = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** JSON on one line. */
export function printableValue(bytes: Uint8Array): string {
  const text = storedJson(bytes) ?? JSON.stringify({ base64: Buffer.from(bytes).toString("base64") });
  // Line breaks and tabs of valid JSON are between its parts; in its texts they are escaped already.
  return text
    .replaceAll(/[\n\r\t]/g, " ")
    .trim()
    .replaceAll(UNSAFE, escaped);
}

/** As it is if it is harmless, else as a JSON string. */
export function printableKey(key: string): string {
  return key.search(UNSAFE) < 0 ? key : jsonText(key);
}

export function printableEntry({ key, revision, value }: Entry): string {
  return `{"key":${jsonText(key)},"revision":${revision},"value":${printableValue(value.bytes())}}`;
}

export function printableChange(change: Change): string {
  const { type, key, revision } = change;
  const value = change.type === "put" ? `,"value":${printableValue(change.value.bytes())}` : "";
  return `{"type":"${type}","key":${jsonText(key)},"revision":${revision}${value}}`;
}

function storedJson(bytes: Uint8Array): string | undefined {
  try {
    if (isEnvelope(bytes)) return JSON.stringify(decodeStoredProtobuf(bytes));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    return undefined; // Encrypted, of a kind that is not known here, or no object at all.
  }
}

function decodeStoredProtobuf(bytes: Uint8Array): JsonObject {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes);
  const schema = schemaOfKind(apiVersion, kind);
  if (schema === undefined) throw new Error(`There is no built-in kind ${kind} of ${apiVersion}`);
  return { apiVersion, kind, ...decodeProtobuf(raw, schema) };
}

function schemaOfKind(apiVersion: string, kind: string): ObjectSchema | undefined {
  for (const resource of builtInResources) {
    if (resource.kind !== kind) continue;
    const served = resource.served.find(({ group, version }) => (group === "" ? version : `${group}/${version}`) === apiVersion);
    if (served !== undefined) return schemaOf(served.schema);
  }
  return undefined;
}

function jsonText(text: string): string {
  return JSON.stringify(text).replaceAll(UNSAFE, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
