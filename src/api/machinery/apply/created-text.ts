/**
 * Computes what the creator of an object owns, as FieldsV1 text, directly from the object: no field set is built, which most objects never
 * need. The result equals comparing with a blank object (compare.ts) and removing ignored fields; the tests compare the two. Hot path
 * (called per created object): it sorts by numbers where it can and avoids allocating lists.
 *
 * A part that did not exist before is owned with everything in it ("new"); a struct that every object of the type has is not, so of such a
 * part only the differences from the blank one are owned ("known").
 */
import { deepEqual } from "../../../base/deep.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, Schema } from "../schema.ts";
import { compareValues, isPlain, quoted } from "./field-path.ts";
import { DEDUCED, elementOf, isList, keysOf, memberOf, slotsOf, unnamedSlot, type ListKey, type Slot } from "./shape.ts";

/** Ignored fields of the root and of metadata. */
export interface LeftOut {
  readonly root: ReadonlySet<string>;
  readonly metadata: ReadonlySet<string>;
}

export function textOfCreated(schema: ObjectSchema, object: JsonObject, leftOut: LeftOut): string {
  let text = "";
  for (const { name, slot, value } of membersOf(schema, object)) {
    if (leftOut.root.has(name)) continue;
    text += name === "metadata" && isObject(value) ? textOfMetadata(slot, value, leftOut) : textOfKnown(slot, name, value);
  }
  return `{${text.slice(1)}}`;
}

/** Metadata itself is never owned, only its fields. */
function textOfMetadata(metadata: Slot, value: JsonObject, leftOut: LeftOut): string {
  let text = "";
  for (const member of membersOf(metadata.schema, value)) {
    if (!leftOut.metadata.has(member.name)) text += textOfNew(member.slot, member.name, member.value);
  }
  return text === "" ? "" : `${prefixOf(metadata, "metadata")}{${text.slice(1)}}`;
}

interface Member {
  readonly name: string;
  readonly slot: Slot;
  readonly value: Json;
}

/** Up to this many members insertion sort is used: objects have few members, and most are nearly in order. */
const INSERTED_MAX = 32;

/** The members of an object sorted by name. */
function membersOf(schema: Schema, object: JsonObject): readonly Member[] {
  const members: Member[] = [];
  const slots = schema.type === "object" ? slotsOf(schema) : undefined;
  const other = unnamedSlot(schema.type === "map" ? schema.values : DEDUCED);
  for (const name in object) {
    const value = object[name];
    if (value === undefined) continue;
    const member = { name, slot: slots?.get(name) ?? other, value };
    let place = members.push(member) - 1;
    if (place >= INSERTED_MAX) continue;
    for (; place > 0 && isBefore(member, members[place - 1] as Member); place--) members[place] = members[place - 1] as Member;
    members[place] = member;
  }
  return members.length <= INSERTED_MAX ? members : members.sort((a, b) => (isBefore(a, b) ? -1 : 1));
}

function isBefore(a: Member, b: Member): boolean {
  return a.slot.named && b.slot.named ? a.slot.rank < b.slot.rank : a.name < b.name;
}

// Every text that follows begins with a comma, or is empty if nothing is owned; the caller that opens an object strips the first.

function prefixOf(slot: Slot, name: string): string {
  return slot.named ? slot.prefix : isPlain(name) ? `,"f:${name}":` : `,${quoted(`f:${name}`)}:`;
}

function leafOf(slot: Slot, name: string): string {
  return slot.named ? slot.leaf : `${prefixOf(slot, name)}{}`;
}

/** A member at a path that a blank object may have, too. */
function textOfKnown(slot: Slot, name: string, value: Json): string {
  const { schema, blank, absentIsNull, atomic } = slot;
  if (blank === undefined) return textOfNew(slot, name, value);
  if (absentIsNull) return textOfFilled(slot, name, value);
  if (atomic || !isObject(value) || !isObject(blank)) return deepEqual(value, blank) ? "" : leafOf(slot, name);
  let text = "";
  for (const member of membersOf(schema, value)) text += textOfKnown(member.slot, member.name, member.value);
  return text === "" ? "" : `${prefixOf(slot, name)}{${text.slice(1)}}`;
}

/** A list or map that a blank object has as null: its items are new, it itself is not. */
function textOfFilled(slot: Slot, name: string, value: Json): string {
  if (value === null) return "";
  const content = slot.atomic ? "" : contentOf(slot.schema, value);
  return content === "" ? leafOf(slot, name) : `${prefixOf(slot, name)}{${content.slice(1)}}`;
}

/** A new member: owned with everything in it. */
function textOfNew(slot: Slot, name: string, value: Json): string {
  if (slot.atomic || typeof value !== "object" || value === null) return leafOf(slot, name);
  const content = contentOf(slot.schema, value);
  return content === "" ? leafOf(slot, name) : `${prefixOf(slot, name)}{".":{}${content}}`;
}

/** The content of a new value that is not atomic. */
function contentOf(schema: Schema, value: Json): string {
  if (schema.type === "list") return isList(value) && value.length > 0 ? textOfItems(schema, value) : "";
  if (!isObject(value)) return "";
  let text = "";
  for (const member of membersOf(schema, value)) text += textOfNew(member.slot, member.name, member.value);
  return text;
}

function textOfItems(schema: ListSchema, list: readonly Json[]): string {
  const slot = unnamedSlot(schema.items);
  const keys = keysOf(schema);
  const items = isSorted(keys, list) ? list : list.toSorted((a, b) => compareItems(keys, a, b));
  let text = "";
  let last = "";
  let lastText = "";
  for (const item of items) {
    const element = quotedElement(schema, keys, item);
    // Items with the same key are adjacent and owned as one.
    if (element === last) lastText = `,${element}:{}`;
    else {
      text += lastText;
      last = element;
      lastText = textOfItem(slot, element, item);
    }
  }
  return text + lastText;
}

function textOfItem(slot: Slot, element: string, item: Json): string {
  const content = slot.atomic ? "" : contentOf(slot.schema, item);
  return content === "" ? `,${element}:{}` : `,${element}:{".":{}${content}}`;
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
    // Upstream compares key names first, so an item without one key is compared by its next, which sorts later.
    if (value === undefined || other === undefined) {
      if (value !== other) return value === undefined ? 1 : -1;
      continue;
    }
    const order = compareValues(value, other);
    if (order !== 0) return order;
  }
  return 0;
}

/** The path element of an item, quoted. Nearly all keys are plain text or numbers, which need no escapes. */
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
