/**
 * Decodes protobuf messages to the JSON values that decode.ts would produce from the same object's JSON: canonical, without zeros where
 * fields omit them and with zeros where fields always have them. Unknown field numbers are skipped. An object in several pieces is merged,
 * of other values the last counts, and repeated numbers may be packed or not. Throws ProtobufError, JsonSyntaxError, DecodeError or
 * ProtobufUnsupported.
 */
import { ProtobufError, Reader, WIRE_BYTES, WIRE_VARINT } from "../../../../base/protobuf/wire.ts";
import { formatDuration } from "../../duration.ts";
import type { Json, JsonObject } from "../../object.ts";
import type { ChoiceSchema, ObjectSchema } from "../../schema.ts";
import { formatInstantMicro, formatTime } from "../../time.ts";
import { encodeBase64 } from "../base64.ts";
import { setMember } from "../set-member.ts";
import { isZero, writtenZero } from "../decode-plan.ts";
import { parseJson } from "../json.ts";
import { ProtobufUnsupported } from "./error.ts";
import { KEY_TAG, MAP_VALUE_NUMBER, type MemberPlan, type MessagePlan, messagePlanOf, tagOf, type ValuePlan } from "./plan.ts";
import { normaliseQuantity } from "../scalar.ts";

/** Maximum nesting of messages. With lists and maps between them this is at most three times as deep in JSON: still below DEPTH_MAX. */
const MESSAGE_DEPTH_MAX = 250;

type Members = Record<string, Json>;

export function decodeMessage(bytes: Uint8Array, schema: ObjectSchema): JsonObject {
  const object: Members = {};
  readObject(new Reader(bytes), object, messagePlanOf(schema), 0);
  return object;
}

function readObject(reader: Reader, object: Members, plan: MessagePlan, depth: number): void {
  readMembers(reader, object, plan, depth);
  for (const field of plan.alwaysThere) {
    if (!Object.hasOwn(object, field.name)) setMember(object, field.name, writtenZero(field.plan));
  }
}

function readMembers(reader: Reader, object: Members, plan: MessagePlan, depth: number): void {
  if (depth > MESSAGE_DEPTH_MAX) throw new ProtobufError(`Cannot decode: messages are nested more than ${MESSAGE_DEPTH_MAX} deep`);
  const { byNumber } = plan;
  while (!reader.atEnd) {
    const tag = reader.tag();
    const number = tag >>> 3;
    const member = number < byNumber.length ? byNumber[number] : undefined;
    if (member === undefined) skip(reader, tag, 0);
    else if (tag === member.tag) readMember(reader, object, member, depth);
    else if ((tag & 7) === WIRE_BYTES && member.occurrence === "list") readPacked(reader, object, member);
    else throw wrongWireType(tag);
  }
}

/** An unknown field: numbers up to `knownMax` are known. */
function skip(reader: Reader, tag: number, knownMax: number): void {
  const number = tag >>> 3;
  if (number === 0) throw new ProtobufError(`Cannot decode: field number 0 at byte ${reader.position}`);
  if (number <= knownMax) throw wrongWireType(tag);
  reader.skip(tag & 7);
}

function wrongWireType(tag: number): ProtobufError {
  return new ProtobufError(`Cannot decode: field ${tag >>> 3} has wire type ${tag & 7}, which is not that of its type`);
}

function readMember(reader: Reader, object: Members, member: MemberPlan, depth: number): void {
  switch (member.occurrence) {
    case "once":
      return readOnce(reader, object, member, depth);
    case "list":
      listOf(object, member).push(readValue(reader, member.value, depth, undefined));
      return;
    case "map":
      return readEntry(reader, mapOf(object, member), member.value, depth);
    case "inlined": {
      const outerEnd = reader.enter();
      readMembers(reader, object, member.value.message, depth + 1);
      reader.leave(outerEnd);
    }
  }
}

function readOnce(reader: Reader, object: Members, member: MemberPlan, depth: number): void {
  const { name, value: plan } = member;
  const before = plan.form === "object" ? member.of(object) : undefined;
  const value = readValue(reader, plan, depth, before as Members | undefined);
  if (value !== null && (member.zero !== "omit" || !isZero(value, plan.plan))) setMember(object, name, value);
  else if (member.of(object) !== undefined) delete object[name];
}

/** The list so far. */
function listOf(object: Members, member: MemberPlan): Json[] {
  const before = member.of(object) as Json[] | undefined;
  if (before !== undefined) return before;
  const list: Json[] = [];
  setMember(object, member.name, list);
  return list;
}

/** The map so far. */
function mapOf(object: Members, member: MemberPlan): Members {
  const before = member.of(object) as Members | undefined;
  if (before !== undefined) return before;
  const map: Members = {};
  setMember(object, member.name, map);
  return map;
}

function readPacked(reader: Reader, object: Members, member: MemberPlan): void {
  const list = listOf(object, member);
  const outerEnd = reader.enter();
  while (!reader.atEnd) list.push(readValue(reader, member.value, 0, undefined));
  reader.leave(outerEnd);
}

function readEntry(reader: Reader, map: Members, plan: ValuePlan, depth: number): void {
  const valueTag = tagOf(MAP_VALUE_NUMBER, plan.wireType);
  let key = "";
  let value: Json | undefined;
  const outerEnd = reader.enter();
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === KEY_TAG) key = reader.text();
    else if (tag === valueTag) value = readValue(reader, plan, depth, undefined);
    else skip(reader, tag, MAP_VALUE_NUMBER);
  }
  reader.leave(outerEnd);
  setMember(map, key, value ?? missingValue(plan));
}

