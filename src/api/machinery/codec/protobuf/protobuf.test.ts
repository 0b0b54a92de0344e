import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../../testing/rounds.ts";
import { deepEqual } from "../../../../base/deep.ts";
import type { JsonObject } from "../../object.ts";
import type { ObjectSchema } from "../../schema.ts";
import { isReason } from "../../status-error.ts";
import { decodeBySchema } from "../decode.ts";
import { parseJson, writeJson } from "../json.ts";
import { decodeEnvelope, decodeProtobuf, encodeEnvelope, encodeProtobuf, encodeWatchFrame, isEnvelope } from "./protobuf.ts";
import { objectOf } from "../testing/arbitrary.ts";
import {
  BYTES,
  CHOOSING,
  DOUBLE,
  INT32,
  INT_OR_STRING,
  INT64,
  listOf,
  mapOf,
  objectSchema,
  POD,
  STRING,
  TIME,
} from "../testing/schemas.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 200, full: 5_000 }) };

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const bytesOf = (text: string): Uint8Array => Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
const decoded = (object: JsonObject, schema: ObjectSchema) => decodeBySchema(object, schema).object as JsonObject;

for (const schema of [POD, CHOOSING]) {
  test(`a round trip through protobuf equals one through JSON: ${schema.name}`, () => {
    fc.assert(
      fc.property(objectOf(schema), (object) => {
        const throughProtobuf = decodeProtobuf(encodeProtobuf(object, schema), schema);
        const throughJson = decoded(parseJson(new TextEncoder().encode(writeJson(object))).value as JsonObject, schema);

        assert.deepEqual(throughProtobuf, throughJson);
        assert.ok(deepEqual(throughProtobuf, object));
      }),
      settings,
    );
  });
}

/** Of {type: "a"}: both fields are written. */
const PROPS_A = "0a01611000";
const CHOICES: readonly { it: string; object: JsonObject; hex: string }[] = [
  { it: "an object", object: { items: { type: "a" } }, hex: "0a07" + "1205" + PROPS_A },
  { it: "a list of objects", object: { items: [{ type: "a" }, {}] }, hex: "0a0d" + "0a05" + PROPS_A + "0a040a001000" },
  { it: "true", object: { additional: true }, hex: "1202" + "0801" },
  { it: "false", object: { additional: false }, hex: "1202" + "0800" },
  { it: "an object where there could be true", object: { additional: { type: "a" } }, hex: "1209" + "0801" + "1205" + PROPS_A },
  { it: "a list of texts", object: { dependencies: { k: ["x", ""] } }, hex: "1a0a" + "0a016b" + "1205" + "0a0178" + "0a00" },
  { it: "nothing", object: { dependencies: { k: null } }, hex: "1a05" + "0a016b" + "1200" },
];
for (const { it, object, hex: bytes } of CHOICES) {
  test(`${it} is encoded in the union's message, and decoded from it`, () => {
    // The last field of the type is no pointer, so it is always written.
    assert.equal(hex(encodeProtobuf(object, CHOOSING)), bytes + "2a00");
    assert.deepEqual(decodeProtobuf(bytesOf(bytes), CHOOSING), object);
  });
}

test("in a union with both values, lists win over objects and objects over booleans", () => {
  assert.deepEqual(decodeProtobuf(bytesOf("0a0e" + "0a05" + PROPS_A + "1205" + PROPS_A), CHOOSING), { items: [{ type: "a" }] });
  assert.deepEqual(decodeProtobuf(bytesOf("1209" + "0800" + "1205" + PROPS_A), CHOOSING), { additional: { type: "a" } });
});

test("null among free-form values is an empty message", () => {
  assert.equal(hex(encodeProtobuf({ enum: [null, 1] }, CHOOSING)), "2200" + "22030a0131" + "2a00");
  assert.deepEqual(decodeProtobuf(bytesOf("2200" + "22030a0131"), CHOOSING), { enum: [null, 1] });
});

