/**
 * The differences of two versions of an object, field by field, and who owns each. Items of a list whose items have distinct names
 * (containers, ports, conditions by type) are matched by it, so that an inserted item does not change all that follow.
 */
import { isObject, type Json, type JsonObject, type ManagedFieldsEntry } from "../api/machinery/object.ts";
import type { FieldWriter } from "./explain-api.ts";

/** A member, an index, or the item of a list by one of its members. */
export type PathElement = string | number | { readonly index: number; readonly key: string; readonly value: Json };

export interface ValueChange {
  readonly path: readonly PathElement[];
  readonly before?: Json;
  readonly after?: Json;
}

/** Members that identify the items of a list, in the order of preference. */
const KEYS = ["name", "type", "containerPort", "port", "mountPath", "ip", "uid", "key"] as const;

/** Every write changes them; they say nothing about what was changed. */
const IGNORED = new Set(["resourceVersion", "managedFields", "generation"]);

/** `undefined`: the object does not exist on that side. */
export function diffObjects(before: JsonObject | undefined, after: JsonObject | undefined): readonly ValueChange[] {
  return diff(before, after, []);
}

function diff(before: Json | undefined, after: Json | undefined, path: readonly PathElement[]): readonly ValueChange[] {
  if (before === after) return [];
  if (isObject(before) && isObject(after)) return diffMembers(before, after, path);
  if (isList(before) && isList(after)) return diffItems(before, after, path);
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

function diffMembers(before: JsonObject, after: JsonObject, path: readonly PathElement[]): readonly ValueChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const isMetadata = path.length === 1 && path[0] === "metadata";
  return [...names]
    .filter((name) => !(isMetadata && IGNORED.has(name)))
    .flatMap((name) => diff(before[name], after[name], [...path, name]));
}

function diffItems(before: readonly Json[], after: readonly Json[], path: readonly PathElement[]): readonly ValueChange[] {
  const key = KEYS.find((each) => isKeyOf(each, before) && isKeyOf(each, after));
  if (key === undefined) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => diff(before[index], after[index], [...path, index])).flat();
  }
  const values = new Set([...before, ...after].map((item) => memberOf(item, key)));
  return [...values].flatMap((value) => {
    const [old, now] = [itemWith(before, key, value), itemWith(after, key, value)];
    const index = now === undefined ? before.indexOf(old as Json) : after.indexOf(now);
    return diff(old, now, [...path, { index, key, value: value as Json }]);
  });
}

function isKeyOf(key: string, items: readonly Json[]): boolean {
  const values = items.map((item) => memberOf(item, key));
  return values.every((value) => typeof value === "string" || typeof value === "number") && new Set(values).size === values.length;
}

function itemWith(items: readonly Json[], key: string, value: Json | undefined): Json | undefined {
  return items.find((item) => memberOf(item, key) === value);
}

function memberOf(item: Json | undefined, key: string): Json | undefined {
  return isObject(item) ? item[key] : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The value at a path in any version of the object. */
export function valueAt(object: Json | undefined, path: readonly PathElement[]): Json | undefined {
  return path.reduce<Json | undefined>((value, element) => {
    if (typeof element === "string") return memberOf(value, element);
    if (!isList(value)) return undefined;
    return typeof element === "number" ? value[element] : itemWith(value, element.key, element.value);
  }, object);
}

/** Members and indexes, as the explain API shows a path. */
export function shownPath(path: readonly PathElement[]): readonly (string | number)[] {
  return path.map((element) => (typeof element === "object" ? element.index : element));
}

/** The managers that own the field. `object`: the version of the object that the entries belong to. */
export function writersOf(
  entries: readonly ManagedFieldsEntry[],
  object: JsonObject,
  path: readonly PathElement[],
): readonly FieldWriter[] {
  const depths = entries.map(({ fieldsV1 }) => (fieldsV1 === undefined ? 0 : ownedDepth(fieldsV1, object, path)));
  const deepest = Math.max(...depths, 1);
  return entries
    .filter((_, index) => depths[index] === deepest)
    .map(({ manager = "", operation = "Update", time, subresource }) => ({
      manager,
      operation,
      ...(time === undefined ? {} : { time }),
      ...(subresource === undefined ? {} : { subresource }),
    }));
}

/**
 * How many elements of the path an entry names, if it owns the field: all of them, or fewer if it ends at a field that it owns as a whole.
 * The latter also describes the owner of an object that others have filled, so the deepest owner counts. 0: it does not own the field.
 */
function ownedDepth(fields: JsonObject, object: JsonObject, path: readonly PathElement[]): number {
  let current = fields;
  let value: Json | undefined = object;
  for (const [depth, element] of path.entries()) {
    if (Object.keys(current).length === 0) return depth;
    value = valueAt(value, [element]);
    const name: string | undefined = typeof element === "string" ? `f:${element}` : itemName(current, value, element);
    const next: Json | undefined = name === undefined ? undefined : current[name];
    if (!isObject(next)) return 0;
    current = next;
  }
  return path.length;
}

/** The name of a list item in fieldsV1: `k:{"name":"web"}`, `v:"finalizer"` or `i:0`. */
function itemName(fields: JsonObject, item: Json | undefined, element: Exclude<PathElement, string>): string | undefined {
  return Object.keys(fields).find((name) => {
    if (name.startsWith("i:")) return name === `i:${typeof element === "number" ? element : element.index}`;
    if (name.startsWith("v:")) return name.slice(2) === JSON.stringify(item);
    return (
      name.startsWith("k:") &&
      Object.entries(JSON.parse(name.slice(2)) as JsonObject).every(([key, value]) => memberOf(item, key) === value)
    );
  });
}
