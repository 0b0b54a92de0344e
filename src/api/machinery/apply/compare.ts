/**
 * Compares two objects of one type: which fields were added, modified, removed. Parts that are identical in both are skipped, so a write of
 * a label costs as much as the labels.
 *
 * As upstream: a new part is added with its own path and all paths below it; an atomic value is one path; list items with the same key are
 * compared as one. A part that is empty on both sides counts as a value, which distinguishes `{}` from absent.
 */
import { deepEqual } from "../../../base/deep.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, Schema } from "../schema.ts";
import { fieldElement, type PathElement } from "./field-path.ts";
import { FieldSet, type FieldItem } from "./field-set.ts";
import {
  elementOf,
  isEmptyObject,
  isList,
  keysOf,
  memberOf,
  memberSlot,
  presentValue,
  rootSlot,
  unnamedSlot,
  type ListKey,
  type Slot,
} from "./shape.ts";

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const NO_DIFFERENCE: Comparison = { added: FieldSet.empty, modified: FieldSet.empty, removed: FieldSet.empty };

export function compareObjects(schema: ObjectSchema, previous: JsonObject, next: JsonObject): Comparison {
  const difference = compareValues(rootSlot(schema), previous, next);
  if (difference === undefined) return NO_DIFFERENCE;
  const { added, modified, removed } = difference.below;
  return { added: setOf(added), modified: setOf(modified), removed: setOf(removed) };
}

export function isSame({ added, modified, removed }: Comparison): boolean {
  return added.isEmpty && modified.isEmpty && removed.isEmpty;
}

/** The differences at one path: the path itself, and those below it. */
interface Difference {
  readonly self: "added" | "modified" | "removed" | undefined;
  readonly below: Below;
}

interface Below {
  added?: FieldItem[];
  modified?: FieldItem[];
  removed?: FieldItem[];
}

const NOTHING_BELOW: Below = Object.freeze({});
const ADDED: Difference = { self: "added", below: NOTHING_BELOW };
const MODIFIED: Difference = { self: "modified", below: NOTHING_BELOW };
const REMOVED: Difference = { self: "removed", below: NOTHING_BELOW };

function setOf(items: readonly FieldItem[] | undefined): FieldSet {
  return items === undefined ? FieldSet.empty : FieldSet.of(items);
}

/** Undefined means absent for a value, and no difference for a result. */
function compareValues(slot: Slot, before: Json | undefined, after: Json | undefined): Difference | undefined {
  if (before === after) return undefined;
  if (slot.atomic) return compareWhole(before, after);
  const { schema } = slot;
  if (schema.type === "list") return compareLists(schema, before, after);
  if (!isObject(before) && !isObject(after)) return compareWhole(before, after);
  return compareMembers(schema, before, after);
}

function compareWhole(before: Json | undefined, after: Json | undefined): Difference | undefined {
  if (before === undefined) return after === undefined ? undefined : ADDED;
  if (after === undefined) return REMOVED;
  return deepEqual(before, after) ? undefined : MODIFIED;
}

function compareMembers(schema: Schema, before: Json | undefined, after: Json | undefined): Difference | undefined {
  const old = isObject(before) && !isEmptyObject(before) ? before : undefined;
  const now = isObject(after) && !isEmptyObject(after) ? after : undefined;
  if (old === undefined && now === undefined) return compareWhole(before, after);
  const below: Below = {};
  for (const name in now) {
    const value = memberOf(now, name);
    const past = memberOf(old, name);
    if (value !== past && value !== undefined) compareMember(below, memberSlot(schema, name), name, before, after);
  }
  for (const name in old) {
    const past = memberOf(old, name);
    if (past !== undefined && memberOf(now, name) === undefined) compareMember(below, memberSlot(schema, name), name, before, after);
  }
  return differenceOf(before, after, below);
}

function compareMember(below: Below, slot: Slot, name: string, before: Json | undefined, after: Json | undefined): void {
  const difference = compareValues(slot, memberValue(before, slot, name), memberValue(after, slot, name));
  if (difference !== undefined) note(below, slot.named ? slot.element : fieldElement(name), difference);
}

/** Fields that are always written exist only where their parent does. */
function memberValue(object: Json | undefined, slot: Slot, name: string): Json | undefined {
  return isObject(object) ? presentValue(memberOf(object, name), slot) : undefined;
}

