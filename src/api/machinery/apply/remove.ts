/**
 * Removes fields from an object: those that an applier gave up. Unchanged parts keep their identity. A part that loses everything below it,
 * but not itself, becomes empty.
 */
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, Schema } from "../schema.ts";
import { itemWith, type FieldSet } from "./field-set.ts";
import { fieldElement, type PathElement } from "./field-path.ts";
import { DEDUCED, elementOf, isList, memberSlot, slotsOf, unnamedSlot, type Slot } from "./shape.ts";

export function removeFields(schema: ObjectSchema, object: JsonObject, fields: FieldSet): JsonObject {
  return fields.isEmpty ? object : removeMembers(schema, object, fields);
}

/** The rest of a value after `fields`, at least one, are removed. */
function removeBelow(slot: Slot, value: Json, fields: FieldSet): Json {
  const { schema } = slot;
  if (isList(value)) return schema.type === "list" && !slot.atomic ? removeItems(schema, value, fields) : [];
  if (isObject(value)) return slot.atomic ? {} : removeMembers(schema, value, fields);
  return value;
}

function removeMembers(schema: Schema, object: JsonObject, fields: FieldSet): JsonObject {
  const kept: [string, Json][] = [];
  let same = true;
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const item = fields.get(fieldElement(name));
    const left = item?.children === undefined || item.member ? value : removeBelow(memberSlot(schema, name), value, item.children);
    same &&= item?.member !== true && left === value;
    if (item?.member !== true) kept.push([name, left]);
  }
  return same ? object : Object.fromEntries(kept);
}

function removeItems(schema: ListSchema, list: readonly Json[], fields: FieldSet): readonly Json[] {
  const kept: Json[] = [];
  let same = true;
  for (const item of list) {
    const found = fields.get(elementOf(schema, item));
    const left = found?.children === undefined || found.member ? item : removeBelow(unnamedSlot(schema.items), item, found.children);
    same &&= found?.member !== true && left === item;
    if (found?.member !== true) kept.push(left);
  }
  return same ? list : kept;
}

/**
 * The set with the paths of all named parents of its paths. Sets omit those, since a named field of a struct always exists; but whether it
 * may be removed depends on them: the owner of `a.b` also needs `a`.
 */
export function withNamedFields(schema: ObjectSchema, set: FieldSet): FieldSet {
  return named(schema, set);
}

function named(schema: Schema, set: FieldSet): FieldSet {
  return set.mapItems((item) => {
    if (item.children === undefined) return item;
    return itemWith(item, item.member || isNamed(schema, item.element), named(schemaBelow(schema, item.element), item.children));
  });
}

function isNamed(schema: Schema, element: PathElement): boolean {
  return schema.type === "object" && element[0] === "f" && slotsOf(schema).has(element.slice(2));
}

/** The schema at a path element. */
export function schemaBelow(schema: Schema, element: PathElement): Schema {
  if (schema.type === "list") return element[0] === "k" ? schema.items : DEDUCED;
  return element[0] === "f" ? memberSlot(schema, element.slice(2)).schema : DEDUCED;
}

/**
 * The set as if its fields had always been owned as the schema says now: an atomic value has no paths below it. For sets that were stored
 * when a type was still granular. With `touched`, only along its paths: to compute what a write took from a set this suffices, and the rest
 * of the set stays unparsed.
 */
export function reconciled(schema: Schema, set: FieldSet, touched?: FieldSet): FieldSet {
  return set.mapItems((item) => {
    if (item.children === undefined) return item;
    const near = touched?.get(item.element);
    const slot = touched !== undefined && near === undefined ? undefined : slotBelow(schema, item.element);
    if (slot === undefined) return item;
    if (slot.atomic) return isScalar(slot.schema) ? item : itemWith(item, true, undefined);
    if (touched !== undefined && near?.children === undefined) return item;
    return itemWith(item, item.member, reconciled(slot.schema, item.children, near?.children));
  });
}

function isScalar({ type }: Schema): boolean {
  return type === "string" || type === "integer" || type === "number" || type === "boolean";
}

function slotBelow(schema: Schema, element: PathElement): Slot | undefined {
  if (schema.type === "list") return unnamedSlot(schema.items);
  if (schema.type === "map") return unnamedSlot(schema.values);
  return schema.type === "object" ? slotsOf(schema).get(element.slice(2)) : undefined;
}