test("zero values that are no pointers are written, and pointers only if set", () => {
  const inner = objectSchema({ name: "Inner", fields: { a: [STRING, "omit"] } });
  const schema = objectSchema({
    name: "Outer",
    fields: {
      text: [STRING, "omit"],
      count: [INT32, "write"],
      pointer: [INT32, "keep"],
      port: [INT_OR_STRING, "write"],
      when: [TIME, "omit"],
      inner: [inner, "write"],
      list: [listOf(STRING), "omit"],
    },
  });

  assert.equal(hex(encodeProtobuf({}, schema)), "0a00" + "1000" + "22060800" + "10001a00" + "2a00" + "32020a00");
  assert.deepEqual(decodeProtobuf(encodeProtobuf({}, schema), schema), { count: 0, port: 0, inner: {} });
  assert.deepEqual(decodeProtobuf(bytesOf(""), schema), { count: 0, port: 0, inner: {} });
  assert.deepEqual(decodeProtobuf(encodeProtobuf({ pointer: 0 }, schema), schema), { count: 0, pointer: 0, port: 0, inner: {} });
});

test("map entries are written sorted by key", () => {
  const schema = objectSchema({ name: "M", fields: { m: [mapOf(STRING), "omit"] } });

  assert.equal(hex(encodeProtobuf({ m: { b: "2", a: "1" } }, schema)), "0a060a0161120131" + "0a060a0162120132");
});

const NUMBERS = objectSchema({ name: "N", fields: { n: [listOf(INT64), "omit"], d: [listOf(DOUBLE), "omit"], s: [STRING, "omit"] } });

test("repeated numbers are decoded packed, unpacked and mixed", () => {
  assert.deepEqual(decodeProtobuf(bytesOf("0a03010203" + "0804"), NUMBERS), { n: [1, 2, 3, 4] });
  assert.deepEqual(decodeProtobuf(bytesOf("1210" + "000000000000f03f" + "0000000000000040"), NUMBERS), { d: [1, 2] });
});

test("64-bit integers keep their digits", () => {
  const object = { n: [9223372036854775807n, -9223372036854775808n, -1, 9007199254740991] };

  assert.deepEqual(decodeProtobuf(encodeProtobuf(object, NUMBERS), NUMBERS), object);
});

test("unknown field numbers are skipped, and the last of repeated singular values wins", () => {
  assert.deepEqual(decodeProtobuf(bytesOf("1a0161" + "f80101" + "f90100000000000000" + "00" + "1a0162"), NUMBERS), { s: "b" });
});

test("a zero after another value wins", () => {
  assert.deepEqual(decodeProtobuf(bytesOf("1a0161" + "1a00"), NUMBERS), {});
});

test("a map entry without a value has an empty one", () => {
  const schema = objectSchema({ name: "M", fields: { texts: [mapOf(STRING), "omit"], data: [mapOf(BYTES), "omit"] } });

  assert.deepEqual(decodeProtobuf(bytesOf("0a030a0161" + "12030a0162"), schema), { texts: { a: "" }, data: { b: "" } });
});

test("a message in two pieces is merged", () => {
  const inner = objectSchema({ name: "Inner", fields: { a: [STRING, "omit"], b: [STRING, "omit"] } });
  const schema = objectSchema({ name: "Outer", fields: { inner: [inner, "keep"] } });

  assert.deepEqual(decodeProtobuf(bytesOf("0a030a0178" + "0a03120179"), schema), { inner: { a: "x", b: "y" } });
});

test("a message that only the second piece has replaces the zero of the first", () => {
  const innermost = objectSchema({ name: "Innermost", fields: { a: [STRING, "omit"] } });
  const inner = objectSchema({ name: "Inner", fields: { always: [innermost, "write"], b: [STRING, "omit"] } });
  const schema = objectSchema({ name: "Outer", fields: { inner: [inner, "write"] } });

  assert.deepEqual(decodeProtobuf(bytesOf("0a03120179" + "0a050a030a0178"), schema), { inner: { b: "y", always: { a: "x" } } });
  assert.deepEqual(decodeProtobuf(bytesOf(""), schema), { inner: { always: {} } });
});

/** One level of it takes two bytes. */
function recursive(): ObjectSchema {
  const fields = new Map();
  const schema: ObjectSchema = { type: "object", name: "R", fields, required: [], protobuf: [{ number: 1, field: "r" }] };
  fields.set("r", { name: "r", schema, zero: "keep" });
  return schema;
}

function nestedMessage(depth: number): Uint8Array {
  let bytes: number[] = [];
  for (let level = 0; level < depth; level++) bytes = [...lengthPrefix(bytes.length), ...bytes];
  return Uint8Array.from(bytes);
}

