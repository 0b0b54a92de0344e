/**
 * What the creator of an object owns, as FieldsV1 text, straight from the object: no set is built for what most objects never need one of.
 * It is the same as comparing with a blank object (compare.ts) and leaving out what is never owned; the tests hold the two together.
 * It runs for every object that is created, so it sorts by numbers where it can and makes no list that it can do without.
 *
 * A part that was not there before is owned with everything in it ("new"); a struct that every object of the type has is not, so of such
 * a part only what differs from the blank one is owned ("known").
 */
import { deepEqual } from "../../../base/deep.ts";
import type { Json, JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, Schema } from "../schema.ts";
import { compareValues, isPlain, quoted } from "./field-path.ts";
import {
  DEDUCED,
  elementOf,
  isEmptyObject,
  isList,
  isObject,
  keysOf,
  memberOf,
  slotsOf,
  unnamedSlot,
  type ListKey,
  type Slot,
} from "./shape.ts";

/** Which fields of the root, and which of metadata, are never owned. */
export interface LeftOut {
  readonly root: ReadonlySet<string>;
  readonly metadata: ReadonlySet<string>;
}

export function textOfCreated(schema: ObjectSchema, object: JsonObject, leftOut: LeftOut): string {
  let text = "";
  for (const { name, slot, value } of membersOf(schema, object)) {
    if (leftOut.root.has(name)) continue;
    const part = name === "metadata" && isObject(value) ? textOfMetadata(slot.schema, value, leftOut) : textOfKnown(slot, value);
    if (part !== undefined) text += `${text === "" ? "" : ","}${prefixOf(slot, name)}${part}`;
  }
  return `{${text}}`;
}

/** Metadata itself is never owned, only what is in it. */
function textOfMetadata(schema: Schema, metadata: JsonObject, leftOut: LeftOut): string | undefined {
  let text = "";
  for (const { name, slot, value } of membersOf(schema, metadata)) {
    if (!leftOut.metadata.has(name)) text += `${text === "" ? "" : ","}${prefixOf(slot, name)}${textOfNew(slot, value)}`;
  }
  return text === "" ? undefined : `{${text}}`;
}

interface Member {
  readonly name: string;
  readonly slot: Slot;
  readonly value: Json;
}

/** The members of an object in the order of their names. */
function membersOf(schema: Schema, object: JsonObject): readonly Member[] {
  const members: Member[] = [];
  const slots = schema.type === "object" ? slotsOf(schema) : undefined;
  const other = unnamedSlot(schema.type === "map" ? schema.values : DEDUCED);
  for (const name in object) {
    const value = object[name];
    if (value === undefined) continue;
    const member = { name, slot: slots?.get(name) ?? other, value };
    // Objects have few members, and most come nearly in order.
    let place = members.length;
    while (place > 0 && isBefore(member, members[place - 1] as Member)) place--;
    if (place === members.length) members.push(member);
    else members.splice(place, 0, member);
  }
  return members;
}

function isBefore(a: Member, b: Member): boolean {
  return a.slot.named && b.slot.named ? a.slot.rank < b.slot.rank : a.name < b.name;
}

function prefixOf(slot: Slot, name: string): string {
  return slot.named ? slot.prefix : isPlain(name) ? `"f:${name}":` : `${quoted(`f:${name}`)}:`;
}

/** What is owned of a value at a place that a blank object may have, too; undefined if nothing is. */
function textOfKnown(slot: Slot, value: Json): string | undefined {
  const { schema, blank, absentIsNull, atomic } = slot;
  if (blank === undefined) return textOfNew(slot, value);
  if (absentIsNull) return textOfFilled(slot, value);
  if (atomic || !isObject(value) || !isObject(blank)) return deepEqual(value, blank) ? undefined : "{}";
  let text = "";
  for (const member of membersOf(schema, value)) {
    const part = textOfKnown(member.slot, member.value);
    if (part !== undefined) text += `${text === "" ? "" : ","}${prefixOf(member.slot, member.name)}${part}`;
  }
  return text === "" ? undefined : `{${text}}`;
}

/** A list or map that a blank object has as null: its items are new, it itself is not. */
function textOfFilled(slot: Slot, value: Json): string | undefined {
  if (value === null) return undefined;
  const text = textOfNew(slot, value);
  return text.startsWith(DOT) ? `{${text.slice(DOT.length)}` : text;
}

const DOT = '{".":{},';

/** What is owned of a value at a place where there was nothing: all of it. */
function textOfNew(slot: Slot, value: Json): string {
  if (slot.atomic || typeof value !== "object" || value === null) return "{}";
  const { schema } = slot;
  if (schema.type === "list") return isList(value) && value.length > 0 ? textOfItems(schema, value) : "{}";
  if (isList(value) || isEmptyObject(value)) return "{}";
  let text = '{".":{}';
  for (const member of membersOf(schema, value)) text += `,${prefixOf(member.slot, member.name)}${textOfNew(member.slot, member.value)}`;
  return `${text}}`;
}

function textOfItems(schema: ListSchema, list: readonly Json[]): string {
  const slot = unnamedSlot(schema.items);
  const keys = keysOf(schema);
  const items = isSorted(keys, list) ? list : list.toSorted((a, b) => compareItems(keys, a, b));
  let text = '{".":{}';
  let element = "";
  let content = "";
  for (const item of items) {
    const next = quotedElement(schema, keys, item);
    // Items that share their key stand side by side and are owned as one.
    if (next === element) content = "{}";
    else {
      if (element !== "") text += `,${element}:${content}`;
      element = next;
      content = textOfNew(slot, item);
    }
  }
  return `${text},${element}:${content}}`;
}

function isSorted(keys: readonly ListKey[], list: readonly Json[]): boolean {
  for (let index = 1; index < list.length; index++) {
    if (compareItems(keys, list[index - 1] as Json, list[index] as Json) > 0) return false;
  }
  return true;
}

/** Without keys, an item of a set. */
function compareItems(keys: readonly ListKey[], a: Json, b: Json): number {
  if (!isObject(a) || !isObject(b)) return compareValues(a, b);
  for (const { name, default: byDefault } of keys) {
    const value = memberOf(a, name) ?? byDefault;
    const other = memberOf(b, name) ?? byDefault;
    // Upstream compares names of keys first, so who leaves one out is compared by its next, which comes later in the alphabet.
    if (value === undefined || other === undefined) {
      if (value !== other) return value === undefined ? 1 : -1;
      continue;
    }
    const order = compareValues(value, other);
    if (order !== 0) return order;
  }
  return 0;
}

/** The step to an item, in quotes. Nearly all keys are plain text or numbers, which need no escapes. */
function quotedElement(schema: ListSchema, keys: readonly ListKey[], item: Json): string {
  if (keys.length === 0 || !isObject(item)) return quoted(elementOf(schema, item));
  let text = "";
  for (const { name, default: byDefault } of keys) {
    const value = memberOf(item, name) ?? byDefault;
    const shown = typeof value === "number" ? value : typeof value === "string" && isPlain(value) ? `\\"${value}\\"` : undefined;
    if (shown === undefined) return quoted(elementOf(schema, item));
    text += `${text === "" ? "" : ","}\\"${name}\\":${shown}`;
  }
  return `"k:{${text}}"`;
}
