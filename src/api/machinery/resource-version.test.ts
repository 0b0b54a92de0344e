import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareResourceVersions, isResourceVersion } from "./resource-version.ts";

test("resourceVersions compare numerically at any length", () => {
  const version = fc.bigInt({ min: 1n, max: 10n ** 30n });
  fc.assert(
    fc.property(version, version, (a, b) => {
      assert.equal(Math.sign(compareResourceVersions(String(a), String(b))), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test("an empty resourceVersion is older than every other", () => {
  assert(compareResourceVersions("", "1") < 0);
  assert(compareResourceVersions("1", "") > 0);
  assert.equal(compareResourceVersions("", ""), 0);
});

const TEXTS: readonly (readonly [string | undefined, boolean])[] = [
  ["1", true],
  ["90071992547409930", true],
  [undefined, false],
  ["", false],
  ["0", false],
  ["012", false],
  ["-1", false],
  ["1.5", false],
  ["abc", false],
];

for (const [text, expected] of TEXTS) {
  test(`${JSON.stringify(text)} ${expected ? "is" : "is not"} a resourceVersion`, () => {
    assert.equal(isResourceVersion(text), expected);
  });
}