/** Default of an entry without a value. Bytes and lists are empty then, not nil. */
function missingValue({ form, plan }: ValuePlan): Json {
  if (form === "bytes") return "";
  return form === "list" ? [] : writtenZero(plan);
}

/** One value after its tag. An object is merged with `before`, which may be a shared zero and so is copied. */
function readValue(reader: Reader, plan: ValuePlan, depth: number, before: Members | undefined): Json {
  switch (plan.form) {
    case "string":
      return reader.text();
    case "object": {
      const object: Members = before === undefined ? {} : { ...before };
      const outerEnd = reader.enter();
      readObject(reader, object, plan.message, depth + 1);
      reader.leave(outerEnd);
      return object;
    }
    case "boolean":
      return Number(reader.varint()) !== 0;
    case "int32":
      return int32Of(reader.varint());
    case "int64":
      return int64Of(reader.varint());
    case "number":
      return finite(reader.double());
    case "bytes":
      return encodeBase64(reader.bytes());
    case "map":
      throw new ProtobufUnsupported(plan.plan.schema);
    default: {
      const outerEnd = reader.enter();
      const value = readContent(reader, plan, depth + 1);
      reader.leave(outerEnd);
      return value;
    }
  }
}

const TEXT_1 = tagOf(1, WIRE_BYTES);
const TEXT_3 = tagOf(3, WIRE_BYTES);
const NUMBER_1 = tagOf(1, WIRE_VARINT);
const NUMBER_2 = tagOf(2, WIRE_VARINT);

/** Content of the message of a value that is not (always) an object in JSON. */
function readContent(reader: Reader, plan: ValuePlan, depth: number): Json {
  switch (plan.form) {
    case "list":
      return readWrapped(reader, plan.items, depth);
    case "quantity":
      return normaliseQuantity(readFirstText(reader) || "0");
    case "duration":
      return readDuration(reader);
    case "any":
      return readAny(reader);
    case "choice":
      return readChoice(reader, plan, depth);
    case "int-or-string":
      return readIntOrString(reader);
    default:
      return readTime(reader, plan.form === "micro-time");
  }
}

/** {items = 1}. */
function readWrapped(reader: Reader, items: ValuePlan, depth: number): Json {
  const itemTag = tagOf(1, items.wireType);
  const list: Json[] = [];
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === itemTag) list.push(readValue(reader, items, depth, undefined));
    else skip(reader, tag, 1);
  }
  return list;
}

/** {string = 1}. */
function readFirstText(reader: Reader): string {
  let text = "";
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === TEXT_1) text = reader.text();
    else skip(reader, tag, 1);
  }
  return text;
}

/** {duration = 1}. */
function readDuration(reader: Reader): Json {
  let nanoseconds: number | bigint = 0;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === NUMBER_1) nanoseconds = int64Of(reader.varint());
    else skip(reader, tag, 1);
  }
  return formatDuration(BigInt(nanoseconds));
}

/** {raw = 1}. */
function readAny(reader: Reader): Json {
  let value: Json = null;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag !== TEXT_1) {
      skip(reader, tag, 1);
      continue;
    }
    const raw = reader.bytes();
    value = raw.length === 0 ? null : parseJson(raw, { duplicates: false }).value;
  }
  return value;
}

/** Upstream uses the list if there are both a list and an object, but the object if there are both an object and a boolean. */
function readChoice(reader: Reader, plan: ValuePlan, depth: number): Json {
  const { objectField, otherField } = plan.plan.schema as ChoiceSchema;
  const message: Members = {};
  readObject(reader, message, plan.message, depth);
  const other = message[otherField] ?? null;
  return Array.isArray(other) ? other : (message[objectField] ?? other);
}

/** {type = 1 (0: number, 1: string), intVal = 2, strVal = 3}. */
function readIntOrString(reader: Reader): Json {
  let isText = false;
  let number = 0;
  let text = "";
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === NUMBER_1) isText = int32Of(reader.varint()) === 1;
    else if (tag === NUMBER_2) number = int32Of(reader.varint());
    else if (tag === TEXT_3) text = reader.text();
    else skip(reader, tag, 3);
  }
  return isText ? text : number;
}

/** The years of RFC 3339: 0000 to 9999. */
const SECONDS_MIN = -62_167_219_200;
const SECONDS_MAX = 253_402_300_799;

/** {seconds = 1, nanos = 2}. An empty message is Go's zero time. */
function readTime(reader: Reader, isMicro: boolean): Json {
  if (reader.atEnd) return null;
  let seconds = 0;
  let nanos = 0;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === NUMBER_1) seconds = Number(int64Of(reader.varint()));
    else if (tag === NUMBER_2) nanos = int32Of(reader.varint());
    else skip(reader, tag, 2);
  }
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX || nanos < 0 || nanos >= 1e9) {
    throw new ProtobufError(`Cannot decode: there is no time of ${seconds} seconds and ${nanos} nanoseconds`);
  }
  return isMicro ? formatInstantMicro({ seconds, microseconds: Math.floor(nanos / 1_000) }) : formatTime(seconds * 1_000);
}

function int32Of(value: number | bigint): number {
  return typeof value === "number" ? value : Number(BigInt.asIntN(32, value));
}

function int64Of(value: number | bigint): number | bigint {
  if (typeof value === "number") return value;
  const signed = BigInt.asIntN(64, value);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}

/** JSON has no NaN or Infinity. */
function finite(number: number): number {
  if (!Number.isFinite(number)) throw new ProtobufError(`Cannot decode: ${number} is not a number that JSON could hold`);
  return number;
}
