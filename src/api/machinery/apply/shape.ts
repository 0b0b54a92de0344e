/**
 * Derives field ownership from a schema: which values are atomic, the path element of a list item, and the initial content of an object of
 * a type. Everything that follows from a schema alone is computed once per schema.
 *
 * Where a schema is unknown (`any`, unknown fields) upstream deduces: objects are granular, lists are atomic. A RawExtension is atomic.
 */
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { AnySchema, Field, ListSchema, ObjectSchema, ScalarSchema, Schema } from "../schema.ts";
import { fieldElement, keyElement, quoted, valueElement, type PathElement } from "./field-path.ts";

/** The schema of undescribed values. */
export const DEDUCED: AnySchema = { type: "any", format: "json" };

/** Unlike Array.isArray, it also narrows readonly arrays. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** An own member; never one of the prototype. */
export function memberOf(object: JsonObject | undefined, name: string): Json | undefined {
  if (object === undefined) return undefined;
  return name === "__proto__" && !Object.hasOwn(object, name) ? undefined : object[name];
}

export function isEmptyObject(object: JsonObject): boolean {
  for (const name in object) if (object[name] !== undefined) return false;
  return true;
}

/** Properties of a member of an object or map. */
export interface Slot {
  readonly schema: Schema;
  /** It is atomic. */
  readonly atomic: boolean;
  /** A field of a struct, not a key of a map. */
  readonly named: boolean;
  /** Its initial content; undefined: none. */
  readonly blank: Json | undefined;
  /** A list or map that upstream always writes, as null if none exists. Here it is absent then, which counts as null. */
  readonly absentIsNull: boolean;
  /** `f:name`, `,"f:name":` and `,"f:name":{}` of a named field, precomputed; "" otherwise. */
  readonly element: PathElement;
  readonly prefix: string;
  readonly leaf: string;
  /** Index of a named field among those of its type, sorted by name. */
  readonly rank: number;
}

const slotsOfTypes = new WeakMap<ObjectSchema, ReadonlyMap<string, Slot>>();

/** The named fields of a type. */
export function slotsOf(schema: ObjectSchema): ReadonlyMap<string, Slot> {
  const known = slotsOfTypes.get(schema);
  if (known !== undefined) return known;
  // Only built-in types are written from structs; a custom resource has no initial content.
  const isStruct = schema.protobuf !== undefined;
  const names = [...schema.fields.keys()].sort();
  const slots = new Map([...schema.fields.values()].map((field) => [field.name, slotOf(field, names.indexOf(field.name), isStruct)]));
  slotsOfTypes.set(schema, slots);
  return slots;
}

function slotOf({ name, schema, zero, atomic }: Field, rank: number, isStruct: boolean): Slot {
  const isMap = schema.type === "object" || schema.type === "map";
  const isCollection = schema.type === "list" || schema.type === "map";
  const absentIsNull = isCollection && (zero === "write" || (zero === "keep" && isStruct));
  return {
    schema,
    atomic: isMap && atomic !== undefined ? atomic : isAtomic(schema),
    named: true,
    blank: absentIsNull ? null : zero === "write" ? blankValue(schema) : undefined,
    absentIsNull,
    element: fieldElement(name),
    prefix: `,${quoted(fieldElement(name))}:`,
    leaf: `,${quoted(fieldElement(name))}:{}`,
    rank,
  };
}

/** True if values of the schema are atomic, unless the field overrides it. Scalars are. */
export function isAtomic(schema: Schema): boolean {
  switch (schema.type) {
    case "object":
    case "map":
      return schema.atomic === true;
    case "list":
      return schema.listType === "atomic";
    case "any":
      return schema.format === "raw-extension";
    default:
      return true;
  }
}

const slotsOfValues = new WeakMap<Schema, Slot>();

/** The slot of a map's values or a list's items. */
export function unnamedSlot(schema: Schema): Slot {
  const known = slotsOfValues.get(schema);
  if (known !== undefined) return known;
  const slot: Slot = {
    schema,
    atomic: isAtomic(schema),
    named: false,
    blank: undefined,
    absentIsNull: false,
    element: "",
    prefix: "",
    leaf: "",
    rank: -1,
  };
  slotsOfValues.set(schema, slot);
  return slot;
}

