import { test } from "node:test";
import { deepEqual, equal, throws } from "node:assert/strict";
import { assert, constantFrom, property, string, tuple } from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { KeySpace, type KeyRange } from "./key-space.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) };
const keys = new KeySpace("/registry");
const names = tuple(
  constantFrom("/pods/", "/k8ts/expiry/", "/jobs/", "/leases/", "/k8ts2/"),
  string({ unit: "grapheme" }).filter((name) => !name.includes("\0")),
).map(([resource, name]) => resource + name);
const prefixes = constantFrom(
  "",
  "/",
  "/pods/",
  "/pods/a",
  "/pods/é",
  "/pods/\u{10ffff}",
  "/pod",
  "/k",
  "/k8ts",
  "/k8ts/",
  "/k8ts/expiry/",
  "/l",
);

/** Whether etcd finds the key in one of the ranges. */
function isIn(key: string, ranges: readonly KeyRange[]): boolean {
  const bytes = Buffer.from(keys.encode(key));
  return ranges.filter((range) => bytes.compare(range.key) >= 0 && bytes.compare(range.rangeEnd) < 0).length === 1;
}

test("a key is prefixed with the root and restored unchanged", () => {
  equal(Buffer.from(keys.encode("/pods/default/web")).toString(), "/registry/pods/default/web");
  assert(
    property(names, (key) => equal(keys.decode(keys.encode(key)), key)),
    settings,
  );
});

test("bookkeeping is kept outside of the root", () => {
  equal(Buffer.from(keys.encode("/k8ts/compaction/state")).toString(), "/k8ts/registry/compaction/state");
  equal(Buffer.from(new KeySpace("/a/b").encode("/k8ts/compaction/state")).toString(), "/k8ts/a/b/compaction/state");
});

test("the ranges of a prefix contain exactly the keys with it", () => {
  assert(
    property(names, prefixes, (key, prefix) => equal(isIn(key, keys.rangesOf(prefix)), key.startsWith(prefix))),
    settings,
  );
  deepEqual(keys.rangesOf("pods"), [], "no key begins without a slash");
  equal(isIn("2/pods/a", keys.rangesOf("")), false, "the keys of another root are not ours");
});

test("the ranges of a prefix are in the order of the store's keys", () => {
  assert(
    property(names, names, prefixes, (one, other, prefix) => {
      const ranges = keys.rangesOf(prefix);
      const [first, second] = [one, other].map((key) => ranges.findIndex((range) => isIn(key, [range]))) as [number, number];
      if (first !== -1 && second !== -1 && first < second) equal(byBytes(one, other) < 0, true);
    }),
    settings,
  );
});

test("the remaining ranges contain what follows a key, and neither the key nor what precedes it", () => {
  assert(
    property(names, names, prefixes, (key, after, prefix) => {
      const rest = keys.rangesOf(prefix).flatMap((range) => keys.rangeAfter(range, after) ?? []);
      equal(isIn(key, rest), key.startsWith(prefix) && byBytes(key, after) > 0);
    }),
    settings,
  );
});

function byBytes(a: string, b: string): number {
  return Buffer.from(a).compare(Buffer.from(b));
}

for (const root of ["", "/", "registry", "/registry/", "/a\0b", "/\ud800", "/k8ts", "/k8ts/registry"]) {
  test(`the root ${JSON.stringify(root)} is rejected`, () => {
    throws(() => new KeySpace(root), { reason: "Invalid" });
  });
}
