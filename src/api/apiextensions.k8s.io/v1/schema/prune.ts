/**
 * Removes fields that a schema does not know. Where the schema preserves unknown fields, they stay, down to where it specifies more again.
 * Unchanged parts keep their identity. Kind, apiVersion and metadata of a resource are kept: metadata.ts handles these.
 */
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { additionalPropertiesOf, itemsOf, type JsonSchema, propertyOf } from "./json-schema.ts";
import { changedList, changedMembers } from "./changed-value.ts";

export const RESOURCE_MEMBERS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

export interface PruneRules {
  /** The value is a whole API object, not a part of one. */
  readonly isResource?: boolean;
  /** Called with the path of each removed field: "spec.ports[0].nam". */
  readonly onUnknown?: (path: string) => void;
}

export function pruneUnknownFields(value: Json, schema: JsonSchema, { isResource = false, onUnknown = () => {} }: PruneRules = {}): Json {
  const root: JsonSchema = isResource ? { ...schema, "x-kubernetes-embedded-resource": true } : schema;
  return prune(value, root, { path: "", onUnknown });
}

interface Place {
  readonly path: string;
  readonly onUnknown: (path: string) => void;
}

function memberAt({ path, onUnknown }: Place, name: string): Place {
  return { path: path === "" ? name : `${path}.${name}`, onUnknown };
}

function itemAt({ path, onUnknown }: Place, index: number): Place {
  return { path: `${path}[${index}]`, onUnknown };
}

function prune(value: Json, schema: JsonSchema | undefined, place: Place): Json {
  if (schema?.["x-kubernetes-preserve-unknown-fields"] === true) return preserve(value, schema, place);
  if (Array.isArray(value)) return changedList(value, (item, index) => prune(item, schema && itemsOf(schema), itemAt(place, index)));
  return isObject(value) ? pruneObject(value, schema, place) : value;
}

function pruneObject(object: JsonObject, schema: JsonSchema | undefined, place: Place): Json {
  const isResource = schema?.["x-kubernetes-embedded-resource"] === true;
  return changedMembers(object, (member, name) => {
    if (isResource && RESOURCE_MEMBERS.has(name)) return member;
    const at = memberAt(place, name);
    const property = schema && propertyOf(schema, name);
    if (property !== undefined) return prune(member, property, at);
    const additional = schema && additionalPropertiesOf(schema);
    if (additional !== undefined) return prune(member, additional.schema, at);
    if (place.path !== "" || !RESOURCE_MEMBERS.has(name)) place.onUnknown(at.path);
    return undefined;
  });
}

/** Keeps unknown fields, and prunes below known ones. */
function preserve(value: Json, schema: JsonSchema, place: Place): Json {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return items === undefined ? value : changedList(value, (item, index) => preserve(item, items, itemAt(place, index)));
  }
  if (!isObject(value)) return value;
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const additional = additionalPropertiesOf(schema);
  return changedMembers(value, (member, name) => {
    if (isResource && RESOURCE_MEMBERS.has(name)) return member;
    const property = propertyOf(schema, name);
    if (property !== undefined) return prune(member, property, memberAt(place, name));
    return additional === undefined ? member : prune(member, additional.schema, memberAt(place, name));
  });
}
