/**
 * Reads a plugin's arguments as they stand in a configuration: of the right types, with no unknown fields, in upstream's words. The rules
 * and the defaults are each plugin's own.
 */
import { DecodeError } from "../../api/machinery/codec/decode-error.ts";
import { decodeBySchema } from "../../api/machinery/codec/decode.ts";
import { describeMistake } from "../../api/machinery/codec/strict.ts";
import { describeFieldError, type FieldError } from "../../api/machinery/field-error.ts";
import type { Json } from "../../api/machinery/object.ts";
import type { Field, ListSchema, ObjectSchema, ScalarSchema, Schema } from "../../api/machinery/schema.ts";

/** What PluginFactory.readArguments answers. */
export type ReadArguments<Arguments> =
  | { readonly ok: true; readonly arguments: Arguments }
  | { readonly ok: false; readonly problems: readonly string[] };

export const TEXT: ScalarSchema = { type: "string" };
export const INT32: ScalarSchema = { type: "integer", format: "int32" };
export const INT64: ScalarSchema = { type: "integer", format: "int64" };

export function listOf(items: Schema): ListSchema {
  return { type: "list", items, listType: "atomic" };
}

/** `name` is upstream's name of the type, which stands in messages. */
export function structOf(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  const list = Object.entries(fields).map(([field, schema]): readonly [string, Field] => [field, { name: field, schema, zero: "keep" }]);
  return { type: "object", name: `io.k8s.kube-scheduler.config.v1.${name}`, fields: new Map(list), required: [] };
}

/** The root of arguments: they say of which kind they are, too. */
export function argumentsOf(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return structOf(name, { apiVersion: TEXT, kind: TEXT, ...fields });
}

/** Arguments of the right types. `unknown` complains of fields that there are not: what the others say is worth checking all the same. */
export type DecodedArguments<Written> =
  | { readonly ok: true; readonly arguments: Written; readonly unknown: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** `Written` is the schema's type, with every field optional. Nothing written is read as an empty object. */
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

/** The arguments, unless there is something wrong with them; `unknown` is that of decodeArguments. */
export function checkedArguments<Arguments>(
  args: Arguments,
  errors: Iterable<FieldError>,
  unknown: readonly string[],
): ReadArguments<Arguments> {
  const problems = [...unknown, ...Array.from(errors, describeFieldError)];
  return problems.length === 0 ? { ok: true, arguments: args } : { ok: false, problems };
}
