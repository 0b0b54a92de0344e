/**
 * Schemas of types, as data. Decoding, strict validation, both codecs, strategic merge, server-side apply, OpenAPI and `kubectl explain`
 * all interpret the same values; custom resources bring theirs at run time. Built-in ones are generated (tools/generate, api/schemas.ts).
 * Schemas may be recursive (JSONSchemaProps), so recurse over values, not schemas.
 */
import type { GroupVersionKind, Json } from "./object.ts";

export type Schema = ObjectSchema | MapSchema | ListSchema | ScalarSchema | AnySchema | ChoiceSchema;

/** A type with named fields. */
export interface ObjectSchema {
  readonly type: "object";
  /** "io.k8s.api.core.v1.Container". Absent for an unnamed part of a custom resource's schema. */
  readonly name?: string;
  /** In serialization order. A Map, because a field may be named `constructor`. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly required: readonly string[];
  /** Owned and replaced as a whole by server-side apply (x-kubernetes-map-type: atomic). */
  readonly atomic?: true;
  /** Unknown fields are kept and are no error (x-kubernetes-preserve-unknown-fields). */
  readonly preserveUnknownFields?: true;
  /** The kinds that have this type at their root. */
  readonly groupVersionKinds?: readonly GroupVersionKind[];
  /** Protobuf fields by number. Absent: the type has no protobuf form. */
  readonly protobuf?: readonly ProtobufField[];
}

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  /**
   * Handling of the zero value (false, 0, "", empty list or map, and for a struct: nothing given) when an object is decoded, so that stored
   * and returned objects equal upstream's. "keep": as given. "omit": a zero is dropped. "write": a zero is written if nothing was given
   * (for a struct: an object with what its own fields write; for a list or map: null is NOT written, it stays absent).
   */
  readonly zero: "keep" | "omit" | "write";
  /** Overrides the schema's own `atomic` where the field declares another map type than its type. */
  readonly atomic?: boolean;
  /** Strategic merge: absent means "replace" for lists, and merging for objects and maps. */
  readonly patchStrategy?: readonly ("merge" | "replace" | "retainKeys")[];
  readonly patchMergeKey?: string;
  readonly default?: Json;
}

/** Any keys, values of one schema. */
export interface MapSchema {
  readonly type: "map";
  readonly values: Schema;
  readonly atomic?: true;
}

export interface ListSchema {
  readonly type: "list";
  readonly items: Schema;
  readonly listType: "atomic" | "set" | "map";
  /** With listType "map": the key fields of an item. */
  readonly mapKeys?: readonly string[];
  /** In protobuf it is a message of its own with the items in field 1 (ExtraValue, Verbs). */
  readonly wrappedInProtobuf?: true;
}

export interface ScalarSchema {
  readonly type: "string" | "integer" | "number" | "boolean";
  /**
   * string: "byte" (base64), "date-time" (Time), "micro-time" (MicroTime), "duration" (metav1.Duration), "quantity", "int-or-string" (the JSON may be either).
   * integer: "int32", "int64". number: "double".
   */
  readonly format?: "int32" | "int64" | "double" | "byte" | "date-time" | "micro-time" | "duration" | "quantity" | "int-or-string";
  readonly enum?: readonly string[];
}

/** Any JSON value. */
export interface AnySchema {
  readonly type: "any";
  /** Protobuf form: RawExtension {raw = 1}, FieldsV1 {Raw = 1}, JSON {raw = 1}: all have JSON text in field 1. */
  readonly format: "raw-extension" | "fields-v1" | "json";
}

/**
 * An object of a type or a value that is no object (JSONSchemaPropsOrBool), and in protobuf a message with a field for each of the two. Its
 * type is "any" because only the codecs interpret it: OpenAPI does not describe its form, and its ownership is deduced, as upstream.
 */
export interface ChoiceSchema {
  readonly type: "any";
  readonly format: "choice";
  /** The protobuf message. JSON has the value of one of its fields instead. */
  readonly message: ObjectSchema;
  /** The message's field for objects, whose schema is an ObjectSchema. */
  readonly objectField: string;
  /** The message's field for other values: a list, or a boolean, which is true beside an object. */
  readonly otherField: string;
}

/** A numbered field: one of the type's own, or a struct that is inlined in JSON and a message of its own in protobuf. */
export type ProtobufField =
  | { readonly number: number; readonly field: string }
  | { readonly number: number; readonly inlined: ObjectSchema };

/** Types by their OpenAPI name, linked on first use. */
export interface SchemaSet {
  get(name: string): Schema | undefined;
  names(): Iterable<string>;
}
