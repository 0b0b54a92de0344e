import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import {
  assert,
  array,
  bigInt,
  boolean,
  constantFrom,
  integer,
  maxSafeInteger,
  option,
  property,
  record,
  string,
  uint8Array,
} from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { ProtobufError } from "./wire.ts";
import { NESTING_MAX, decode, encode, type Decoded, type MessageDescriptor } from "./messages.ts";

const inner = {
  name: "Inner",
  fields: { text: { number: 1, type: "string" }, numbers: { number: 2, type: "int32", repeated: true } },
} as const satisfies MessageDescriptor;

const everything = {
  name: "Everything",
  fields: {
    bool: { number: 1, type: "bool" },
    int32: { number: 2, type: "int32" },
    uint32: { number: 3, type: "uint32" },
    int64: { number: 4, type: "int64" },
    uint64: { number: 5, type: "uint64" },
    string: { number: 6, type: "string" },
    bytes: { number: 7, type: "bytes" },
    inner: { number: 8, type: inner },
    inners: { number: 9, type: inner, repeated: true },
    longs: { number: 15, type: "int64", repeated: true },
    texts: { number: 16, type: "string", repeated: true },
    chunks: { number: 2_000, type: "bytes", repeated: true },
  },
} as const satisfies MessageDescriptor;

/** Every length of a varint, both signs, and both limits of each type. */
const int64 = constantFrom(0, -1, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER);
const wellFormed = string({ unit: "grapheme" });
const innerMessages = record({ text: wellFormed, numbers: array(integer()) }, { noNullPrototype: true });
const messages = record(
  {
    bool: boolean(),
    int32: integer(),
    uint32: integer({ min: 0, max: 2 ** 32 - 1 }),
    int64: option(int64, { nil: 0 }).chain((edge) => (edge === 0 ? maxSafeInteger() : int64)),
    uint64: bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    string: wellFormed,
    bytes: uint8Array(),
    inner: option(innerMessages, { nil: undefined }),
    inners: array(innerMessages),
    longs: array(int64),
    texts: array(wellFormed),
    chunks: array(uint8Array()),
  },
  { noNullPrototype: true },
);

const settings = { seed: testSeed(), numRuns: rounds({ quick: 200, full: 20_000 }) };

test("decode returns what encode was given", () => {
  assert(
    property(messages, (message) => deepEqual(decode(everything, encode(everything, message)), message)),
    settings,
  );
});

test("known messages encode to exactly the bytes of the specification", () => {
  const rows: { message: Parameters<typeof encode<typeof everything>>[1]; bytes: number[] }[] = [
    { message: {}, bytes: [] },
    { message: { bool: false, int32: 0, string: "", bytes: new Uint8Array(0), longs: [] }, bytes: [] },
    { message: { int32: 150 }, bytes: [0x10, 0x96, 0x01] },
    { message: { int64: -1 }, bytes: [0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01] },
    { message: { string: "testing" }, bytes: [0x32, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67] },
    { message: { inner: {} }, bytes: [0x42, 0x00] },
    { message: { inner: { numbers: [3, 270, 86_942] } }, bytes: [0x42, 0x08, 0x12, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05] },
    { message: { texts: ["a", ""] }, bytes: [0x82, 0x01, 0x01, 0x61, 0x82, 0x01, 0x00] },
  ];
  for (const { message, bytes } of rows) deepEqual([...encode(everything, message)], bytes);
});

test("fields unknown to the descriptor are skipped, whatever their type", () => {
  const nothing = { name: "Nothing", fields: {} } as const satisfies MessageDescriptor;
  assert(
    property(messages, (message) => deepEqual(decode(nothing, encode(everything, message)), {})),
    settings,
  );
  deepEqual(decode(inner, Uint8Array.of(0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x1d, 1, 2, 3, 4, 0x0a, 1, 0x61)), { text: "a", numbers: [] });
});

