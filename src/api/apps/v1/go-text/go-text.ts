/**
 * The text that Go's dumper makes of a Pod template, which upstream hashes: every field with its type, unset ones too, keys of maps sorted.
 * The template is printed as upstream's controllers hold it, decoded from protobuf: empty lists and maps are nil. Pure.
 */
import { encodeUtf8 } from "../../../../base/utf8.ts";
import type { PodTemplateSpec } from "../../../generated/core/v1.ts";
import { isObject } from "../../../machinery/object.ts";
import { GO_MAP_TYPES, GO_STRING_TYPES, GO_STRUCTS } from "./go-types.ts";
import { fieldsText, intOrStringText, isScalar, quantityText, timeText } from "./go-values.ts";

interface Field {
  readonly name: string;
  readonly type: string;
  /** Name of the member in JSON; undefined for an embedded struct. */
  readonly member: string | undefined;
}

const NIL = "<nil>";
const FIELDS = new Map(Object.entries(GO_STRUCTS).map(([type, fields]) => [type, fields.split(" ").map(readField)]));
/** Structs with fields that JSON does not have. */
const OPAQUE: ReadonlyMap<string, (value: unknown) => string> = new Map([
  ["resource.Quantity", quantityText],
  ["intstr.IntOrString", intOrStringText],
  ["v1.Time", timeText],
  ["v1.FieldsV1", fieldsText],
]);

export function goText(template: PodTemplateSpec): string {
  return typed("v1.PodTemplateSpec", template);
}

function readField(text: string): Field {
  const [, sign = "", given, name = "", type = ""] = /^(\+?)(?:(\w+)=)?(\w+):(.+)$/.exec(text) ?? [];
  return { name, type, member: sign === "+" ? undefined : (given ?? name.charAt(0).toLowerCase() + name.slice(1)) };
}

function typed(type: string, value: unknown): string {
  return `(${type})${bare(type, value)}`;
}

/** Without the type, which elements of lists and maps lack. */
function bare(type: string, value: unknown): string {
  if (type.startsWith("*")) return value === undefined || value === null ? NIL : bare(type.slice(1), value);
  if (type.startsWith("[]")) return listText(type.slice("[]".length), value);
  const map = /^map\[[^\]]+\](.+)$/.exec(GO_MAP_TYPES[type] ?? type);
  if (map !== null) return mapText(map[1] ?? "", value);
  const opaque = OPAQUE.get(type);
  if (opaque !== undefined) return opaque(value);
  const fields = FIELDS.get(type);
  return fields === undefined ? scalarText(type, value) : structText(fields, value);
}

function listText(element: string, value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return NIL;
  return `[${value.map((one: unknown) => bare(element, one)).join(" ")}]`;
}

function mapText(element: string, value: unknown): string {
  const entries = isObject(value) ? Object.entries(value) : [];
  if (entries.length === 0) return NIL;
  const sorted = entries.toSorted(([a], [b]) => compareBytes(a, b));
  return `map[${sorted.map(([key, one]) => `${key}:${bare(element, one)}`).join(" ")}]`;
}

function structText(fields: readonly Field[], value: unknown): string {
  const members = isObject(value) ? value : {};
  const texts = fields.map(({ name, type, member }) => `${name}:${typed(type, member === undefined ? members : members[member])}`);
  return `{${texts.join(" ")}}`;
}

function scalarText(type: string, value: unknown): string {
  if (isScalar(value)) return String(value);
  if (type === "string" || GO_STRING_TYPES.has(type)) return "";
  return type === "bool" ? "false" : "0";
}

/** Go's order of strings. That of JavaScript compares UTF-16, which differs for characters beyond U+FFFF. */
function compareBytes(a: string, b: string): number {
  const left = encodeUtf8(a);
  const right = encodeUtf8(b);
  const at = left.findIndex((byte, index) => byte !== right[index]);
  if (at === -1) return left.length - right.length;
  return (left[at] ?? 0) - (right[at] ?? -1);
}
