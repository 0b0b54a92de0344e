/**
 * Formats a part of an object as in upstream's messages. A value that upstream rejects as a whole ("field is immutable") is printed from
 * its internal types, whose fields have other names than those of the API and are all present, also unset ones. The forms are derived from
 * the API's schemas, so there is no second list of fields to maintain.
 */
import type { Json, JsonObject } from "../../machinery/object.ts";
import type { ObjectSchema, Schema } from "../../machinery/schema.ts";
import { schemaOf } from "../../schemas.ts";

/** Fields whose internal name is not that of the API with its first letter in upper case. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["cel", "CEL"],
  ["int", "IntValue"],
  ["bool", "BoolValue"],
  ["string", "StringValue"],
  ["version", "VersionValue"],
  ["ints", "IntValues"],
  ["bools", "BoolValues"],
  ["strings", "StringValues"],
  ["versions", "VersionValues"],
]);

/** `type` is the OpenAPI name of the value's type. */
export function internalForm(value: object | undefined, type: string): Json {
  return objectForm((value ?? {}) as JsonObject, schemaOf(type));
}

function objectForm(object: JsonObject, schema: ObjectSchema): Json {
  const members = [...schema.fields.values()].map((field): [string, Json] => {
    const member = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
    const form = member === undefined || member === null ? absentForm(field.schema, field.zero === "keep") : formOf(member, field.schema);
    return [NAMES.get(field.name) ?? field.name.charAt(0).toUpperCase() + field.name.slice(1), form];
  });
  return Object.fromEntries(members);
}

function formOf(value: Json, schema: Schema): Json {
  if (schema.type === "object") return objectForm(value as JsonObject, schema);
  if (schema.type === "list") return (value as readonly Json[]).map((item) => formOf(item, schema.items));
  return printable(value);
}

/** The value of an unset field: null for a pointer, else the zero value of its type. */
function absentForm(schema: Schema, isOptional: boolean): Json {
  if (isOptional) return null;
  if (schema.type === "object") return objectForm({}, schema);
  if (schema.type === "string") return "";
  if (schema.type === "integer" || schema.type === "number") return 0;
  return schema.type === "boolean" ? false : null;
}

/** Messages cannot show integers beyond 2^53 exactly. */
function printable(value: Json): Json {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(printable);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, printable(member as Json)]));
}
