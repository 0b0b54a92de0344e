/**
 * Objects as protobuf messages, byte for byte as upstream's generated code writes them: fields in the order of their numbers; values
 * that are no pointers in Go (Field.zero is not "keep") always, zero or not; lists item by item; maps as entries in the order of
 * their keys; inlined structs as messages of their own. Everything is written back to front (base/protobuf-wire.ts).
 * Not here: the envelope around it (protobuf.ts).
 */
import { Writer, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from "../../../base/protobuf-wire.ts";
import { parseDuration } from "../duration.ts";
import type { Json, JsonObject } from "../object.ts";
import type { ObjectSchema, Schema } from "../schema.ts";
import { parseMoment } from "../time.ts";
import { decodeBase64 } from "./base64.ts";
import { planOf, writtenZero } from "./decode-plan.ts";
import { writeJson } from "./json.ts";
import { ProtobufUnsupported } from "./protobuf-error.ts";

/** The object must be one that was decoded (decode.ts): its values are taken to be of the right type and canonical. */
export function encodeMessage(object: JsonObject, schema: ObjectSchema): Uint8Array {
  const writer = new Writer();
  writeMessage(writer, object, schema);
  return writer.finish();
}

function writeMessage(writer: Writer, object: JsonObject, schema: ObjectSchema): void {
  const { protobuf } = schema;
  if (protobuf === undefined) throw new ProtobufUnsupported(schema);
  for (let index = protobuf.length - 1; index >= 0; index--) {
    const numbered = protobuf[index];
    if (numbered === undefined) continue;
    if ("inlined" in numbered) nested(writer, numbered.number, () => writeMessage(writer, object, numbered.inlined));
    else writeMember(writer, numbered, object, schema);
  }
}

function writeMember(
  writer: Writer,
  { number, field: name }: { number: number; field: string },
  object: JsonObject,
  schema: ObjectSchema,
): void {
  const field = schema.fields.get(name);
  if (field === undefined) return;
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (value !== undefined && value !== null) writeValue(writer, number, value, field.schema);
  else if (field.zero !== "keep") writeZero(writer, number, field.schema);
}

/** Lists, maps and bytes that are not there are nil in Go, and not written. */
function writeZero(writer: Writer, number: number, schema: Schema): void {
  const plan = planOf(schema);
  switch (plan.form) {
    case "list":
    case "map":
    case "bytes":
      return;
    case "object":
      return nested(writer, number, () => writeMessage(writer, {}, plan.schema));
    case "time":
    case "micro-time":
    case "any":
      return nested(writer, number, () => undefined);
    default:
      return writeOne(writer, number, writtenZero(plan), schema);
  }
}

function writeValue(writer: Writer, number: number, value: Json, schema: Schema): void {
  if (schema.type === "list" && schema.wrappedInProtobuf !== true) {
    writeItems(writer, number, value as readonly Json[], schema.items);
  } else if (schema.type === "map") {
    const map = value as JsonObject;
    const keys = Object.keys(map).sort();
    for (let index = keys.length - 1; index >= 0; index--) writeEntry(writer, number, [keys[index] ?? "", map], schema.values);
  } else {
    writeOne(writer, number, value, schema);
  }
}

function writeItems(writer: Writer, number: number, items: readonly Json[], schema: Schema): void {
  for (let index = items.length - 1; index >= 0; index--) writeOne(writer, number, items[index] ?? null, schema);
}

function writeEntry(writer: Writer, number: number, [key, map]: readonly [string, JsonObject], values: Schema): void {
  const value = map[key] ?? null;
  nested(writer, number, () => {
    if (value !== null || values.type === "any") writeOne(writer, 2, value, values);
    text(writer, 1, key);
  });
}

/** One value with its tag. */
function writeOne(writer: Writer, number: number, value: Json, schema: Schema): void {
  const plan = planOf(schema);
  switch (plan.form) {
    case "string":
      return text(writer, number, value as string);
    case "boolean":
      return varint(writer, number, value === true ? 1 : 0);
    case "int32":
    case "int64":
      return varint(writer, number, value as number | bigint);
    case "number":
      writer.double(Number(value));
      return tag(writer, number, WIRE_FIXED64);
    case "bytes":
      return bytes(writer, number, decodeBase64(value as string));
    case "object":
      return nested(writer, number, () => writeMessage(writer, value as JsonObject, plan.schema));
    case "list":
      return nested(writer, number, () => writeItems(writer, 1, value as readonly Json[], plan.items.schema));
    case "map":
      throw new ProtobufUnsupported(schema);
    case "quantity":
      return nested(writer, number, () => text(writer, 1, value as string));
    case "duration":
      return nested(writer, number, () => varint(writer, 1, parseDuration(value as string)));
    case "any":
      return nested(writer, number, () => text(writer, 1, writeJson(value)));
    case "int-or-string":
      return nested(writer, number, () => writeIntOrString(writer, value as number | string));
    case "time":
    case "micro-time":
      return nested(writer, number, () => writeTime(writer, value as string | null));
  }
}

/** {type = 1 (0: number, 1: text), intVal = 2, strVal = 3}. */
function writeIntOrString(writer: Writer, value: number | string): void {
  const isText = typeof value === "string";
  text(writer, 3, isText ? value : "");
  varint(writer, 2, isText ? 0 : value);
  varint(writer, 1, isText ? 1 : 0);
}

/** "0001-01-01T00:00:00Z" in seconds: a time that was never set, for which Go writes an empty message. */
const ZERO_TIME_SECONDS = -62_135_596_800;

/** {seconds = 1, nanos = 2}. */
function writeTime(writer: Writer, value: string | null): void {
  const moment = value === null ? undefined : parseMoment(value);
  if (moment === undefined || (moment.seconds === ZERO_TIME_SECONDS && moment.microseconds === 0)) return;
  varint(writer, 2, moment.microseconds * 1_000);
  varint(writer, 1, moment.seconds);
}

function nested(writer: Writer, number: number, write: () => void): void {
  const end = writer.length;
  write();
  writer.varint(writer.length - end);
  tag(writer, number, WIRE_BYTES);
}

function text(writer: Writer, number: number, value: string): void {
  writer.varint(writer.string(value));
  tag(writer, number, WIRE_BYTES);
}

function bytes(writer: Writer, number: number, value: Uint8Array): void {
  writer.varint(writer.bytes(value));
  tag(writer, number, WIRE_BYTES);
}

function varint(writer: Writer, number: number, value: number | bigint): void {
  writer.varint(value);
  tag(writer, number, WIRE_VARINT);
}

function tag(writer: Writer, number: number, wireType: number): void {
  writer.varint(number * 8 + wireType);
}
