/**
 * The part of a previous value that corresponds to a part of the next one, for validation ratcheting and transition rules: members by name,
 * items of lists with keys by their keys. Items of other lists do not correspond to any.
 */
import { writeStableJson } from "../../../machinery/codec/stable-json.ts";
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { itemsOf, type JsonSchema, memberOf, propertyOf } from "./json-schema.ts";

/** kind and apiVersion of the whole object (`path` is "") correspond to nothing: both values were converted to one version. */
export function correlatedMember(previous: Json | undefined, name: string, path: string): Json | undefined {
  if (!isObject(previous) || (path === "" && (name === "kind" || name === "apiVersion"))) return undefined;
  return memberOf(previous, name);
}

/** Looks up the previous item of a list with keys. Undefined: items do not correspond. Of several with the same keys, the first counts. */
export function correlatedItems(schema: JsonSchema, previous: Json | undefined): ((item: Json) => Json | undefined) | undefined {
  if (schema["x-kubernetes-list-type"] !== "map" || !Array.isArray(previous)) return undefined;
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  const items = itemsOf(schema);
  const byKey = new Map<string, Json>();
  for (const item of previous as readonly Json[]) {
    const key = isObject(item) ? keyOf(item, names, items) : undefined;
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return (item) => (isObject(item) ? byKey.get(keyOf(item, names, items)) : undefined);
}

/** Absent keys have their default. */
function keyOf(item: JsonObject, names: readonly string[], items: JsonSchema | undefined): string {
  return names.map((name) => writeStableJson(memberOf(item, name) ?? (items && propertyOf(items, name)?.default) ?? null)).join();
}
