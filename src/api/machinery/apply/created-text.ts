/**
 * Computes what the creator of an object owns, as FieldsV1 text, directly from the object: no field set is built, which most objects never
 * need. The result equals comparing with a blank object (compare.ts) and removing ignored fields; the tests compare the two. Hot path
 * (called per created object): it sorts by numbers where it can and avoids allocating lists.
 *
 * A part that did not exist before is owned with everything in it ("new"); a struct that every object of the type has is not, so of such a
 * part only the differences from the blank one are owned ("known").
 */
import { assert } from "../../../base/assert.ts";
import { deepEqual } from "../../../base/deep.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, Schema } from "../schema.ts";
import { compareValues, isPlain, quoted } from "./field-path.ts";
import { DEDUCED, elementOf, isEmptyObject, isList, keysOf, memberOf, slotsOf, unnamedSlot, type ListKey, type Slot } from "./shape.ts";

/** Ignored fields of the root and of metadata. */
export interface LeftOut {
  readonly root: ReadonlySet<string>;
  readonly metadata: ReadonlySet<string>;
}

export function textOfCreated(schema: ObjectSchema, object: JsonObject, leftOut: LeftOut): string {
  const text = new FieldsText();
  try {
    writeMembers(text, schema, object, (_, slot, name, value) => {
      if (leftOut.root.has(name)) return;
      if (name === "metadata" && isObject(value)) writeMetadata(text, slot, value, leftOut);
      else writeKnown(text, slot, name, value);
    });
  } finally {
    members.clear();
  }
  return text.end();
}

/** Metadata itself is never owned, only its fields. */
function writeMetadata(text: FieldsText, metadata: Slot, value: JsonObject, leftOut: LeftOut): void {
  const opened = text.open(prefixOf(metadata, "metadata"));
  writeMembers(text, metadata.schema, value, (_, slot, name, member) => {
    if (!leftOut.metadata.has(name)) writeNew(text, slot, name, member);
  });
  text.close(opened, "");
}

/**
 * Text that is only appended to: V8 then keeps references to the pieces, and copies each once, at the end. Taking a part of what was
 * written would copy all of it. Members begin with a comma, which the first of an object drops.
 */
class FieldsText {
  #text = "{";
  #isFirst = true;

  member(text: string): void {
    this.#text += this.#isFirst ? text.slice(1) : text;
    this.#isFirst = false;
  }

  /** Returns what `close` needs. */
  open(prefix: string): Opened {
    const opened = { before: this.#text, isFirst: this.#isFirst, content: "" };
    this.member(prefix);
    opened.content = this.#text += "{";
    this.#isFirst = true;
    return opened;
  }

  /** If nothing was written since, `instead` takes the place of what was opened. */
  close({ before, isFirst, content }: Opened, instead: string): void {
    if (this.#text === content) {
      this.#text = before;
      this.#isFirst = isFirst;
      if (instead !== "") this.member(instead);
      return;
    }
    this.#text += "}";
    this.#isFirst = false;
  }

  /**
   * The finished text, in one piece: reading a character makes V8 copy the pieces together now. Otherwise a Pod's text would consist of some two
   * hundred pieces for as long as it is kept, and the garbage collector would move them one by one.
   */
  end(): string {
    const text = `${this.#text}}`;
    assert(text.charCodeAt(text.length - 1) === CLOSE_BRACE, "the text of a field set ends with a brace");
    return text;
  }
}

const CLOSE_BRACE = 0x7d;

interface Opened {
  readonly before: string;
  readonly isFirst: boolean;
  content: string;
}

/**
 * The members of the objects that are being visited, each object's sorted by name. One stack for all of them: a list and an entry per member
 * would be a tenth of what the creation of a Pod allocates. Visiting is synchronous, so there is one visit at a time.
 */
class MemberStack {
  readonly #names: string[] = [];
  readonly #slots: Slot[] = [];
  readonly #values: Json[] = [];
  #top = 0;

  get top(): number {
    return this.#top;
  }

  nameAt(index: number): string {
    return this.#names[index] as string;
  }

  slotAt(index: number): Slot {
    return this.#slots[index] as Slot;
  }

  valueAt(index: number): Json {
    return this.#values[index] as Json;
  }

  /** Members of one object, from the top on. */
  push(schema: Schema, object: JsonObject): void {
    const from = this.#top;
    const slots = schema.type === "object" ? slotsOf(schema) : undefined;
    const other = unnamedSlot(schema.type === "map" ? schema.values : DEDUCED);
    for (const name in object) {
      const value = object[name];
      if (value === undefined) continue;
      const slot = slots?.get(name) ?? other;
      let place = this.#top++;
      // Insertion sort: objects have few members, and most are nearly in order.
      if (place - from < INSERTED_MAX) {
        for (; place > from && this.#isBefore(slot, name, place - 1); place--) this.#move(place - 1, place);
      }
      this.#put(place, slot, name, value);
    }
    if (this.#top - from > INSERTED_MAX) this.#sort(from);
  }

  pop(top: number): void {
    this.#top = top;
  }

  /** Releases what was visited, and keeps the memory for the next object unless it is much. */
  clear(): void {
    this.#top = 0;
    this.#names.fill("");
    this.#values.fill(null);
    if (this.#values.length > KEPT_MAX) for (const part of [this.#names, this.#slots, this.#values]) part.length = 0;
  }

  #put(place: number, slot: Slot, name: string, value: Json): void {
    this.#names[place] = name;
    this.#slots[place] = slot;
    this.#values[place] = value;
  }

  #move(from: number, to: number): void {
    this.#put(to, this.slotAt(from), this.nameAt(from), this.valueAt(from));
  }

  #isBefore(slot: Slot, name: string, index: number): boolean {
    const other = this.slotAt(index);
    return slot.named && other.named ? slot.rank < other.rank : name < this.nameAt(index);
  }