/** `below`, with the path itself if it was added, removed, or became another kind of value. */
function differenceOf(before: Json | undefined, after: Json | undefined, below: Below): Difference | undefined {
  if (before === undefined) return { self: "added", below };
  if (after === undefined) return { self: "removed", below };
  const otherKind = before !== null && after !== null && isObject(before) !== isObject(after);
  if (otherKind && !(isList(before) && isList(after))) return { self: "modified", below };
  return isNothing(below) ? undefined : { self: undefined, below };
}

function isNothing({ added, modified, removed }: Below): boolean {
  return added === undefined && modified === undefined && removed === undefined;
}

const KINDS = ["added", "modified", "removed"] as const;

function note(below: Below, element: PathElement, difference: Difference | undefined): void {
  if (difference === undefined) return;
  for (const kind of KINDS) {
    const items = difference.below[kind];
    const member = difference.self === kind;
    if (!member && items === undefined) continue;
    (below[kind] ??= []).push({ element, member, children: items === undefined ? undefined : FieldSet.of(items) });
  }
}

function compareLists(schema: ListSchema, before: Json | undefined, after: Json | undefined): Difference | undefined {
  const old = isList(before) ? before : [];
  const now = isList(after) ? after : [];
  if (old.length === 0 && now.length === 0) return compareWhole(before, after);
  const below: Below = {};
  if (areAligned(schema, old, now)) {
    comparePairs(below, schema, old, now);
    return differenceOf(before, after, below);
  }
  const oldItems = itemsByElement(schema, old);
  const newItems = itemsByElement(schema, now);
  for (const [element, past] of oldItems) compareItems(below, { schema, element, past, items: newItems.get(element) ?? [] });
  for (const [element, items] of newItems) if (!oldItems.has(element)) compareItems(below, { schema, element, past: [], items });
  return differenceOf(before, after, below);
}

/** Longer lists are compared by their elements: finding duplicates in pairs would be quadratic. */
const ALIGNED_MAX = 16;

/**
 * True if both lists have the same keys in the same order, each once, as in nearly all updates. Then items are compared in pairs, and only
 * those that differ need a path element.
 */
function areAligned(schema: ListSchema, old: readonly Json[], now: readonly Json[]): boolean {
  if (schema.listType === "set" || old.length !== now.length || old.length > ALIGNED_MAX) return false;
  const keys = keysOf(schema);
  for (let index = 0; index < now.length; index++) {
    if (!isSameKey(keys, old[index] as Json, now[index] as Json)) return false;
    for (let other = 0; other < index; other++) if (isSameKey(keys, now[other] as Json, now[index] as Json)) return false;
  }
  return true;
}

/** True if both items have the same key of plain values. */
function isSameKey(keys: readonly ListKey[], a: Json, b: Json): boolean {
  if (!isObject(a) || !isObject(b)) return false;
  let isPresent = false;
  for (const { name, default: byDefault } of keys) {
    const value = memberOf(a, name) ?? byDefault;
    if (value !== (memberOf(b, name) ?? byDefault) || (typeof value === "object" && value !== null)) return false;
    isPresent ||= value !== undefined;
  }
  return isPresent;
}

function comparePairs(below: Below, schema: ListSchema, old: readonly Json[], now: readonly Json[]): void {
  const slot = unnamedSlot(schema.items);
  for (let index = 0; index < now.length; index++) {
    const item = now[index] as Json;
    const difference = compareValues(slot, old[index], item);
    if (difference !== undefined) note(below, elementOf(schema, item), difference);
  }
}

/** Items by their path element; several where a list has duplicates. */
function itemsByElement(schema: ListSchema, list: readonly Json[]): ReadonlyMap<PathElement, readonly Json[]> {
  const items = new Map<PathElement, Json[]>();
  for (const item of list) {
    const element = elementOf(schema, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, [item]);
    else same.push(item);
  }
  return items;
}

interface ItemsOfElement {
  readonly schema: ListSchema;
  readonly element: PathElement;
  readonly past: readonly Json[];
  readonly items: readonly Json[];
}

function compareItems(below: Below, { schema, element, past, items }: ItemsOfElement): void {
  const slot = unnamedSlot(schema.items);
  if (past.length <= 1 && items.length <= 1) return note(below, element, compareValues(slot, past[0], items[0]));
  if (past.length >= 2 && items.length >= 2) return note(below, element, deepEqual(past, items) ? undefined : MODIFIED);
  // Duplicates are owned as one, so adding and removing them counts beside that of the single remaining item.
  if (past.length >= 2) note(below, element, compareValues(slot, undefined, items[0]));
  else note(below, element, compareValues(slot, past[0], undefined));
  note(below, element, past.length >= 2 ? REMOVED : ADDED);
}
