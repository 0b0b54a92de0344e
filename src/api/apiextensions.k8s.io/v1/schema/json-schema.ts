/**
 * The schema of a definition as in the API, and how to walk over it. Members with more than one JSON form (items, additionalProperties) are
 * interpreted here and nowhere else. Not here: validation of a schema (../custom-resource-definition), validation of a value
 * (validate-value.ts).
 */
import type { JSONSchemaProps } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";

export type JsonSchema = JSONSchemaProps;

/** additionalProperties or additionalItems: whether others are allowed, and optionally their schema. */
export interface Additional {
  readonly allowed: boolean;
  readonly schema?: JsonSchema;
}

export function additionalPropertiesOf({ additionalProperties }: JsonSchema): Additional | undefined {
  return additionalOf(additionalProperties);
}

export function additionalItemsOf({ additionalItems }: JsonSchema): Additional | undefined {
  return additionalOf(additionalItems);
}

function additionalOf(value: Json | undefined): Additional | undefined {
  if (value === undefined || value === null) return undefined;
  return isObject(value) ? { allowed: true, schema: value } : { allowed: value === true };
}

/** The schema of all other properties, if they have one. */
export function otherPropertiesOf(schema: JsonSchema): JsonSchema | undefined {
  return additionalPropertiesOf(schema)?.schema;
}

/** The schema of all items. Undefined also where `items` is a list, one schema per index. */
export function itemsOf({ items }: JsonSchema): JsonSchema | undefined {
  return isObject(items) ? items : undefined;
}

/** One schema per index. */
export function placesOf({ items }: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(items) ? (items as readonly JsonSchema[]) : [];
}

export function propertyOf({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Most schemas have none. */
const NO_PROPERTIES: readonly (readonly [string, JsonSchema])[] = [];

export function propertiesOf({ properties }: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  return properties === undefined ? NO_PROPERTIES : Object.entries(properties);
}

/** Linear in the number of properties. */
export function hasProperties(schema: JsonSchema): boolean {
  return propertiesOf(schema).length > 0;
}

/** True if the predicate holds for the schema or one below it. */
export function someSchema(schema: JsonSchema | undefined, isSo: (schema: JsonSchema) => boolean): boolean {
  if (schema === undefined) return false;
  if (isSo(schema)) return true;
  for (const inner of innerSchemas(schema)) if (someSchema(inner, isSo)) return true;
  return false;
}

function* innerSchemas(schema: JsonSchema): Iterable<JsonSchema | undefined> {
  yield itemsOf(schema);
  yield* placesOf(schema);
  for (const list of [schema.allOf, schema.anyOf, schema.oneOf]) yield* list ?? [];
  yield schema.not;
  yield* Object.values(schema.properties ?? {});
  yield otherPropertiesOf(schema);
  yield* Object.values(schema.patternProperties ?? {});
  yield additionalItemsOf(schema)?.schema;
  yield* Object.values(schema.definitions ?? {});
  for (const dependency of Object.values(schema.dependencies ?? {})) if (isObject(dependency)) yield dependency;
}

/** An own member with an untrusted key. */
export function memberOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
