/**
 * Protobuf messages as JSON values. Gives what the bytes say and no more: zeros and canonical forms are put right by decode.ts, which
 * makes the result equal to that of decoding the same object from JSON. Fields of unknown number are skipped. A message that comes in
 * pieces is put together, and repeated numbers may be packed or not, as the specification asks.
 * Throws ProtobufError, JsonSyntaxError or ProtobufUnsupported.
 */
import { NO_BYTES, ProtobufError, Reader, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../../../base/protobuf-wire.ts";
import { formatDuration } from "../duration.ts";
import type { Json, JsonObject } from "../object.ts";
import type { ObjectSchema, Schema } from "../schema.ts";
import { formatMomentMicro } from "../time.ts";
import { encodeBase64 } from "./base64.ts";
import { setMember } from "./decode.ts";
import { planOf, type ScalarForm } from "./decode-plan.ts";
import { parseJson } from "./json.ts";
import { ProtobufUnsupported } from "./protobuf-error.ts";

/** Messages within messages. With lists and maps between them this is at most three times as deep in JSON: still below DEPTH_MAX. */
const MESSAGE_DEPTH_MAX = 250;

export function decodeMessage(bytes: Uint8Array, schema: ObjectSchema): JsonObject {
  const object: Record<string, Json> = {};
  readObject(object, bytes, { schema, depth: 0 });
  return object;
}

/** A value as it is written; what it means depends on its schema. */
type Wire = number | bigint | Uint8Array;

/** All values of the numbers that are asked for. Singular messages in pieces are repeated values here. */
function readWire(bytes: Uint8Array, wireTypes: ReadonlyMap<number, number>): ReadonlyMap<number, readonly Wire[]> {
  const found = new Map<number, Wire[]>();
  const reader = new Reader(bytes);
  while (!reader.atEnd) {
    const tag = reader.tag();
    const number = tag >>> 3;
    const wireType = tag & 7;
    if (number === 0) throw new ProtobufError(`Cannot decode: field number 0 at byte ${reader.position}`);
    const expected = wireTypes.get(number);
    if (expected === undefined) {
      reader.skip(wireType);
      continue;
    }
    let values = found.get(number);
    if (values === undefined) found.set(number, (values = []));
    if (wireType === expected) values.push(readOne(reader, wireType));
    else if (wireType === WIRE_BYTES) readPacked(reader.slice(), expected, values);
    else throw new ProtobufError(`Cannot decode: field ${number} has wire type ${wireType}, should have ${expected}`);
  }
  return found;
}

function readOne(reader: Reader, wireType: number): Wire {
  if (wireType === WIRE_VARINT) return reader.varint();
  return wireType === WIRE_FIXED64 ? reader.double() : reader.bytes();
}

function readPacked(reader: Reader, wireType: number, values: Wire[]): void {
  while (!reader.atEnd) values.push(readOne(reader, wireType));
}

interface Within {
  readonly schema: ObjectSchema;
  readonly depth: number;
}

/** Inlined messages are read into the same object. */
function readObject(object: Record<string, Json>, bytes: Uint8Array, { schema, depth }: Within): void {
  checkDepth(depth);
  const { protobuf } = schema;
  if (protobuf === undefined) throw new ProtobufUnsupported(schema);
  const found = readWire(bytes, wireTypesOf(schema));
  for (const numbered of protobuf) {
    const values = found.get(numbered.number);
    if (values === undefined) continue;
    if ("inlined" in numbered) {
      readObject(object, joined(values), { schema: numbered.inlined, depth: depth + 1 });
    } else {
      const field = schema.fields.get(numbered.field);
      if (field !== undefined) setMember(object, numbered.field, valueOf(values, field.schema, depth));
    }
  }
}

const wireTypes = new WeakMap<ObjectSchema, ReadonlyMap<number, number>>();

function wireTypesOf(schema: ObjectSchema): ReadonlyMap<number, number> {
  let types = wireTypes.get(schema);
  if (types === undefined) {
    types = new Map(
      (schema.protobuf ?? []).map((numbered) => {
        const field = "inlined" in numbered ? undefined : schema.fields.get(numbered.field);
        return [numbered.number, field === undefined ? WIRE_BYTES : wireTypeOf(field.schema)];
      }),
    );
    wireTypes.set(schema, types);
  }
  return types;
}

function wireTypeOf(schema: Schema): number {
  if (schema.type === "list" && schema.wrappedInProtobuf !== true) return wireTypeOf(schema.items);
  if (schema.type === "integer" || schema.type === "boolean") return WIRE_VARINT;
  return schema.type === "number" ? WIRE_FIXED64 : WIRE_BYTES;
}

function valueOf(values: readonly Wire[], schema: Schema, depth: number): Json {
  if (schema.type === "list" && schema.wrappedInProtobuf !== true) return values.map((value) => oneOf([value], schema.items, depth));
  if (schema.type !== "map") return oneOf(values, schema, depth);
  const map: Record<string, Json> = {};
  const entryTypes = new Map([
    [1, WIRE_BYTES],
    [2, wireTypeOf(schema.values)],
  ]);
  for (const entry of values) {
    const { key, value } = readEntry(entry, entryTypes);
    setMember(map, key, oneOf(value, schema.values, depth));
  }
  return map;
}

function readEntry(entry: Wire, types: ReadonlyMap<number, number>): { readonly key: string; readonly value: readonly Wire[] } {
  const found = readWire(entry as Uint8Array, types);
  return { key: textOf(found.get(1)?.at(-1)), value: found.get(2) ?? [] };
}

/** One value, of which there may be no piece (a map's entry without one), one, or several. */
function oneOf(pieces: readonly Wire[], schema: Schema, depth: number): Json {
  const plan = planOf(schema);
  if (plan.form === "object") {
    const object: Record<string, Json> = {};
    readObject(object, joined(pieces), { schema: plan.schema, depth: depth + 1 });
    return object;
  }
  if (plan.form === "list") {
    checkDepth(depth + 1);
    const items = plan.items.schema;
    const values = readWire(joined(pieces), new Map([[1, wireTypeOf(items)]])).get(1) ?? [];
    return values.map((value) => oneOf([value], items, depth + 1));
  }
  if (plan.form === "map") throw new ProtobufUnsupported(schema);
  return scalarOf(pieces, plan.form);
}

function scalarOf(pieces: readonly Wire[], form: ScalarForm): Json {
  const last = pieces.at(-1);
  switch (form) {
    case "string":
      return textOf(last);
    case "boolean":
      return Number(last ?? 0) !== 0;
    case "int32":
      return Number(BigInt.asIntN(32, BigInt(last as number | bigint)));
    case "int64":
      return int64Of(last);
    case "number":
      return numberOf(last);
    case "bytes":
      return encodeBase64(bytesOf(last));
    default:
      return structOf(joined(pieces), form);
  }
}

/** The scalars of JSON that are messages in protobuf. */
function structOf(bytes: Uint8Array, form: ScalarForm): Json {
  switch (form) {
    case "quantity":
      return textOf(readWire(bytes, FIRST_IS_BYTES).get(1)?.at(-1)) || "0";
    case "duration":
      return formatDuration(BigInt(int64Of(readWire(bytes, FIRST_IS_VARINT).get(1)?.at(-1))));
    case "any": {
      const raw = bytesOf(readWire(bytes, FIRST_IS_BYTES).get(1)?.at(-1));
      return raw.length === 0 ? null : parseJson(raw, { duplicates: false }).value;
    }
    case "int-or-string":
      return readIntOrString(bytes);
    default:
      return readTime(bytes, form);
  }
}

const FIRST_IS_BYTES: ReadonlyMap<number, number> = new Map([[1, WIRE_BYTES]]);
const FIRST_IS_VARINT: ReadonlyMap<number, number> = new Map([[1, WIRE_VARINT]]);
const INT_OR_STRING: ReadonlyMap<number, number> = new Map([
  [1, WIRE_VARINT],
  [2, WIRE_VARINT],
  [3, WIRE_BYTES],
]);
const TIMESTAMP: ReadonlyMap<number, number> = new Map([
  [1, WIRE_VARINT],
  [2, WIRE_VARINT],
]);

function readIntOrString(bytes: Uint8Array): Json {
  const found = readWire(bytes, INT_OR_STRING);
  const isText = Number(found.get(1)?.at(-1) ?? 0) === 1;
  return isText ? textOf(found.get(3)?.at(-1)) : scalarOf(found.get(2) ?? [0], "int32");
}

/** The years that RFC 3339 can write: 0000 to 9999. */
const SECONDS_MIN = -62_167_219_200;
const SECONDS_MAX = 253_402_300_799;

/** An empty message is a time that was never set. */
function readTime(bytes: Uint8Array, form: ScalarForm): Json {
  if (bytes.length === 0) return null;
  const found = readWire(bytes, TIMESTAMP);
  const seconds = Number(int64Of(found.get(1)?.at(-1)));
  const nanos = Number(scalarOf(found.get(2) ?? [0], "int32"));
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX || nanos < 0 || nanos >= 1e9) {
    throw new ProtobufError(`Cannot decode: there is no time of ${seconds} seconds and ${nanos} nanoseconds`);
  }
  const text = formatMomentMicro({ seconds, microseconds: Math.floor(nanos / 1_000) });
  return form === "time" ? text.replace(/\.[0-9]*Z$/, "Z") : text;
}

function int64Of(value: Wire | undefined): number | bigint {
  if (value === undefined || typeof value === "number") return value ?? 0;
  const signed = BigInt.asIntN(64, value as bigint);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}

/** JSON has no number for what is not one. */
function numberOf(value: Wire | undefined): number {
  const number = Number(value ?? 0);
  if (!Number.isFinite(number)) throw new ProtobufError(`Cannot decode: ${number} is not a number that JSON could hold`);
  return number;
}

function bytesOf(value: Wire | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : NO_BYTES;
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** What is not UTF-8 becomes U+FFFD, as it does in JSON. */
function textOf(value: Wire | undefined): string {
  return UTF8.decode(bytesOf(value));
}

/** The pieces of a message, one after the other, are the message. */
function joined(pieces: readonly Wire[]): Uint8Array {
  if (pieces.length <= 1) return bytesOf(pieces[0]);
  const parts = pieces.map(bytesOf);
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function checkDepth(depth: number): void {
  if (depth > MESSAGE_DEPTH_MAX) throw new ProtobufError(`Cannot decode: messages are nested more than ${MESSAGE_DEPTH_MAX} deep`);
}