  /** For objects with so many members that insertion sort would be slow. */
  #sort(from: number): void {
    const sorted = Array.from({ length: this.#top - from }, (_, index) => {
      const at = from + index;
      return { slot: this.slotAt(at), name: this.nameAt(at), value: this.valueAt(at) };
    });
    sorted.sort((a, b) => ((a.slot.named && b.slot.named ? a.slot.rank < b.slot.rank : a.name < b.name) ? -1 : 1));
    for (const [index, { slot, name, value }] of sorted.entries()) this.#put(from + index, slot, name, value);
  }
}

/** Entries that are kept between objects: more than an ordinary object needs at its deepest member. */
const KEPT_MAX = 256;

/** Up to this many members insertion sort is used. */
const INSERTED_MAX = 32;

const members = new MemberStack();

type WriteMember = (text: FieldsText, slot: Slot, name: string, value: Json) => void;

/** Writes the members of an object, sorted by name. */
function writeMembers(text: FieldsText, schema: Schema, object: JsonObject, write: WriteMember): void {
  const from = members.top;
  members.push(schema, object);
  const end = members.top;
  for (let index = from; index < end; index++) write(text, members.slotAt(index), members.nameAt(index), members.valueAt(index));
  members.pop(from);
}

/** With a comma before it, as everything that is written. */
function prefixOf(slot: Slot, name: string): string {
  return slot.named ? slot.prefix : isPlain(name) ? `,"f:${name}":` : `,${quoted(`f:${name}`)}:`;
}

function leafOf(slot: Slot, name: string): string {
  return slot.named ? slot.leaf : `${prefixOf(slot, name)}{}`;
}

/** A member at a path that a blank object may have, too. */
function writeKnown(text: FieldsText, slot: Slot, name: string, value: Json): void {
  const { schema, blank, absentIsNull, atomic } = slot;
  if (blank === undefined) return writeNew(text, slot, name, value);
  if (absentIsNull) return writeFilled(text, slot, name, value);
  if (atomic || !isObject(value) || !isObject(blank)) return deepEqual(value, blank) ? undefined : text.member(leafOf(slot, name));
  const opened = text.open(prefixOf(slot, name));
  writeMembers(text, schema, value, writeKnown);
  text.close(opened, "");
}

/** A list or map that a blank object has as null: its items are new, it itself is not. */
function writeFilled(text: FieldsText, slot: Slot, name: string, value: Json): void {
  if (value === null) return;
  if (slot.atomic) return text.member(leafOf(slot, name));
  const opened = text.open(prefixOf(slot, name));
  writeContent(text, slot.schema, value);
  text.close(opened, leafOf(slot, name));
}

/** A new member: owned with everything in it. */
function writeNew(text: FieldsText, slot: Slot, name: string, value: Json): void {
  if (slot.atomic || !hasContent(slot.schema, value)) return text.member(leafOf(slot, name));
  writeOwned(text, prefixOf(slot, name), slot.schema, value);
}

/** A path that is owned itself, with its content. */
function writeOwned(text: FieldsText, prefix: string, schema: Schema, value: Json): void {
  const opened = text.open(prefix);
  text.member(SELF);
  writeContent(text, schema, value);
  text.close(opened, "");
}

const SELF = `,".":{}`;

/** True if `writeContent` writes anything. */
function hasContent(schema: Schema, value: Json): boolean {
  if (schema.type === "list") return isList(value) && value.length > 0;
  return isObject(value) && !isEmptyObject(value);
}

/** The content of a new value that is not atomic. */
function writeContent(text: FieldsText, schema: Schema, value: Json): void {
  if (schema.type === "list") {
    if (isList(value) && value.length > 0) writeItems(text, schema, value);
  } else if (isObject(value)) {
    writeMembers(text, schema, value, writeNew);
  }
}

function writeItems(text: FieldsText, schema: ListSchema, list: readonly Json[]): void {
  const slot = unnamedSlot(schema.items);
  const keys = keysOf(schema);
  const items = isSorted(keys, list) ? list : list.toSorted((a, b) => compareItems(keys, a, b));
  let element = quotedElement(schema, keys, items[0] as Json);
  for (let index = 0, next = 1; index < items.length; index = next++) {
    const item = items[index] as Json;
    const prefix = `,${element}:`;
    // Items with the same key are adjacent and owned as one.
    const own = element;
    while (next < items.length && (element = quotedElement(schema, keys, items[next] as Json)) === own) next++;
    if (next > index + 1 || slot.atomic || !hasContent(slot.schema, item)) text.member(`${prefix}{}`);
    else writeOwned(text, prefix, slot.schema, item);
  }
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
