/**
 * Decodes a plugin's arguments from a configuration: correct types, no unknown fields, upstream's wording. Validation and defaults belong
 * to each plugin.
 */
import { DecodeError } from "../../api/machinery/codec/decode-error.ts";
import { decodeBySchema } from "../../api/machinery/codec/decode.ts";
import { describeMistake } from "../../api/machinery/codec/strict.ts";
import { describeFieldError, type FieldError } from "../../api/machinery/field-error.ts";
import type { Json } from "../../api/machinery/object.ts";
import type { Field, ListSchema, ObjectSchema, ScalarSchema, Schema } from "../../api/machinery/schema.ts";

/** Result of PluginFactory.readArguments. */
export type ReadArguments<Arguments> =
  | { readonly ok: true; readonly arguments: Arguments }
  | { readonly ok: false; readonly problems: readonly string[] };

export const TEXT: ScalarSchema = { type: "string" };
export const INT32: ScalarSchema = { type: "integer", format: "int32" };
export const INT64: ScalarSchema = { type: "integer", format: "int64" };

export function listOf(items: Schema): ListSchema {
  return { type: "list", items, listType: "atomic" };
}

/** `name` is upstream's type name, which is in messages. */
export function structOf(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  const list = Object.entries(fields).map(([field, schema]): readonly [string, Field] => [field, { name: field, schema, zero: "keep" }]);
  return { type: "object", name: `io.k8s.kube-scheduler.config.v1.${name}`, fields: new Map(list), required: [] };
}

/** The root of arguments: they state their kind, too. */
export function argumentsOf(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return structOf(name, { apiVersion: TEXT, kind: TEXT, ...fields });
}

/** Decoded arguments. `unknown` reports unknown fields: the known ones are still validated. */
export type DecodedArguments<Written> =
  | { readonly ok: true; readonly arguments: Written; readonly unknown: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** `Written` is the schema's type, with every field optional. Absent arguments are an empty object. */
export function decodeArguments<Written>(written: unknown, schema: ObjectSchema): DecodedArguments<Written> {
  try {
    const { object, unknownFields } = decodeBySchema((written ?? {}) as Json, schema);
    const unknown = unknownFields.map((path) => describeMistake({ what: "unknown", path }));
    return { ok: true, arguments: object as Written, unknown };
  } catch (error) {
    if (error instanceof DecodeError) return { ok: false, problems: [error.message] };
    throw error;
  }
}

/** The arguments, unless there are errors; `unknown` is that of decodeArguments. */
export function checkedArguments<Arguments>(
  args: Arguments,
  errors: Iterable<FieldError>,
  unknown: readonly string[],
): ReadArguments<Arguments> {
  const problems = [...unknown, ...Array.from(errors, describeFieldError)];
  return problems.length === 0 ? { ok: true, arguments: args } : { ok: false, problems };
}
