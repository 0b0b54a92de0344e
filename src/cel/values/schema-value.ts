/**
 * JSON as values by its schema, read in place. A number is an int or a double, a string a timestamp, as the schema says; what does not
 * agree with the schema is an error when it is read. Lists that are sets or maps compare and join accordingly.
 */
import type { CelSchema } from "../contract.ts";
import { writeJson } from "../../api/machinery/codec/json.ts";
import { escapeName, unescapeName } from "../schema/escaping.ts";
import { withTypeAndObjectMeta } from "../schema/declare.ts";
import { NO_SUCH_OVERLOAD, equal } from "./compare.ts";
import { dynValue, toJson } from "./json.ts";
import { spend } from "./meter.ts";
import { readText } from "./schema-text.ts";
import { CelError, ListValue, MapValue, OpaqueValue, type CelResult, type CelValue } from "./value.ts";
import { DYN, type CelType } from "../types/type.ts";
import { isDeepEqual } from "./deep-equal.ts";

/** The value of JSON that is described by a schema. */
export function schemaValue(json: unknown, schema: CelSchema): CelResult {
  if (json === null || json === undefined) {
    return schema.nullable === true ? null : new CelError("invalid data, got null for schema with nullable=false");
  }
  if (schema["x-kubernetes-int-or-string"] === true) return intOrString(json);
  switch (schema.type) {
    case "object":
      if (typeof json !== "object" || Array.isArray(json)) {
        return new CelError("invalid data, expected a map for the provided schema with type=object");
      }
      return objectValue(json as Readonly<Record<string, unknown>>, schema);
    case "array":
      return arrayValue(json, schema);
    case "string":
      return typeof json === "string" ? readText(json, schema.format) : wrongType("string", json);
    case "number":
      return typeof json === "number" || typeof json === "bigint" ? Number(json) : wrongType("float", json);
    case "integer": {
      const value = dynValue(json);
      return typeof value === "bigint" ? value : wrongType("int", json);
    }
    case "boolean":
      return typeof json === "boolean" ? json : wrongType("bool", json);
    default:
      return schema["x-kubernetes-preserve-unknown-fields"] === true ? new Preserved(json) : untyped(schema);
  }
}

function intOrString(json: unknown): CelResult {
  const value = dynValue(json);
  if (typeof value === "string" || typeof value === "bigint") return value;
  return new CelError("invalid data, expected XIntOrString value to be either a string or integer");
}

function untyped({ type = "" }: CelSchema): CelError {
  const expected = "expected object, array, number, integer, boolean or string, or no type";
  const or = "with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true";
  return new CelError(`invalid type, ${expected} ${or}, got ${type}`);
}

/** Go's names of the types that JSON decodes to. */
function wrongType(expected: string, json: unknown): CelError {
  return new CelError(`invalid data, expected ${expected}, got ${goType(json)}`);
}

function goType(json: unknown): string {
  if (typeof json === "boolean") return "bool";
  if (typeof json === "string") return "string";
  if (typeof json === "object") return Array.isArray(json) ? "[]interface {}" : "map[string]interface {}";
  return typeof dynValue(json) === "bigint" ? "int64" : "float64";
}

function objectValue(json: Readonly<Record<string, unknown>>, schema: CelSchema): MapValue {
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  if (isEmbedded || schema.properties !== undefined) return new SchemaObject(json, isEmbedded ? withTypeAndObjectMeta(schema) : schema);
  const { additionalProperties } = schema;
  return new SchemaMap(json, typeof additionalProperties === "object" ? additionalProperties : undefined);
}

/** Steps of listing a key. */
const KEY_STEPS = 20;

/** Charged: every access to a field creates another map, so that keys cannot be kept. */
function keysOf(json: Readonly<Record<string, unknown>>): readonly string[] {
  const keys = Object.keys(json);
  spend(keys.length * KEY_STEPS);
  return keys;
}

/** A map whose values have one schema. */
class SchemaMap extends MapValue {
  readonly #json: Readonly<Record<string, unknown>>;
  readonly #values: CelSchema | undefined;

  constructor(json: Readonly<Record<string, unknown>>, values: CelSchema | undefined) {
    super();
    this.#json = json;
    this.#values = values;
  }

