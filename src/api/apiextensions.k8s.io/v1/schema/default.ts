/**
 * Applies the defaults of a schema, to absent members and to nulls that are not nullable; before that, removes nulls without a default,
 * which count as absent. Unchanged parts keep their identity.
 */
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { changedList, changedMembers } from "./changed-value.ts";
import { itemsOf, type JsonSchema, otherPropertiesOf, propertiesOf, propertyOf } from "./json-schema.ts";

export function fillInDefaults(value: Json, schema: JsonSchema | undefined): Json {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return items === undefined ? value : changedList(value, (item) => fillInDefaults(orDefault(item, items), items));
  }
  return isObject(value) ? defaultObject(value, schema) : value;
}

function defaultObject(object: JsonObject, schema: JsonSchema): JsonObject {
  const given = changedMembers(object, (member, name) => {
    const property = schemaOfMember(schema, name);
    return property === undefined ? member : fillInDefaults(orDefault(member, property), property);
  });
  const missing = propertiesOf(schema)
    .filter(([name, property]) => property.default !== undefined && !Object.hasOwn(object, name))
    .map(([name, property]): [string, Json] => [name, fillInDefaults(property.default ?? null, property)]);
  return missing.length === 0 ? given : Object.fromEntries([...Object.entries(given), ...missing]);
}

function orDefault(value: Json, schema: JsonSchema): Json {
  return value === null && schema.nullable !== true ? (schema.default ?? null) : value;
}

/** Before `fillInDefaults`. In lists nulls stay: removing them would shift the others. */
export function pruneNulls(value: Json, schema: JsonSchema | undefined): Json {
  if (Array.isArray(value)) return changedList(value, (item) => pruneNulls(item, schema && itemsOf(schema)));
  if (!isObject(value)) return value;
  return changedMembers(value, (member, name) => {
    const property = schema && schemaOfMember(schema, name);
    const isNotGiven = member === null && property !== undefined && property.nullable !== true && property.default === undefined;
    return isNotGiven ? undefined : pruneNulls(member, property);
  });
}

function schemaOfMember(schema: JsonSchema, name: string): JsonSchema | undefined {
  return propertyOf(schema, name) ?? otherPropertiesOf(schema);
}
