/**
 * The fields that an applied object lists, which its manager wants to own. An atomic value is one path; list items and map keys are paths
 * themselves, named fields only if they are null or `{}`. Not here: what the creator of an object owns, which also has the paths of
 * everything that is new (created-text.ts).
 */
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, Schema } from "../schema.ts";
import { fieldElement, type PathElement } from "./field-path.ts";
import { FieldSet, type FieldItem } from "./field-set.ts";
import { elementOf, isEmptyObject, isList, memberSlot, rootSlot, unnamedSlot, type Slot } from "./shape.ts";

export function fieldsOf(schema: ObjectSchema, object: JsonObject): FieldSet {
  return fieldsOfMembers(rootSlot(schema).schema, object);
}

function fieldsOfMembers(schema: Schema, object: JsonObject): FieldSet {
  const items: FieldItem[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined) items.push(fieldsOfMember(name, value, memberSlot(schema, name)));
  }
  return FieldSet.of(items);
}

function fieldsOfMember(name: string, value: Json, slot: Slot): FieldItem {
  const isBare = value === null || (isObject(value) && isEmptyObject(value));
  return fieldsOfValue(fieldElement(name), value, slot, isBare || !slot.named);
}

/** `member`: it is owned itself, whatever its value is. */
function fieldsOfValue(element: PathElement, value: Json, slot: Slot, member: boolean): FieldItem {
  const { schema } = slot;
  const isWhole = slot.atomic || (schema.type === "any" && !isObject(value));
  if (isWhole) return { element, member: true, children: undefined };
  const children =
    schema.type === "list" ? fieldsOfItems(schema, value) : isObject(value) ? fieldsOfMembers(schema, value) : FieldSet.empty;
  return { element, member, children: children.isEmpty ? undefined : children };
}

function fieldsOfItems(schema: ListSchema, list: Json): FieldSet {
  if (!isList(list)) return FieldSet.empty;
  const items = new Map<PathElement, FieldItem>();
  const slot = unnamedSlot(schema.items);
  for (const item of list) {
    const element = elementOf(schema, item);
    // Of items with the same key only their existence is owned, since it is ambiguous which of them is meant.
    items.set(element, items.has(element) ? { element, member: true, children: undefined } : fieldsOfValue(element, item, slot, true));
  }
  return FieldSet.of([...items.values()]);
}
