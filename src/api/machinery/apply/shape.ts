/**
 * What a schema means for the ownership of fields: which values are owned as a whole, which step leads to an item of a list, what an
 * object of a type holds before anybody wrote to it. All that follows from a schema alone is worked out once per schema.
 *
 * Where a schema says nothing (`any` of unknown JSON, unknown fields) upstream deduces: objects are owned member by member, lists as a
 * whole. A RawExtension is owned as a whole.
 */
import type { Json, JsonObject } from "../object.ts";
import type { AnySchema, Field, ListSchema, ObjectSchema, ScalarSchema, Schema } from "../schema.ts";
import { fieldElement, keyElement, quoted, valueElement, type PathElement } from "./field-path.ts";

/** The schema of what no schema describes. */
export const DEDUCED: AnySchema = { type: "any", format: "json" };

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Unlike Array.isArray, it also tells readonly arrays from the other kinds of JSON. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A member that is one of the object's own; a prototype's are none. */
export function memberOf(object: JsonObject | undefined, name: string): Json | undefined {
  if (object === undefined) return undefined;
  return name === "__proto__" && !Object.hasOwn(object, name) ? undefined : object[name];
}

export function isEmptyObject(object: JsonObject): boolean {
  for (const name in object) if (object[name] !== undefined) return false;
  return true;
}

/** What is known of a member of an object or map. */
export interface Slot {
  readonly schema: Schema;
  /** It is owned as a whole. */
  readonly atomic: boolean;
  /** A field that its type names, not a key of a map. */
  readonly named: boolean;
  /** What an object holds here before anything is written to it; undefined: nothing. */
  readonly blank: Json | undefined;
  /** A list or map that upstream always writes, as null if there is none. Here it is absent then, which counts as null. */
  readonly absentIsNull: boolean;
  /** `,"f:name":` and `,"f:name":{}`, ready for a text. */
  readonly prefix: string;
  readonly leaf: string;
  /** The place of a named field among those of its type, by name. */
  readonly rank: number;
}

const slotsOfTypes = new WeakMap<ObjectSchema, ReadonlyMap<string, Slot>>();

/** The named fields of a type. */
export function slotsOf(schema: ObjectSchema): ReadonlyMap<string, Slot> {
  const known = slotsOfTypes.get(schema);
  if (known !== undefined) return known;
  // Only the types of the API itself are written from structs; of a custom resource nothing is there that nobody wrote.
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
    prefix: `,${quoted(fieldElement(name))}:`,
    leaf: `,${quoted(fieldElement(name))}:{}`,
    rank,
  };
}

/** Whether values of the schema are owned as a whole, if the field does not say otherwise. Scalars are. */
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
    prefix: "",
    leaf: "",
    rank: -1,
  };
  slotsOfValues.set(schema, slot);
  return slot;
}

/** The slot of a member of an object of `schema`, which may be a type, a map or unknown. */
export function memberSlot(schema: Schema, name: string): Slot {
  if (schema.type === "object") return slotsOf(schema).get(name) ?? unnamedSlot(DEDUCED);
  return unnamedSlot(schema.type === "map" ? schema.values : DEDUCED);
}

/** The root of an object of the API. */
export function rootSlot(schema: ObjectSchema): Slot {
  return { schema, atomic: false, named: true, blank: undefined, absentIsNull: false, prefix: "", leaf: "", rank: -1 };
}

/** The keys that name an item of a list, in the order of their names. */
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
    // A key that is always written is its zero value by default.
    return { name, default: field?.default ?? (field?.zero === "write" ? blankValue(field.schema) : undefined) };
  });
  keysOfLists.set(schema, keys);
  return keys;
}

/** Why an item of a list has no name, in upstream's words. */
export class UnnamedItem extends Error {
  override readonly name = "UnnamedItem";
}

/** The step that leads to an item of a set or of a list with keys. Throws UnnamedItem if there is none. */
export function elementOf(schema: ListSchema, item: Json): PathElement {
  return schema.listType === "set" ? elementOfSet(item) : keyElement(keyOf(schema, item));
}

function elementOfSet(item: Json): PathElement {
  if (isObject(item)) throw new UnnamedItem("associative list without keys has an element that's a map type");
  if (isList(item)) throw new UnnamedItem("not supported: associative list with lists as elements");
  if (item === null) throw new UnnamedItem("associative list without keys has an element that's an explicit null");
  return valueElement(item);
}

/** The keys that an item has, or would have by default. */
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

/** What an object of a type holds before anything is written to it: the fields that are always written. */
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

/** A value of a slot as upstream has it. */
export function presentValue(value: Json | undefined, { absentIsNull }: Slot): Json | undefined {
  return value === undefined && absentIsNull ? null : value;
}