function lengthPrefix(length: number): number[] {
  return length < 0x80 ? [0x0a, length] : [0x0a, (length & 0x7f) | 0x80, length >> 7];
}

const MALFORMED: readonly (readonly [why: string, hex: string])[] = [
  ["the input ends inside a number", "08"],
  ["a text announces more bytes than there are", "1a0561"],
  ["a field has the wrong wire type", "1801"],
  ["a text announces more bytes than its message has left", "0a026161" + "1a0561"],
  ["field number 0", "0001"],
  ["a group, which is not used", "0b"],
  ["a number of 11 bytes", "08ffffffffffffffffffff01"],
  ["a number of 9 bytes in a double", "0d00000000"],
];
for (const [why, input] of MALFORMED) {
  test(`malformed protobuf is rejected: ${why}`, () => {
    assert.throws(
      () => decodeProtobuf(bytesOf(input), NUMBERS),
      (error) => isReason(error, "BadRequest"),
    );
  });
}

test("too deeply nested messages are rejected", () => {
  const schema = recursive();

  decodeProtobuf(nestedMessage(200), schema);
  assert.throws(
    () => decodeProtobuf(nestedMessage(300), schema),
    (error) => isReason(error, "BadRequest"),
  );
});

test("any bytes are decoded or rejected with a BadRequest", () => {
  const valid = fc.sample(objectOf(POD), { numRuns: 20, seed: 1 }).map((object) => encodeProtobuf(object, POD));
  const damaged = fc.tuple(fc.constantFrom(...valid), fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    const copy = Uint8Array.from(bytes);
    if (copy.length > 0) copy[at % copy.length] = byte;
    return copy;
  });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), damaged), (bytes) => {
      for (const read of [() => decodeProtobuf(bytes, POD), () => decodeEnvelope(bytes)]) {
        try {
          read();
        } catch (error) {
          assert.ok(isReason(error, "BadRequest"), String(error));
        }
      }
    }),
    settings,
  );
});

test("the envelope has upstream's bytes, and decodes", () => {
  const raw = bytesOf("0a00");

  const bytes = encodeEnvelope({ apiVersion: "v1", kind: "Pod", raw });

  assert.equal(hex(bytes), "6b387300" + "0a09" + "0a027631" + "1203506f64" + "12020a00" + "1a002200");
  assert.deepEqual(decodeEnvelope(bytes), { apiVersion: "v1", kind: "Pod", raw });
  assert.ok(isEnvelope(bytes));
  assert.ok(!isEnvelope(raw));
});

test("the envelope of an empty message has an empty raw field", () => {
  const bytes = encodeEnvelope({ apiVersion: "v1", kind: "A", raw: new Uint8Array(0) });

  assert.equal(hex(bytes), "6b387300" + "0a07" + "0a027631" + "120141" + "1200" + "1a002200");
});

const NO_ENVELOPE: readonly (readonly [input: string, message: string])[] = [
  ["", "empty data"],
  ["7b7d", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"],
  ["6b387300", "empty body"],
];
for (const [input, message] of NO_ENVELOPE) {
  test(`${JSON.stringify(input)} is rejected as an envelope: ${message}`, () => {
    assert.throws(() => decodeEnvelope(bytesOf(input)), { reason: "BadRequest", message });
  });
}

test("a watch frame is a length of four bytes and an event around the envelope", () => {
  const envelope = encodeEnvelope({ apiVersion: "v1", kind: "Pod", raw: bytesOf("0a00") });

  const frame = encodeWatchFrame("ADDED", envelope);

  const event =
    "0a05" +
    "4144444544" +
    "12" +
    (envelope.length + 2).toString(16).padStart(2, "0") +
    "0a" +
    envelope.length.toString(16) +
    hex(envelope);
  assert.equal(hex(frame), (event.length / 2).toString(16).padStart(8, "0") + event);
});

test("a schema without field numbers is rejected", () => {
  const { protobuf: _protobuf, ...custom } = NUMBERS;

  assert.throws(() => encodeProtobuf({}, custom), { name: "ProtobufUnsupported" });
  assert.throws(
    () => decodeProtobuf(bytesOf("0801"), custom),
    (error) => isReason(error, "BadRequest"),
  );
});
