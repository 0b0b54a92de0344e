/**
 * Fields that a path of the API does not write, so that no manager gains ownership through it: the status for a write of the object itself,
 * everything but the status for a write of the status.
 */
import { fieldElement } from "./field-path.ts";
import { FieldSet, itemWith } from "./field-set.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema } from "../schema.ts";
import { elementOf, isList, keysOf, memberOf, memberSlot, unnamedSlot, type Slot } from "./shape.ts";

/** Matches every key of a map and every item of a list. */
export const ANY_ELEMENT = "*";

export type IgnoredFields =
  /** These fields, by their names from the root, with everything below them: [["status"]]. */
  | readonly (readonly string[])[]
  /** Everything but these fields and what is below them: [["spec", "containers", ANY_ELEMENT, "resources"]]. */
  | { readonly only: readonly (readonly string[])[] };

const excludedSets = new WeakMap<IgnoredFields, FieldSet>();

/** `set` without the ignored fields. */
export function withoutIgnored(set: FieldSet, ignored: IgnoredFields | undefined): FieldSet {
  if (ignored === undefined || set.isEmpty) return set;
  if ("only" in ignored) return onlyMatching(set, ignored.only);
  let excluded = excludedSets.get(ignored);
  if (excluded === undefined) {
    excluded = FieldSet.fromPaths(ignored.map((path) => path.map(fieldElement)));
    excludedSets.set(ignored, excluded);
  }
  return set.recursiveDifference(excluded);
}

/** A path is kept if it begins with one of `paths`, or is a prefix of one. */
function onlyMatching(set: FieldSet, paths: readonly (readonly string[])[]): FieldSet {
  if (paths.some((path) => path.length === 0)) return set;
  return set.mapItems((item) => {
    const matching = paths.filter(([first = ""]) => first === ANY_ELEMENT || fieldElement(first) === item.element);
    if (matching.length === 0) return undefined;
    const rest = matching.map((path) => path.slice(1));
    return itemWith(item, item.member, item.children === undefined ? undefined : onlyMatching(item.children, rest));
  });
}

const ignoredRoots = new WeakMap<IgnoredFields, readonly string[]>();

/**
 * `next` with the ignored root fields of `previous`, so that they are not compared: a write of a status sends the whole spec. Throws
 * UnnamedItem as a comparison would.
 */
export function withIgnoredOf(
  schema: ObjectSchema,
  previous: JsonObject,
  next: JsonObject,
  ignored: IgnoredFields | undefined,
): JsonObject {
  if (ignored === undefined || "only" in ignored) return next;
  let roots = ignoredRoots.get(ignored);
  if (roots === undefined) ignoredRoots.set(ignored, (roots = ignored.flatMap((path) => (path.length === 1 ? path : []))));
  if (roots.every((name) => memberOf(next, name) === memberOf(previous, name))) return next;
  const result: Record<string, Json | undefined> = { ...next };
  for (const name of roots) {
    const kept = memberOf(previous, name);
    if (next[name] !== kept) checkNamed(memberSlot(schema, name), next[name]);
    if (kept === undefined) delete result[name];
    else result[name] = kept;
  }
  return result;
}

/** Throws UnnamedItem if an item of a list with keys, or of a set, has none. */
function checkNamed({ schema, atomic }: Slot, value: Json | undefined): void {
  if (atomic) return;
  if (schema.type !== "list") {
    if (isObject(value)) for (const name in value) checkNamed(memberSlot(schema, name), value[name]);
    return;
  }
  if (!isList(value)) return;
  const slot = unnamedSlot(schema.items);
  for (const item of value) {
    if (!hasName(schema, item)) elementOf(schema, item);
    checkNamed(slot, item);
  }
}

/** False if only `elementOf` knows. */
function hasName(schema: ListSchema, item: Json): boolean {
  if (schema.listType === "set") return typeof item === "string" || typeof item === "number";
  for (const { name } of keysOf(schema)) if (isObject(item) && memberOf(item, name) !== undefined) return true;
  return false;
}

const rootFieldSets = new WeakMap<IgnoredFields, ReadonlySet<string>>();
const NOTHING_IGNORED: IgnoredFields = [];

/** The root fields that are ignored with everything in them, and `more`; undefined if that does not cover everything. */
export function ignoredRootFields(ignored: IgnoredFields = NOTHING_IGNORED, more: readonly string[]): ReadonlySet<string> | undefined {
  if ("only" in ignored || ignored.some((path) => path.length !== 1)) return undefined;
  let names = rootFieldSets.get(ignored);
  if (names === undefined) rootFieldSets.set(ignored, (names = new Set([...more, ...ignored.flat()])));
  return names;
}