  get size(): number {
    return keysOf(this.#json).length;
  }

  find(key: CelValue): CelResult | undefined {
    if (typeof key !== "string") return NO_SUCH_OVERLOAD;
    if (this.#values === undefined || !Object.hasOwn(this.#json, key)) return undefined;
    return schemaValue(this.#json[key], this.#values);
  }

  keys(): readonly CelValue[] {
    return this.#values === undefined ? [] : keysOf(this.#json);
  }

  override mismatch(): CelError {
    return NO_SUCH_OVERLOAD;
  }
}

/** An object with declared fields; those without schema are invisible, and null counts as absent. */
class SchemaObject extends MapValue {
  readonly #json: Readonly<Record<string, unknown>>;
  readonly #properties: Readonly<Record<string, CelSchema>>;

  constructor(json: Readonly<Record<string, unknown>>, { properties = {} }: CelSchema) {
    super();
    this.#json = json;
    this.#properties = properties;
  }

  get size(): number {
    return keysOf(this.#json).length;
  }

  find(key: CelValue): CelResult | undefined {
    if (typeof key !== "string") return NO_SUCH_OVERLOAD;
    const name = unescapeName(key);
    if (name === undefined || !Object.hasOwn(this.#json, name)) return undefined;
    const json = this.#json[name];
    if (json === null || json === undefined || !Object.hasOwn(this.#properties, name)) return undefined;
    return schemaValue(json, this.#properties[name] ?? {});
  }

  keys(): readonly CelValue[] {
    return keysOf(this.#json)
      .filter((name) => Object.hasOwn(this.#properties, name))
      .map((name) => escapeName(name) ?? name);
  }

  override hasSameRest(other: MapValue): boolean {
    if (!(other instanceof SchemaObject)) return true;
    const unknown = keysOf(this.#json).filter((name) => !Object.hasOwn(this.#properties, name));
    return unknown.every((name) => !Object.hasOwn(other.#json, name) || isDeepEqual(this.#json[name], other.#json[name]));
  }

  override mismatch(): CelError {
    return NO_SUCH_OVERLOAD;
  }
}

function arrayValue(json: unknown, schema: CelSchema): CelResult {
  if (!Array.isArray(json)) return new CelError("invalid data, expected an array for the provided schema with type=array");
  const { items } = schema;
  if (items === undefined) return new CelError("invalid array type, expected Items with a non-empty Schema");
  const kind = schema["x-kubernetes-list-type"];
  switch (kind) {
    case "map":
      return new SchemaList(json, items, mapKey(schema["x-kubernetes-list-map-keys"] ?? []));
    case "set":
      return new SchemaList(json, items, setKey);
    case "atomic":
    case "":
    case undefined:
      return new SchemaList(json, items, undefined);
    default:
      return new CelError(`invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got ${kind}`);
  }
}

type KeyOf = (json: unknown) => string;

function setKey(json: unknown): string {
  return `${typeof json}:${String(json)}`;
}

function mapKey(names: readonly string[]): KeyOf {
  return (json) => {
    const object = typeof json === "object" && json !== null ? (json as Readonly<Record<string, unknown>>) : {};
    return writeJson(names.map((name) => object[name] ?? null));
  };
}

/** Steps of copying an element, and of finding its key. */
const ELEMENT_STEPS = 10;
const KEYED_STEPS = 600;

/** A list by schema. With a key, order does not matter and joining replaces elements of the same key. */
class SchemaList extends ListValue {
  readonly #json: readonly unknown[];
  readonly #items: CelSchema;
  readonly #keyOf: KeyOf | undefined;

  constructor(json: readonly unknown[], items: CelSchema, keyOf: KeyOf | undefined) {
    super();
    this.#json = json;
    this.#items = items;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#json.length;
  }

  at(index: number): CelResult {
    return schemaValue(this.#json[index], this.#items);
  }

  concat(other: ListValue): ListValue {
    this.#spend(other);
    const added = Array.from({ length: other.size }, (_, index) => other.at(index)).map((element) =>
      element instanceof CelError ? null : toJson(element),
    );
    return new SchemaList(
      this.#keyOf === undefined ? [...this.#json, ...added] : this.#merged(added, this.#keyOf),
      this.#items,
      this.#keyOf,
    );
  }

  #merged(added: readonly unknown[], keyOf: KeyOf): unknown[] {
    const merged = new Map(this.#json.map((json) => [keyOf(json), json]));
    const isSet = keyOf === setKey;
    for (const json of added) if (!isSet || !merged.has(keyOf(json))) merged.set(keyOf(json), json);
    return [...merged.values()];
  }

  /** Both lists are visited as a whole, which upstream's costs do not count. */
  #spend(other: ListValue): void {
    spend((this.size + other.size) * (this.#keyOf === undefined ? ELEMENT_STEPS : KEYED_STEPS));
  }

  override equalTo(other: ListValue): boolean | CelError | undefined {
    const keyOf = this.#keyOf;
    if (keyOf === undefined) return undefined;
    this.#spend(other);
    const own = new Map(this.#json.map((json) => [keyOf(json), json]));
    for (let index = 0; index < other.size; index++) {
      const element = other.at(index);
      if (element instanceof CelError) return element;
      const key = keyOf(toJson(element));
      if (!own.has(key)) return false;
      if (keyOf === setKey) continue;
      const mine = schemaValue(own.get(key), this.#items);
      const same = mine instanceof CelError ? mine : equal(mine, element);
      if (same !== true) return same;
    }
    return true;
  }

  override mismatch(): CelError {
    return NO_SUCH_OVERLOAD;
  }
}

/** A value without declared type that is preserved: only comparable. */
class Preserved extends OpaqueValue {
  readonly type: CelType = { ...DYN, name: "unknown" };
  readonly #json: unknown;

  constructor(json: unknown) {
    super();
    this.#json = json;
  }

  equals(other: OpaqueValue): boolean {
    return isDeepEqual(this.#json, other.toJson());
  }

  override toJson(): unknown {
    return this.#json;
  }
}
