/**
 * Random objects of a schema, in decoded form (decode.ts): canonical, without nulls, and without empty lists and maps, which protobuf
 * cannot distinguish from absent ones. Fields that protobuf does not have (the root's `apiVersion` and `kind`) are omitted for types with a
 * protobuf form. For property tests of code that is generic over schemas.
 */
import fc, { type Arbitrary } from "fast-check";
import { formatDuration } from "../../duration.ts";
import type { Json, JsonObject } from "../../object.ts";
import { canonicalQuantity } from "../../quantity.ts";
import type { ChoiceSchema, Field, ObjectSchema, ScalarSchema, Schema } from "../../schema.ts";
import { formatInstantMicro } from "../../time.ts";
import { encodeBase64 } from "../base64.ts";
import { decodeBySchema } from "../decode.ts";

export interface ObjectOfOptions {
  /** Maximum depth of generated objects; schemas may be recursive. Default: 4. */
  readonly depthMax?: number;
  /** Percentage of optional fields that are set. Default: 50; less keeps large kinds fast. */
  readonly percent?: number;
}

/** An object that `decodeBySchema` returns unchanged. */
export function objectOf(schema: ObjectSchema, { depthMax = 4, percent = 50 }: ObjectOfOptions = {}): Arbitrary<JsonObject> {
  return membersOf(schema, { depth: depthMax, percent }).map((members) => decodeBySchema(members, schema).object as JsonObject);
}

interface Limits {
  readonly depth: number;
  readonly percent: number;
}

function membersOf(schema: ObjectSchema, limits: Limits): Arbitrary<JsonObject> {
  const members = [...schema.fields.values()]
    .filter((field) => (limits.depth > 0 || isScalar(field.schema)) && isInProtobuf(schema, field.name))
    .map((field) => memberOf(field, limits));
  return fc.tuple(...members).map((pairs) => Object.fromEntries(pairs.filter((pair) => pair !== undefined)));
}

function isInProtobuf({ protobuf }: ObjectSchema, name: string): boolean {
  if (protobuf === undefined) return true;
  return protobuf.some((numbered) => ("inlined" in numbered ? isInProtobuf(numbered.inlined, name) : numbered.field === name));
}

function isScalar(schema: Schema): boolean {
  if (schema.type === "any") return schema.format !== "choice";
  return schema.type !== "object" && schema.type !== "list" && schema.type !== "map";
}

function memberOf({ name, schema }: Field, limits: Limits): Arbitrary<readonly [string, Json] | undefined> {
  // Decided before the value is generated, so that the many omitted fields cost nothing.
  return fc
    .nat({ max: 99 })
    .chain((roll) => (roll < limits.percent ? valueOf(schema, limits).map((value) => [name, value] as const) : fc.constant(undefined)));
}

function valueOf(schema: Schema, limits: Limits): Arbitrary<Json> {
  switch (schema.type) {
    case "object":
      return membersOf(schema, { ...limits, depth: limits.depth - 1 });
    case "list":
      return fc.array(valueOf(schema.items, limits), { minLength: 1, maxLength: 2 });
    case "map":
      return fc
        .uniqueArray(fc.tuple(KEY, valueOf(schema.values, limits)), { minLength: 1, maxLength: 2, selector: ([key]) => key })
        .map((entries) => Object.fromEntries(entries));
    case "any":
      return schema.format === "choice" ? choiceOf(schema, limits) : ANY;
    case "boolean":
      return fc.boolean();
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
    case "integer":
      return schema.format === "int32" ? fc.integer() : INT64;
    case "string":
      return textOf(schema);
  }
}

function choiceOf({ message, objectField, otherField }: ChoiceSchema, limits: Limits): Arbitrary<Json> {
  const forms = [message.fields.get(objectField), message.fields.get(otherField)].filter((field) => field !== undefined);
  return fc.oneof(...forms.map((field) => valueOf(field.schema, limits)));
}

/** Includes names that JavaScript objects inherit, which careless code trips over. */
const KEY: Arbitrary<string> = fc.oneof(fc.string({ minLength: 1, maxLength: 6 }), fc.constantFrom("__proto__", "constructor", "a.b/c"));
const TEXT: Arbitrary<string> = fc.oneof(fc.string({ maxLength: 8 }), fc.string({ unit: "grapheme", maxLength: 4 }));
const INT64: Arbitrary<Json> = fc.oneof(
  fc.maxSafeInteger().map((value) => (value === 0 ? 0 : value)),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
);
/** Mostly objects, as in real free-form fields. */
const ANY: Arbitrary<Json> = fc.dictionary(KEY, fc.oneof(fc.string(), fc.integer(), fc.boolean(), INT64), {
  maxKeys: 3,
  noNullPrototype: true,
});

function textOf({ format, enum: words }: ScalarSchema): Arbitrary<Json> {
  if (words !== undefined && words.length > 0) return fc.constantFrom(...words);
  switch (format) {
    case "byte":
      return fc.uint8Array({ maxLength: 8 }).map(encodeBase64);
    case "date-time":
      return SECONDS.map((seconds) => formatInstantMicro({ seconds, microseconds: 0 }).replace(".000000", ""));
    case "micro-time":
      return fc.tuple(SECONDS, fc.nat(999_999)).map(([seconds, microseconds]) => formatInstantMicro({ seconds, microseconds }));
    case "duration":
      return fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }).map(formatDuration);
    case "quantity":
      return fc
        .tuple(fc.nat(100_000), fc.constantFrom("", "m", "k", "M", "Ki", "Mi", "Gi", "e3"))
        .map(([amount, suffix]) => canonicalQuantity(`${amount}${suffix}`));
    case "int-or-string":
      return fc.oneof(fc.integer(), TEXT);
    default:
      return TEXT;
  }
}

/** From the first second after Go's zero time, which is absent in protobuf, to the last of the year 9999. */
const SECONDS: Arbitrary<number> = fc.integer({ min: -62_135_596_799, max: 253_402_300_799 });
