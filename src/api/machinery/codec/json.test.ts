import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import type { Json } from "../object.ts";
import { decodeText, isJsonSyntaxError, parseJson, writeJson } from "./json.ts";
import { DEPTH_MAX } from "./json-parser.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 10_000 }) };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string) => parseJson(bytes(text));

test("ordinary JSON parses as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 2, "\t"), (text, indent) => {
      // Pretty-printed text has spaces in other places. Lone surrogates are replaced here, as in Go.
      const written = JSON.stringify(JSON.parse(text), undefined, indent).replaceAll(/\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g, "?");

      const { value, duplicates } = parse(written);

      // Compared as text, since integers beyond 2^53 are bigints here.
      assert.equal(writeJson(value), JSON.stringify(JSON.parse(written)));
      assert.deepEqual(duplicates, []);
    }),
    settings,
  );
});

const ROWS: readonly { text: string; value: Json; duplicates?: readonly string[] }[] = [
  { text: '{"a":1,"a":2}', value: { a: 2 }, duplicates: ["a"] },
  { text: '{"a":{"b":[{"c":1,"c":2}]}}', value: { a: { b: [{ c: 2 }] } }, duplicates: ["a.b[0].c"] },
  { text: '{"\\u0061":1,"a":2}', value: { a: 2 }, duplicates: ["a"] },
  { text: '{"a":":{[","b":"\\":"}', value: { a: ":{[", b: '":' } },
  { text: "9007199254740993", value: 9007199254740993n },
  { text: '{"a":-9223372036854775808}', value: { a: -9223372036854775808n } },
  { text: '{"a":9223372036854775808}', value: { a: 9223372036854775808n } },
  { text: '{"a":1.5,"b":0.25}', value: { a: 1.5, b: 0.25 } },
  { text: '{"a":"9007199254740993"}', value: { a: "9007199254740993" } },
  { text: "1234567890123456", value: 1234567890123456 },
  { text: '"\\ud800x"', value: "\ufffdx" },
  { text: '"\\ud83d\\ude00"', value: "😀" },
  { text: ' \t\r\n{ "a" : 1 } ', value: { a: 1 } },
];
for (const { text, value, duplicates = [] } of ROWS) {
  test(`${text} is parsed exactly`, () => {
    assert.deepEqual(parse(text), { value, duplicates });
  });
}

const SPELT: readonly (readonly [text: string, value: Json, literals: Readonly<Record<string, string>>])[] = [
  ["1e3", 1000, { "": "1e3" }],
  ["12345678901234567.5", 12345678901234568, { "": "12345678901234567.5" }],
  ['{"a":[1,1.0],"b":{"c":1.50,"d":1.5}}', { a: [1, 1], b: { c: 1.5, d: 1.5 } }, { "a[1]": "1.0", "b.c": "1.50" }],
];
for (const [text, value, literals] of SPELT) {
  test(`${text} is parsed with the spelling of its numbers`, () => {
    assert.deepEqual(parse(text), { value, duplicates: [], literals: new Map(Object.entries(literals)) });
  });
}

test("a limited number of non-canonical number spellings is kept", () => {
  assert.equal(parse(`[${"1.0,".repeat(5_000)}1]`).literals?.size, 1_000);
});

test("a member called __proto__ stays a member, on both paths", () => {
  for (const text of ['{"__proto__":{"a":1}}', '{"__proto__":{"a":9007199254740993}}']) {
    const { value } = parse(text);
    assert.ok(Object.hasOwn(value as object, "__proto__"));
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal(writeJson(value), text);
  }
});

test("bytes that are not UTF-8 become the replacement character", () => {
  assert.deepEqual(parseJson(Uint8Array.of(0x22, 0xff, 0x22)).value, "\ufffd");
});

test("duplicates are not searched for with duplicates: false", () => {
  assert.deepEqual(parseJson(bytes('{"a":1,"a":2}'), { duplicates: false }), { value: { a: 2 }, duplicates: [] });
});

test("a byte order mark is rejected", () => {
  assert.throws(() => parse("\ufeff{}"), { message: "invalid character 'ï' looking for beginning of value" });
});

test("nesting beyond the limit is rejected, at once at any depth", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

  parse(nested(DEPTH_MAX));
  for (const text of [nested(DEPTH_MAX + 1), "[".repeat(1_000_000), '{"a":'.repeat(500_000)]) {
    assert.throws(
      () => parse(text),
      (error) => isJsonSyntaxError(error) && error.message.endsWith("exceeded max depth"),
    );
  }
});

test("any bytes are either rejected by both parsers or parse to a value that survives a round trip", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (input) => {
      let value: Json;
      try {
        ({ value } = parseJson(input));
      } catch (error) {
        assert.ok(isJsonSyntaxError(error));
        assert.throws(() => JSON.parse(decodeText(input)));
        return;
      }
      assert.deepEqual(parse(writeJson(value)).value, value);
    }),
    settings,
  );
});

test("bigints are written as integers", () => {
  const value = { a: [9007199254740993n, undefined, null], b: undefined, c: { "x\n": "é" } };

  assert.equal(writeJson(value), '{"a":[9007199254740993,null,null],"c":{"x\\n":"é"}}');
  assert.equal(writeJson({ a: [1, undefined], b: undefined }), '{"a":[1,null]}');
  assert.equal(writeJson(undefined), "null");
});
