/** Validation of the extensions for merging lists and maps: x-kubernetes-list-type, x-kubernetes-list-map-keys, x-kubernetes-map-type. */
import { child, element, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { itemsOf, type JsonSchema, placesOf, propertyOf } from "../schema/json-schema.ts";
import { invalidShown, shownItems } from "./shown-form.ts";

const LIST_TYPES = ["atomic", "set", "map"];
const MAP_TYPES = ["atomic", "granular"];

/** `setItems`: errors of the items of a set, evaluated where upstream reports them. */
export function* validateListAndMapTypes(schema: JsonSchema, at: string, setItems: () => Iterable<FieldError>): Iterable<FieldError> {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType !== undefined) yield* validateTypeFor(schema, "object", "x-kubernetes-map-type", at);
  if (mapType !== undefined && !MAP_TYPES.includes(mapType)) yield notSupported(child(at, "x-kubernetes-map-type"), mapType, MAP_TYPES);
  const listType = schema["x-kubernetes-list-type"];
  const wrongType = listType === undefined ? [] : [...validateTypeFor(schema, "array", "x-kubernetes-list-type", at)];
  yield* wrongType.length > 0 ? wrongType : setItems();
  if (listType !== undefined && !LIST_TYPES.includes(listType)) {
    yield notSupported(child(at, "x-kubernetes-list-type"), listType, LIST_TYPES);
  }
  yield* validateListMap(schema, at);
}

function* validateTypeFor({ type = "" }: JsonSchema, expected: string, extension: string, at: string): Iterable<FieldError> {
  const message = `must be ${expected} if ${extension} is specified`;
  if (type !== expected) yield type === "" ? required(child(at, "type"), message) : invalid(child(at, "type"), type, message);
}

const SET_ITEMS = "must be atomic as item of a list with x-kubernetes-list-type=set";

/** Only atomic values can be compared as a whole. */
export function* validateAtomicSetItems(schema: JsonSchema, at: string): Iterable<FieldError> {
  const items = schema["x-kubernetes-list-type"] === "set" ? itemsOf(schema) : undefined;
  if (items === undefined) return;
  const { type, "x-kubernetes-list-type": listType, "x-kubernetes-map-type": mapType } = items;
  if (type === "array" && listType !== undefined && listType !== "atomic") {
    yield invalid(child(at, "items", "x-kubernetes-list-type"), listType, SET_ITEMS);
  }
  // Upstream quotes the type of the list here.
  if (type === "object" && mapType !== "atomic") yield invalid(child(at, "items", "x-kubernetes-map-type"), listType ?? null, SET_ITEMS);
}

function* validateListMap(schema: JsonSchema, at: string): Iterable<FieldError> {
  const { "x-kubernetes-list-type": listType, "x-kubernetes-list-map-keys": keys = [] } = schema;
  if (keys.length > 0 && listType !== "map") {
    const typeAt = child(at, "x-kubernetes-list-type");
    const message = "must be map if x-kubernetes-list-map-keys is non-empty";
    yield listType === undefined ? required(typeAt, message) : invalid(typeAt, listType, message);
  }
  if (listType !== "map") return;
  if (keys.length === 0) {
    yield required(child(at, "x-kubernetes-list-map-keys"), "must not be empty if x-kubernetes-list-type is map");
  }
  const itemsAt = child(at, "items");
  const items = itemsOf(schema);
  if (schema.items === undefined) yield required(itemsAt, "must have a schema if x-kubernetes-list-type is map");
  else if (items === undefined) {
    yield invalidShown(itemsAt, shownItems(schema), "must only have a single schema if x-kubernetes-list-type is map");
  } else if (items.type !== "object") {
    yield invalid(child(itemsAt, "type"), items.type ?? "", "must be object if parent array's x-kubernetes-list-type is map");
  } else yield* validateKeyNames(items, keys, at);
}

function* validateKeyNames(items: JsonSchema, keys: readonly string[], at: string): Iterable<FieldError> {
  const keysAt = child(at, "x-kubernetes-list-map-keys");
  const seen = new Set<string>();
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) yield invalid(keysAt, keys, "entries must all be names of item properties");
    else if (property.type === "array" || property.type === "object") {
      const typeAt = child(element(child(at, "items", "properties"), key), "type");
      yield invalid(typeAt, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map");
    }
    if (seen.has(key)) yield invalid(keysAt, keys, "must not contain duplicate entries");
    seen.add(key);
  }
}

/** Items and their keys must be required, or two items could not be distinguished. */
export function* validateMapListKeys(schema: JsonSchema, at: string): Iterable<FieldError> {
  const { "x-kubernetes-list-type": listType, "x-kubernetes-list-map-keys": keys = [] } = schema;
  const items = placesOf(schema).length > 0 ? undefined : itemsOf(schema);
  if (items === undefined || (listType !== "set" && listType !== "map")) return;
  if (items.nullable === true) {
    yield forbidden(child(at, "items", "nullable"), `cannot be nullable when x-kubernetes-list-type is ${listType}`);
  }
  if (listType === "set") return;
  const requiredNames = new Set(items.required);
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) continue;
    const keyAt = element(child(at, "items", "properties"), key);
    if (!requiredNames.has(key) && property.default === undefined) {
      yield required(
        child(keyAt, "default"),
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
      );
    }
    if (property.nullable === true) {
      yield forbidden(child(keyAt, "nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
  }
}
