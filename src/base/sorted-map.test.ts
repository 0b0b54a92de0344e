import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { SortedMap, type KeyRange } from "./sorted-map.ts";

function aMap(...keys: readonly string[]): SortedMap<string, number> {
  const map = new SortedMap<string, number>();
  keys.forEach((key, index) => map.set(key, index));
  return map;
}

function visited<K extends string | number>(map: SortedMap<K, number>, range?: KeyRange<K>): [K, number][] {
  const entries: [K, number][] = [];
  map.forEach((key, value) => void entries.push([key, value]), range);
  return entries;
}

function keysIn(map: SortedMap<string, number>, range?: KeyRange<string>): string {
  return Array.from(map.entries(range), ([key]) => key).join("");
}

for (const { it, range, gives } of [
  { it: "no bounds", range: {}, gives: "bdf" },
  { it: "from a key that is there", range: { from: "d" }, gives: "df" },
  { it: "from a key that is not there", range: { from: "c" }, gives: "df" },
  { it: "after a key that is there", range: { after: "d" }, gives: "f" },
  { it: "after a key that is not there", range: { after: "c" }, gives: "df" },
  { it: "after the last", range: { after: "f" }, gives: "" },
  { it: "from beyond the last", range: { from: "g" }, gives: "" },
  { it: "before a key that is there", range: { before: "d" }, gives: "b" },
  { it: "before a key that is not there", range: { before: "e" }, gives: "bd" },
  { it: "before the first", range: { before: "b" }, gives: "" },
  { it: "both bounds", range: { from: "b", before: "f" }, gives: "bd" },
  { it: "equal bounds", range: { from: "d", before: "d" }, gives: "" },
  { it: "bounds the wrong way round", range: { from: "f", before: "b" }, gives: "" },
]) {
  test(`a range with ${it} contains "${gives}"`, () => {
    const map = aMap("f", "b", "d");
    equal(keysIn(map, range), gives);
    equal(
      visited(map, range)
        .map(([key]) => key)
        .join(""),
      gives,
    );
    equal(map.count(range), gives.length);
  });
}

test("an empty map has no first, no last and no entries", () => {
  const map = aMap();
  deepEqual(
    [map.first(), map.last(), map.nextAfter("a"), map.nextBefore("a"), keysIn(map), map.count()],
    [undefined, undefined, undefined, undefined, "", 0],
  );
});

test("forEach stops when the visitor returns false", () => {
  const seen: string[] = [];
  aMap("a", "b", "c").forEach((key) => {
    seen.push(key);
    return key !== "b";
  });
  deepEqual(seen, ["a", "b"]);
});

