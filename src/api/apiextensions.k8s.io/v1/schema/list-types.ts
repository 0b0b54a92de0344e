/**
 * Uniqueness of lists (x-kubernetes-list-type): sets have no duplicate items, and maps no two items with the same keys. Of several
 * duplicates, only the second item is reported, as upstream does.
 */
import { child, element, type FieldError } from "../../../machinery/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { itemsOf, type JsonSchema, otherPropertiesOf, propertyOf } from "./json-schema.ts";
import { duplicateValue, invalidValue } from "./shown-value.ts";
import { writeStableJson } from "../../../machinery/codec/stable-json.ts";

export function* validateListTypes(value: Json, schema: JsonSchema, at = ""): Iterable<FieldError> {
  if (Array.isArray(value)) yield* validateList(value, schema, at);
  else if (isObject(value)) yield* validateMembers(value, schema, at);
}

function* validateMembers(object: JsonObject, schema: JsonSchema, at: string): Iterable<FieldError> {
  const others = otherPropertiesOf(schema);
  for (const [name, member = null] of Object.entries(object)) {
    if (others !== undefined) yield* validateListTypes(member, others, element(at, name));
    const property = propertyOf(schema, name);
    if (property !== undefined) yield* validateListTypes(member, property, child(at, name));
  }
}

function* validateList(list: readonly Json[], schema: JsonSchema, at: string): Iterable<FieldError> {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") yield* validateUnique(list, at);
  if (type === "map") yield* validateKeys(list, schema["x-kubernetes-list-map-keys"] ?? [], at);
  const items = itemsOf(schema);
  if (items !== undefined) for (const [index, item] of list.entries()) yield* validateListTypes(item, items, element(at, index));
}

function* validateUnique(list: readonly Json[], at: string): Iterable<FieldError> {
  const times = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const text = writeStableJson(item);
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    if (before === 1) yield duplicateValue(element(at, index), item);
  }
}

function* validateKeys(list: readonly Json[], names: readonly string[], at: string): Iterable<FieldError> {
  const wrong = list.findIndex((item) => item !== null && !isObject(item));
  if (wrong >= 0) {
    yield invalidValue(element(at, wrong), list[wrong] ?? null, "must be an object for an array of list-type map");
    return;
  }
  const wanted = new Set(names);
  yield* validateUnique(
    list.map((item) => keysOf(item, wanted)),
    at,
  );
}

/** A null has no keys, and neither has an item without them: they count as equal. */
function keysOf(item: Json, names: ReadonlySet<string>): JsonObject {
  if (!isObject(item)) return {};
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name)));
}