/** The slot of a member of an object of `schema`, which may be a struct, a map or unknown. */
export function memberSlot(schema: Schema, name: string): Slot {
  if (schema.type === "object") return slotsOf(schema).get(name) ?? unnamedSlot(DEDUCED);
  return unnamedSlot(schema.type === "map" ? schema.values : DEDUCED);
}

/** The root of an object of the API. */
export function rootSlot(schema: ObjectSchema): Slot {
  return { schema, atomic: false, named: true, blank: undefined, absentIsNull: false, element: "", prefix: "", leaf: "", rank: -1 };
}

/** The key fields of a list's items, sorted by name. */
export interface ListKey {
  readonly name: string;
  readonly default: Json | undefined;
}

const keysOfLists = new WeakMap<ListSchema, readonly ListKey[]>();

export function keysOf(schema: ListSchema): readonly ListKey[] {
  const known = keysOfLists.get(schema);
  if (known !== undefined) return known;
  const { items } = schema;
  const keys = (schema.mapKeys ?? []).toSorted().map((name) => {
    const field = items.type === "object" ? items.fields.get(name) : undefined;
    // A key that is always written defaults to its zero value.
    return { name, default: field?.default ?? (field?.zero === "write" ? blankValue(field.schema) : undefined) };
  });
  keysOfLists.set(schema, keys);
  return keys;
}

/** A list item without a key; the message is upstream's. */
export class UnnamedItem extends Error {
  override readonly name = "UnnamedItem";
}

/** The path element of an item of a set or of a list with keys. Throws UnnamedItem if it has none. */
export function elementOf(schema: ListSchema, item: Json): PathElement {
  return schema.listType === "set" ? elementOfSet(item) : keyElement(keyOf(schema, item));
}

function elementOfSet(item: Json): PathElement {
  if (isObject(item)) throw new UnnamedItem("associative list without keys has an element that's a map type");
  if (isList(item)) throw new UnnamedItem("not supported: associative list with lists as elements");
  if (item === null) throw new UnnamedItem("associative list without keys has an element that's an explicit null");
  return valueElement(item);
}

/** The keys of an item, with defaults. */
export function keyOf(schema: ListSchema, item: Json): readonly (readonly [string, Json])[] {
  if (item === null) throw new UnnamedItem("associative list with keys may not have a null element");
  if (!isObject(item)) throw new UnnamedItem("associative list with keys may not have non-map elements");
  const key: (readonly [string, Json])[] = [];
  for (const { name, default: byDefault } of keysOf(schema)) {
    const value = memberOf(item, name) ?? byDefault;
    if (value !== undefined) key.push([name, value]);
  }
  if (key.length > 0) return key;
  const names = (schema.mapKeys ?? []).map((name) => JSON.stringify(name)).join(" ");
  throw new UnnamedItem(
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  );
}

const blankObjects = new WeakMap<ObjectSchema, JsonObject>();

/** Initial content of an object of a type: the fields that are always written. */
export function blankObject(schema: ObjectSchema): JsonObject {
  const known = blankObjects.get(schema);
  if (known !== undefined) return known;
  const written = [...slotsOf(schema)].filter(([, { blank, absentIsNull }]) => blank !== undefined && !absentIsNull);
  const blankMembers = Object.freeze(Object.fromEntries(written.map(([name, { blank }]) => [name, blank])));
  blankObjects.set(schema, blankMembers);
  return blankMembers;
}

function blankValue(schema: Schema): Json | undefined {
  switch (schema.type) {
    case "object":
      return blankObject(schema);
    case "map":
    case "list":
      return undefined;
    case "any":
      return null;
    default:
      return blankScalar(schema);
  }
}

function blankScalar({ type, format }: ScalarSchema): Json {
  if (type === "boolean") return false;
  if (type === "integer" || type === "number" || format === "int-or-string") return 0;
  if (format === "date-time" || format === "micro-time") return null;
  if (format === "quantity") return "0";
  return format === "duration" ? "0s" : "";
}

/** A value of a slot in upstream's representation. */
export function presentValue(value: Json | undefined, { absentIsNull }: Slot): Json | undefined {
  return value === undefined && absentIsNull ? null : value;
}
