import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { assert, constantFrom, property, string } from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { KeySpace, type KeyRange } from "./key-space.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) };
const keys = new KeySpace("/registry");
const names = string({ unit: "grapheme" }).map((name) => `/core/pods/${name}`);

/** As etcd sees it. */
function isIn(key: string, range: KeyRange | undefined): boolean {
  if (range === undefined) return false;
  const bytes = Buffer.from(keys.encode(key));
  return bytes.compare(range.key) >= 0 && bytes.compare(range.rangeEnd) < 0;
}

test("a key is the root and itself, and comes back as it was", () => {
  equal(Buffer.from(keys.encode("/core/pods/default/web")).toString(), "/registry/core/pods/default/web");
  assert(
    property(names, (key) => equal(keys.decode(keys.encode(key)), key)),
    settings,
  );
});

test("the range of a prefix holds the keys that begin with it and no others", () => {
  const prefixes = constantFrom("", "/", "/core/pods/", "/core/pods/a", "/core/pods/é", "/core/pods/\u{10ffff}", "/core/pod");
  assert(
    property(names, prefixes, (key, prefix) => equal(isIn(key, keys.rangeOf(prefix)), key.startsWith(prefix))),
    settings,
  );
  equal(keys.rangeOf("core"), undefined, "no key begins without a slash");
  equal(isIn("2/core/pods/a", keys.rangeOf("")), false, "the keys of another root are not ours");
});

test("what comes after a key is in the rest of a range, the key and what comes before are not", () => {
  const range = keys.rangeOf("/core/pods/") as KeyRange;
  const byBytes = (a: string, b: string) => Buffer.from(a).compare(Buffer.from(b));
  assert(
    property(names, names, (key, after) => equal(isIn(key, keys.rangeAfter(range, after)), byBytes(key, after) > 0)),
    settings,
  );
  deepEqual(keys.rangeAfter(range, "/core/a"), range, "before the range there is nothing to leave out");
});

for (const root of ["", "/", "registry", "/registry/", "/a\0b", "/\ud800"]) {
  test(`the root ${JSON.stringify(root)} is refused`, () => {
    throws(() => new KeySpace(root), { reason: "Invalid" });
  });
}
