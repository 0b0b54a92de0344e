/**
 * What is known of a type's fields, as data. Decoding, strict checks, both codecs, strategic merge, server-side apply, OpenAPI and
 * `kubectl explain` all interpret these same values; custom resources bring theirs at run time. Built-in ones are generated
 * (tools/generate, api/schemas.ts). Schemas may refer to each other in circles (JSONSchemaProps), so follow values, not schemas.
 */
import type { GroupVersionKind, Json } from "./object.ts";

export type Schema = ObjectSchema | MapSchema | ListSchema | ScalarSchema | AnySchema | ChoiceSchema;

/** A type with named fields. */
export interface ObjectSchema {
  readonly type: "object";
  /** "io.k8s.api.core.v1.Container". Absent for an unnamed part of a custom resource's schema. */
  readonly name?: string;
  /** In the order in which they are written. A Map, because a field may be called `constructor`. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly required: readonly string[];
  /** Owned and replaced as a whole by server-side apply (x-kubernetes-map-type: atomic). */
  readonly atomic?: true;
  /** Unknown fields are kept and are no mistake (x-kubernetes-preserve-unknown-fields). */
  readonly preserveUnknownFields?: true;
  /** The kinds that have this type at their root. */
  readonly groupVersionKinds?: readonly GroupVersionKind[];
  /** How it is written in protobuf, in the order of the numbers. Absent: it cannot be. */
  readonly protobuf?: readonly ProtobufField[];
}

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  /**
   * What becomes of the zero value (false, 0, "", empty list or map, and for a struct: nothing given) when an object is decoded, so
   * that what is stored and shown is what upstream's types would hold. "keep": as given. "omit": a zero is dropped.
   * "write": a zero is written if nothing was given (for a struct: an object with what its own fields write; for a list or map: null is NOT
   * written, it stays absent).
   */
  readonly zero: "keep" | "omit" | "write";
  /** Overrides the schema's own `atomic` where the field is declared with another map type than its type. */
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
  /** With listType "map": the fields of an item that name it. */
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

/** Any JSON at all. */
export interface AnySchema {
  readonly type: "any";
  /** How it is written in protobuf: RawExtension {raw = 1}, FieldsV1 {Raw = 1}, JSON {raw = 1}: all are JSON text in field 1. */
  readonly format: "raw-extension" | "fields-v1" | "json";
}

/**
 * An object of a type or something that is no object (JSONSchemaPropsOrBool), and in protobuf a message with a field for each of the two.
 * Its type is "any" because only the codecs look into it: documents say nothing of its form, and its ownership is deduced, as upstream.
 */
export interface ChoiceSchema {
  readonly type: "any";
  readonly format: "choice";
  /** What it is in protobuf. JSON has the value of one of its fields in its place. */
  readonly message: ObjectSchema;
  /** The message's field for objects, whose schema is an ObjectSchema. */
  readonly objectField: string;
  /** The message's field for what is none: a list, or a boolean, which is true beside an object. */
  readonly otherField: string;
}

/** A numbered field: one of the type's own, or a struct that is inlined in JSON and a message of its own in protobuf. */
export type ProtobufField =
  | { readonly number: number; readonly field: string }
  | { readonly number: number; readonly inlined: ObjectSchema };

/** Types by their OpenAPI name, made when they are first asked for. */
export interface SchemaSet {
  get(name: string): Schema | undefined;
  names(): Iterable<string>;
}