test("strings are ordered by UTF-16 unit, numbers by value, and a custom order can be given", () => {
  equal(keysIn(aMap("ä", "a", "Z", "z", "")), "Zazä");
  const numbers = new SortedMap<number, number>();
  for (const number of [10, 9, -1, 2.5]) numbers.set(number, number);
  deepEqual(
    visited(numbers).map(([key]) => key),
    [-1, 2.5, 9, 10],
  );
  const reversed = new SortedMap<string, number>((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  for (const key of ["a", "c", "b"]) reversed.set(key, 0);
  equal(keysIn(reversed), "cba");
  equal(keysIn(reversed.clone(), { after: "c", before: "a" }), "b");
});

test("iteration sees the entries present at its start, whatever changes meanwhile", () => {
  const keys = Array.from({ length: 500 }, (_, index) => `key-${String(index).padStart(3, "0")}`);
  for (const walk of ["forEach", "entries"] as const) {
    const map = aMap(...keys);
    const seen: string[] = [];
    const disturb = (key: string) => {
      seen.push(key);
      map.delete(key);
      map.set(`${key}-new`, -1);
      if (seen.length === 100) for (const other of keys.slice(200, 300)) map.delete(other);
    };
    const entries = map.entries();
    if (walk === "entries") {
      map.set("before all", -1); // The start is the call, not the first step.
      for (const [key] of entries) disturb(key);
    } else map.forEach(disturb);

    deepEqual(seen, keys, walk);
    equal(map.has("key-000"), false);
  }
});

test("returned pairs do not change afterwards", () => {
  const map = aMap("a", "b", "c");
  const kept = [map.first(), map.last(), map.nextAfter("a"), map.nextBefore("b"), ...map.entries()];
  map.set("a", 100);
  deepEqual(kept, [
    ["a", 0],
    ["c", 2],
    ["b", 1],
    ["a", 0],
    ["a", 0],
    ["b", 1],
    ["c", 2],
  ]);
});

test("undefined is rejected as a value, and a range has one lower bound", () => {
  throws(() => aMap().set("a", undefined as never), { name: "AssertionFailed" });
  throws(() => aMap("a").count({ from: "a", after: "a" }), { name: "AssertionFailed" });
});

// ── property ────────────────────────────────────────────────────────────────────────────────────────

/** A Map that is sorted on every query. */
class Model {
  readonly entries: Map<number, number>;

  constructor(entries: Iterable<[number, number]> = []) {
    this.entries = new Map(entries);
  }

  sorted({ from = -Infinity, after = -Infinity, before = Infinity }: KeyRange<number> = {}): [number, number][] {
    const inRange = [...this.entries].filter(([key]) => key >= from && key > after && key < before);
    return inRange.sort(([a], [b]) => a - b);
  }
}

test("clones of clones behave as independent maps under any sequence of changes", () => {
  // Enough keys for several levels of nodes, and whole ranges at once, so that nodes split, merge and are shared.
  const key = fc.integer({ min: 0, max: 3_000 });
  const step = fc.record({
    which: fc.nat(),
    act: fc.oneof(
      { weight: 3, arbitrary: fc.record({ set: key, count: fc.integer({ min: 1, max: 300 }), stride: fc.integer({ min: 1, max: 7 }) }) },
      { weight: 3, arbitrary: fc.record({ delete: key, count: fc.integer({ min: 1, max: 300 }), stride: fc.integer({ min: 1, max: 7 }) }) },
      { weight: 2, arbitrary: fc.constant("clone" as const) },
      { weight: 1, arbitrary: fc.record({ from: key, before: key }) },
      { weight: 1, arbitrary: fc.record({ after: key }) },
    ),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const pairs = [{ map: new SortedMap<number, number>(), model: new Model() }];
      let value = 0;
      for (const { which, act } of steps) {
        const { map, model } = pairs[which % pairs.length] as (typeof pairs)[number];
        if (act === "clone") pairs.push({ map: map.clone(), model: new Model(model.entries) });
        else if ("set" in act) {
          for (let index = 0; index < act.count; index++) {
            const at: number = act.set + index * act.stride;
            equal(map.set(at, ++value), !model.entries.has(at));
            model.entries.set(at, value);
          }
        } else if ("delete" in act) {
          for (let index = 0; index < act.count; index++) {
            const at: number = act.delete + index * act.stride;
            equal(map.delete(at), model.entries.delete(at));
          }
        } else {
          const expected = model.sorted(act);
          deepEqual([...map.entries(act)], expected);
          deepEqual(visited(map, act), expected);
          equal(map.count(act), expected.length);
          if ("after" in act) deepEqual(map.nextAfter(act.after), expected[0]);
          else
            deepEqual(
              [map.get(act.from), map.nextBefore(act.from)],
              [model.entries.get(act.from), model.sorted({ before: act.from }).at(-1)],
            );
        }
      }
      for (const { map, model } of pairs) {
        const expected = model.sorted();
        deepEqual([...map.entries()], expected);
        deepEqual([map.size, map.first(), map.last()], [expected.length, expected[0], expected.at(-1)]);
      }
    }),
    { seed: testSeed(), numRuns: rounds({ quick: 60, full: 2_000 }) },
  );
});
