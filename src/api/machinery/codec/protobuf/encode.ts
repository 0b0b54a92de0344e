/**
 * Encodes objects as protobuf messages, byte for byte as upstream's generated code: fields by number; values that are no pointers in Go
 * (Field.zero is not "keep") always, zero or not; lists item by item; maps as entries sorted by key; inlined structs as messages of their
 * own. Everything is written back to front (base/protobuf/wire.ts). Not here: the envelope (protobuf.ts).
 */
import { NO_BYTES, Writer, WIRE_BYTES, WIRE_VARINT } from "../../../../base/protobuf/wire.ts";
import { parseDuration } from "../../duration.ts";
import type { Json, JsonObject } from "../../object.ts";
import type { AnySchema, ChoiceSchema, ObjectSchema } from "../../schema.ts";
import { parseInstant } from "../../time.ts";
import { decodeBase64 } from "../base64.ts";
import { writtenZero } from "../decode-plan.ts";
import { writeJson } from "../json.ts";
import { ProtobufUnsupported } from "./error.ts";
import { KEY_TAG, MAP_VALUE_NUMBER, type MemberPlan, type MessagePlan, messagePlanOf, tagOf, type ValuePlan } from "./plan.ts";
import { escapeForPages, writeStableJson } from "../stable-json.ts";

/** Requires a decoded object (decode.ts): its values are assumed to be of the right type and canonical. */
export function encodeMessage(object: JsonObject, schema: ObjectSchema): Uint8Array {
  const writer = new Writer();
  writeMessage(writer, object, messagePlanOf(schema));
  return writer.finish();
}

function writeMessage(writer: Writer, object: JsonObject, plan: MessagePlan): void {
  for (const member of plan.backwards) {
    if (member.occurrence === "inlined") {
      writeNested(writer, member.tag, object, member.value.message);
      continue;
    }
    const value = member.of(object);
    if (value === undefined || value === null) writer.bytes((member.absent ??= encodeAbsent(member)));
    else writeMember(writer, member, value);
  }
}

function writeNested(writer: Writer, tag: number, object: JsonObject, plan: MessagePlan): void {
  const end = writer.length;
  writeMessage(writer, object, plan);
  close(writer, end, tag);
}

/** Absent lists, maps and bytes are nil in Go, and not written. */
function encodeAbsent({ zero, occurrence, value, tag }: MemberPlan): Uint8Array {
  if (zero === "keep" || occurrence !== "once" || value.form === "list" || value.form === "bytes") return NO_BYTES;
  const writer = new Writer();
  writeOne(writer, tag, value.form === "object" ? {} : writtenZero(value.plan), value);
  return writer.finish();
}

function writeMember(writer: Writer, { occurrence, tag, value: plan }: MemberPlan, value: Json): void {
  if (occurrence === "list") writeItems(writer, tag, value as readonly Json[], plan);
  else if (occurrence === "map") writeEntries(writer, tag, value as JsonObject, plan);
  else writeOne(writer, tag, value, plan);
}

function writeItems(writer: Writer, tag: number, items: readonly Json[], plan: ValuePlan): void {
  for (let index = items.length - 1; index >= 0; index--) writeOne(writer, tag, items[index] ?? null, plan);
}

function writeEntries(writer: Writer, tag: number, map: JsonObject, plan: ValuePlan): void {
  const valueTag = tagOf(MAP_VALUE_NUMBER, plan.wireType);
  const keys = Object.keys(map).sort();
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? "";
    const value = map[key] ?? null;
    const end = writer.length;
    if (value !== null || isMessageOfNull(plan)) writeOne(writer, valueTag, value, plan);
    writeText(writer, KEY_TAG, key);
    close(writer, end, tag);
  }
}

/** True if JSON null has a message: an empty one. */
function isMessageOfNull({ form }: ValuePlan): boolean {
  return form === "any" || form === "choice";
}

