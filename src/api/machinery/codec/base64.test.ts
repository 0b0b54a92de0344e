import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { canonicalBase64, decodeBase64, encodeBase64 } from "./base64.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 100, full: 2_000 }) };

test("encoded bytes decode to themselves, in standard base64", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => {
      const text = encodeBase64(bytes);

      assert.equal(text, btoa(String.fromCharCode(...bytes)));
      assert.deepEqual(decodeBase64(text), bytes);
      assert.equal(canonicalBase64(text), text);
    }),
    settings,
  );
});

test("line breaks and unused trailing bits are ignored when decoding base64", () => {
  assert.equal(canonicalBase64("YW\r\nJj"), "YWJj");
  assert.equal(canonicalBase64("YR=\n="), "YQ==");
  assert.equal(canonicalBase64("YWK="), "YWI=");
});

/** Go's messages for the same texts. */
const WRONG: readonly (readonly [text: string, at: number])[] = [
  ["!!", 0],
  ["YQ", 0],
  ["YWJjYQ", 4],
  ["YWJ!", 3],
  ["=", 0],
  ["Y===", 1],
  ["YQ=", 3],
  ["YQ=x", 3],
  ["YQ==x", 4],
  ["YWJé", 3],
];
for (const [text, at] of WRONG) {
  test(`decoding ${JSON.stringify(text)} fails at byte ${at}`, () => {
    assert.throws(() => decodeBase64(text), { name: "Base64Error", message: `illegal base64 data at input byte ${at}` });
    assert.throws(() => canonicalBase64(text), { name: "Base64Error" });
  });
}
