/**
 * Prunes the defaults of a structural schema: definitions were once stored with defaults that have unknown fields, which are dropped before
 * a default is used. Unchanged parts keep their identity.
 */
import { isObject, type Json } from "../../../machinery/object.ts";
import { changedMembers } from "./changed-value.ts";
import { additionalPropertiesOf, itemsOf, type JsonSchema } from "./json-schema.ts";
import { pruneUnknownFields } from "./prune.ts";

export function pruneDefaults(schema: JsonSchema): JsonSchema {
  const { default: value, properties } = schema;
  const pruned = value === undefined ? undefined : pruneUnknownFields(value, schema);
  const items = itemsOf(schema);
  const others = additionalPropertiesOf(schema)?.schema;
  const changes = {
    default: pruned,
    items: items && (pruneDefaults(items) as Json),
    additionalProperties: others && (pruneDefaults(others) as Json),
    properties: properties && changedMembers(properties, (property) => (isObject(property) ? pruneDefaults(property) : property)),
  };
  const changed = Object.entries(changes).filter(([name, next]) => next !== undefined && next !== schema[name as keyof JsonSchema]);
  return changed.length === 0 ? schema : { ...schema, ...(Object.fromEntries(changed) as Partial<JsonSchema>) };
}