/** One value with its tag. */
function writeOne(writer: Writer, tag: number, value: Json, plan: ValuePlan): void {
  switch (plan.form) {
    case "string":
      return writeText(writer, tag, value as string);
    case "object":
      return writeNested(writer, tag, value as JsonObject, plan.message);
    case "boolean":
      return writeVarint(writer, tag, value === true ? 1 : 0);
    case "int32":
    case "int64":
      return writeVarint(writer, tag, value as number | bigint);
    case "number":
      writer.double(Number(value));
      return writer.varint(tag);
    case "bytes":
      writer.varint(writer.bytes(decodeBase64(value as string)));
      return writer.varint(tag);
    case "map":
      throw new ProtobufUnsupported(plan.plan.schema);
    default: {
      const end = writer.length;
      writeContent(writer, value, plan);
      return close(writer, end, tag);
    }
  }
}

const TEXT_1 = tagOf(1, WIRE_BYTES);
const TEXT_3 = tagOf(3, WIRE_BYTES);
const NUMBER_1 = tagOf(1, WIRE_VARINT);
const NUMBER_2 = tagOf(2, WIRE_VARINT);

/** Content of the message of a value that is not (always) an object in JSON. */
function writeContent(writer: Writer, value: Json, plan: ValuePlan): void {
  switch (plan.form) {
    case "list":
      return writeItems(writer, tagOf(1, plan.items.wireType), value as readonly Json[], plan.items);
    case "quantity":
      return writeText(writer, TEXT_1, value as string);
    case "duration":
      return writeVarint(writer, NUMBER_1, parseDuration(value as string));
    case "any":
      if (value !== null) writeText(writer, TEXT_1, textOfAny(value, plan.plan.schema as AnySchema));
      return;
    case "choice":
      if (value !== null) writeMessage(writer, messageOfChoice(value, plan.plan.schema as ChoiceSchema), plan.message);
      return;
    case "int-or-string":
      return writeIntOrString(writer, value as number | string);
    default:
      return writeTime(writer, value as string | null);
  }
}

/** Upstream re-encodes values in schemas (`default`); of other values it keeps the text, in which clients in Go escape HTML characters. */
function textOfAny(value: Json, { format }: AnySchema): string {
  if (format === "json") return writeStableJson(value);
  return format === "raw-extension" ? escapeForPages(writeJson(value)) : writeJson(value);
}

/** Where the union is an object or a boolean, upstream sets the boolean to true for an object. */
function messageOfChoice(value: Json, { message, objectField, otherField }: ChoiceSchema): JsonObject {
  if (typeof value !== "object" || Array.isArray(value)) return { [otherField]: value };
  return message.fields.get(otherField)?.schema.type === "boolean"
    ? { [objectField]: value, [otherField]: true }
    : { [objectField]: value };
}

/** {type = 1 (0: number, 1: string), intVal = 2, strVal = 3}. */
function writeIntOrString(writer: Writer, value: number | string): void {
  const isText = typeof value === "string";
  writeText(writer, TEXT_3, isText ? value : "");
  writeVarint(writer, NUMBER_2, isText ? 0 : value);
  writeVarint(writer, NUMBER_1, isText ? 1 : 0);
}

/** "0001-01-01T00:00:00Z" in seconds: Go's zero time, which is an empty message. */
const ZERO_TIME_SECONDS = -62_135_596_800;

/** {seconds = 1, nanos = 2}. */
function writeTime(writer: Writer, value: string | null): void {
  const instant = value === null ? undefined : parseInstant(value);
  if (instant === undefined || (instant.seconds === ZERO_TIME_SECONDS && instant.microseconds === 0)) return;
  writeVarint(writer, NUMBER_2, instant.microseconds * 1_000);
  writeVarint(writer, NUMBER_1, instant.seconds);
}

/** Wraps what was written since the length `end` in a message. */
function close(writer: Writer, end: number, tag: number): void {
  writer.varint(writer.length - end);
  writer.varint(tag);
}

function writeText(writer: Writer, tag: number, value: string): void {
  writer.varint(writer.string(value));
  writer.varint(tag);
}

function writeVarint(writer: Writer, tag: number, value: number | bigint): void {
  writer.varint(value);
  writer.varint(tag);
}