test("repeated numbers are read packed and unpacked; a message in two pieces is merged, the last scalar wins", () => {
  deepEqual(decode(inner, Uint8Array.of(0x10, 1, 0x12, 2, 2, 3, 0x10, 4)).numbers, [1, 2, 3, 4]);
  deepEqual(decode(everything, Uint8Array.of(0x42, 3, 0x0a, 1, 0x61, 0x42, 2, 0x10, 7, 0x10, 1, 0x10, 2)), {
    ...decode(everything, new Uint8Array(0)),
    inner: { text: "a", numbers: [7] },
    int32: 2,
  });
});

test("decoded bytes are views of the input", () => {
  const input = encode(everything, { bytes: Uint8Array.of(1, 2, 3) });
  equal(decode(everything, input).bytes.buffer, input.buffer);
});

test("any input is either decoded or rejected with a ProtobufError", () => {
  const decodable = (input: Uint8Array): Decoded<typeof everything> | undefined => {
    try {
      return decode(everything, input);
    } catch (error) {
      if (error instanceof ProtobufError) return undefined;
      throw error;
    }
  };
  assert(
    property(uint8Array({ maxLength: 200 }), (input) => void decodable(input)),
    settings,
  );
  assert(
    property(messages, integer({ min: 0 }), (message, cut) => {
      const whole = encode(everything, message);
      decodable(whole.subarray(0, cut % (whole.length + 1)));
    }),
    settings,
  );
});

for (const { it, input } of [
  { it: "a number that does not end", input: [0x10, 0x80] },
  { it: "a number of more than 10 bytes", input: [0x10, ...Array.from({ length: 10 }, () => 0xff), 0x01] },
  { it: "an int64 beyond the safe integers", input: [0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10] },
  { it: "more bytes announced than there are", input: [0x3a, 5, 1] },
  { it: "a length beyond 32 bits", input: [0x3a, 0x81, 0x80, 0x80, 0x80, 0x10, 1] },
  { it: "a field number beyond 32 bits", input: [0x88, 0x80, 0x80, 0x80, 0x80, 0x01, 1] },
  { it: "field number 0", input: [0x00, 1] },
  { it: "a group", input: [0x53] },
  { it: "a fixed number that does not end", input: [0x51, 1, 2] },
  { it: "a text that is not UTF-8", input: [0x32, 1, 0xff] },
  { it: "a number where a text should be", input: [0x30, 1] },
  { it: "a number where a message should be", input: [0x40, 1] },
  { it: "a text where a number should be", input: [0x12, 1, 0x61] },
]) {
  test(`decoding ${it} is rejected`, () => {
    throws(() => decode(everything, Uint8Array.from(input)), ProtobufError);
  });
}

for (const { it, message } of [
  { it: "half a number", message: { int32: 1.5 } },
  { it: "an int32 that is too large", message: { int32: 2 ** 31 } },
  { it: "a negative uint32", message: { uint32: -1 } },
  { it: "an int64 that is not a safe integer", message: { int64: 2 ** 53 } },
  { it: "a negative uint64", message: { uint64: -1n } },
  { it: "a uint64 that is too large", message: { uint64: 2n ** 64n } },
  { it: "a bad number in a list", message: { longs: [1, Number.NaN] } },
]) {
  test(`encoding ${it} is rejected`, () => {
    throws(() => encode(everything, message), ProtobufError);
  });
}

test("recursive messages are limited in depth in both directions", () => {
  interface Chain {
    readonly next?: Chain | undefined;
  }
  const chain: MessageDescriptor = {
    name: "Chain",
    fields: {
      get next() {
        return { number: 1, type: chain };
      },
    },
  };
  const nested = (depth: number): Chain => (depth === 0 ? {} : { next: nested(depth - 1) });

  deepEqual(encode(chain, nested(3) as never), Uint8Array.of(0x0a, 4, 0x0a, 2, 0x0a, 0));
  decode(chain, encode(chain, nested(NESTING_MAX) as never));
  throws(() => encode(chain, nested(NESTING_MAX + 1) as never), ProtobufError);
  throws(() => decode(chain, deeper(encode(chain, nested(NESTING_MAX) as never))), ProtobufError);
});

/** The message wrapped once more. */
function deeper(message: Uint8Array): Uint8Array {
  const wrap = { name: "Wrap", fields: { value: { number: 1, type: "bytes" } } } as const satisfies MessageDescriptor;
  return encode(wrap, { value: message });
}
