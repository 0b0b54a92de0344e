/**
 * Finds atomic lists, maps and structs in an apply configuration. Upstream refuses them: an author who sets one field of an atomic value
 * would remove all its others without noticing.
 */
import { isList, memberSlot, rootSlot, unnamedSlot, type Slot } from "../../../api/machinery/apply/shape.ts";
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import type { ObjectSchema } from "../../../api/machinery/schema.ts";

/** Their paths: ".spec.selector". */
export function atomicsOf(schema: ObjectSchema, object: JsonObject): readonly string[] {
  return [...atomicsIn(rootSlot(schema), object, "")];
}

function* atomicsIn({ schema, atomic }: Slot, value: Json, at: string): Iterable<string> {
  if (isObject(value) && (schema.type === "object" || schema.type === "map")) {
    if (atomic) yield at;
    for (const [name, member] of Object.entries(value)) {
      if (member !== undefined) yield* atomicsIn(memberSlot(schema, name), member, `${at}.${name}`);
    }
  } else if (isList(value) && schema.type === "list") {
    if (atomic) yield at;
    for (const [index, item] of value.entries()) yield* atomicsIn(unnamedSlot(schema.items), item, `${at}[${index}]`);
  }
}
