import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { jsonByteLength } from "./json-size.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 200, full: 20_000 }) };

function measured(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

for (const value of [
  null,
  true,
  false,
  "",
  "plain",
  'quote " and back\\slash',
  "\b\t\n\f\r",
  "\u0000\u000b\u001f\u007f",
  "\u0080",
  "é\u07ff\u0800\uffff",
  "😀😀",
  "\ud83d",
  "\ude00",
  "\ude00\ud83d",
  "é\ud83dx",
  "\u2028\u2029",
  "<>&/'",
  0,
  -0,
  9,
  10,
  99,
  100,
  999,
  1_000,
  9_999,
  10_000,
  99_999,
  100_000,
  -1,
  -99_999,
  0.1,
  1e-7,
  1e20,
  1e21,
  123_456_789_012_345_680_000,
  5e-324,
  Number.MAX_VALUE,
  NaN,
  Infinity,
  [],
  [1],
  [undefined, null, [[]]],
  {},
  { a: 1 },
  { a: undefined },
  { a: undefined, b: 1, c: undefined },
  JSON.parse('{"__proto__":{"a":1},"é":"é"}'),
]) {
  test(`jsonByteLength of ${JSON.stringify(value)} equals the length of its JSON`, () => equal(jsonByteLength(value), measured(value)));
}

test("jsonByteLength of any string equals the length of its JSON", () => {
  // UTF-16 units in any order, so that surrogates occur alone and in pairs; weighted towards escaped characters.
  const unit = fc.oneof(fc.nat(0xffff), fc.nat(0x7f), fc.integer({ min: 0xd7fe, max: 0xe001 }));
  const text = fc.array(unit).map((units) => String.fromCharCode(...units));
  fc.assert(
    fc.property(text, (some) => equal(jsonByteLength(some), measured(some))),
    settings,
  );
});

test("jsonByteLength of any number equals the length of its JSON", () => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.integer({ min: -100_001, max: 100_001 }));
  fc.assert(
    fc.property(number, (some) => equal(jsonByteLength(some), measured(some))),
    settings,
  );
});

test("jsonByteLength of any JSON value equals the length of its JSON, without undefined members", () => {
  const leaf = fc.oneof(fc.string({ unit: "binary" }), fc.double(), fc.integer(), fc.boolean(), fc.constantFrom(null, undefined));
  const value = fc.object({ key: fc.string({ unit: "binary" }), values: [leaf], maxDepth: 3, maxKeys: 4 });
  fc.assert(
    fc.property(value, (some) => equal(jsonByteLength(some), measured(some))),
    settings,
  );
});

test("jsonByteLength of a bigint is its number of digits, as a lossless encoder prints it", () => {
  deepEqual([jsonByteLength(0n), jsonByteLength({ a: [-12345678901234567890n] })], [1, '{"a":[-12345678901234567890]}'.length]);
});

for (const value of [undefined, () => {}, Symbol("s")]) {
  test(`jsonByteLength rejects a ${typeof value}`, () => {
    throws(() => jsonByteLength(value), { name: "AssertionFailed", message: `JSON has no form for a ${typeof value}` });
  });
}
