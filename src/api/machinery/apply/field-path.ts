/**
 * One path element, as its FieldsV1 text: `f:name` (a field or a map's key), `k:{"name":"x"}` (a list item by its keys), `v:"x"` (a set
 * item), `i:0` (an item by its index). Equal elements have equal text, so sets are looked up by text; a `k:` or `v:` is parsed only to
 * order it (80 before 443) and to show it to people. Not here: the path element of an item (shape.ts), sets of paths (field-set.ts).
 */
import { escapeForPages } from "../codec/stable-json.ts";
import type { Json, JsonObject } from "../object.ts";

/** The FieldsV1 text of a path element, without JSON quotes. */
export type PathElement = string;

export type FieldPath = readonly PathElement[];

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** The fields must be sorted by name. */
export function keyElement(fields: readonly (readonly [name: string, value: Json])[]): PathElement {
  return `k:{${fields.map(([name, value]) => `${quoted(name)}:${jsonOf(value)}`).join(",")}}`;
}

export function valueElement(value: Json): PathElement {
  return `v:${jsonOf(value)}`;
}

/** Text that needs no escapes in JSON. */
const PLAIN = /^[\w./:-]*$/;

export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** Encodes text as JSON exactly as upstream does. */
export function quoted(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return escapeForPages(JSON.stringify(text));
}

/** Members sorted by name, so that equal values have equal text. */
export function jsonOf(value: Json): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  const members = Object.entries(value as JsonObject).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${quoted(name)}:${jsonOf(member)}`)
    .join(",")}}`;
}

export type ParsedElement =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "key"; readonly fields: readonly (readonly [name: string, value: Json])[] }
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "index"; readonly index: number };

/**
 * Parses a path element. Undefined for an unknown kind, which a newer server may have written: it is skipped. Throws a SyntaxError if the
 * text is malformed.
 */
export function parseElement(text: string): ParsedElement | undefined {
  if (text.length < 2) throw new SyntaxError("key must be 2 characters long:");
  if (text[1] !== ":") throw new SyntaxError(`missing colon: ${text}`);
  const rest = text.slice(2);
  switch (text[0]) {
    case "f":
      return { kind: "field", name: rest };
    case "v":
      return { kind: "value", value: JSON.parse(rest) as Json };
    case "k":
      return { kind: "key", fields: parseKey(rest) };
    case "i":
      return { kind: "index", index: parseIndex(rest) };
    default:
      return undefined;
  }
}

function parseKey(text: string): readonly (readonly [string, Json])[] {
  const key = JSON.parse(text) as Json;
  if (typeof key !== "object" || key === null || Array.isArray(key)) throw new SyntaxError(`expected an object of keys, got ${text}`);
  return (Object.entries(key) as [string, Json][]).sort(([a], [b]) => (a < b ? -1 : 1));
}

function parseIndex(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new SyntaxError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** Canonical text of a path element from another writer; undefined if its kind is unknown. */
export function canonicalElement(text: string): PathElement | undefined {
  const parsed = parseElement(text);
  switch (parsed?.kind) {
    case undefined:
      return undefined;
    case "field":
      return text;
    case "key":
      return keyElement(parsed.fields);
    case "value":
      return valueElement(parsed.value);
    case "index":
      return `i:${parsed.index}`;
  }
}

const KIND_ORDER = "fkvi";

/** Upstream's order of path elements: fields, then keys, values and indexes. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  if (a[0] === "f" && b[0] === "f") return a < b ? -1 : 1;
  if (a[0] !== b[0]) return KIND_ORDER.indexOf(a[0] ?? "") - KIND_ORDER.indexOf(b[0] ?? "");
  return compareParsed(parseElement(a), parseElement(b));
}

/** Sorts `items`. Keys are parsed once each, not once per comparison. */
export function sortByElement<T extends { readonly element: PathElement }>(items: T[]): T[] {
  if (items.length < 2) return items;
  if (items.every(({ element }) => element[0] === "f")) return items.sort((a, b) => (a.element < b.element ? -1 : 1));
  const parsed = items.map((item) => ({ item, parsed: parseElement(item.element) }));
  return parsed.sort((a, b) => compareParsed(a.parsed, b.parsed)).map(({ item }) => item);
}

function compareParsed(a: ParsedElement | undefined, b: ParsedElement | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  if (a.kind === "field" && b.kind === "field") return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  if (a.kind === "key" && b.kind === "key") return compareKeys(a.fields, b.fields);
  if (a.kind === "value" && b.kind === "value") return compareValues(a.value, b.value);
  if (a.kind === "index" && b.kind === "index") return a.index - b.index;
  return KIND_ORDER.indexOf(a.kind[0] ?? "") - KIND_ORDER.indexOf(b.kind[0] ?? "");
}

function compareKeys(a: readonly (readonly [string, Json])[], b: readonly (readonly [string, Json])[]): number {
  for (const [index, [name, value]] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (name !== other[0]) return name < other[0] ? -1 : 1;
    const order = compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers, then text, then false and true, then all else. */
export function compareValues(a: Json, b: Json): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (typeof a === "object") return compareValues(jsonOf(a), jsonOf(b));
  const other = b as typeof a;
  return a < other ? -1 : a > other ? 1 : 0;
}

function rankOf(value: Json): number {
  switch (typeof value) {
    case "number":
    case "bigint":
      return 0;
    case "string":
      return 1;
    case "boolean":
      return 2;
    default:
      return Array.isArray(value) ? 3 : value === null ? 5 : 4;
  }
}

/** Human-readable form: `.spec.containers[name="web"].image`. */
export function describePath(path: FieldPath): string {
  return path.map(describeElement).join("");
}

export function describeElement(element: PathElement): string {
  const parsed = parseElement(element);
  switch (parsed?.kind) {
    case undefined:
      return element;
    case "field":
      return `.${parsed.name}`;
    case "key":
      return `[${parsed.fields.map(([name, value]) => `${name}=${describeValue(value)}`).join(",")}]`;
    case "value":
      return `[=${describeValue(parsed.value)}]`;
    case "index":
      return `[${parsed.index}]`;
  }
}

function describeValue(value: Json): string {
  return typeof value === "bigint" ? value.toString() : JSON.stringify(value);
}
