import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { Lru } from "./lru.ts";

function keysOf(lru: Lru<string, string>): string {
  return Array.from(lru.entries(), ([key]) => key).join("");
}

function filled(max: number, keys: string): Lru<string, string> {
  const lru = new Lru<string, string>({ max });
  for (const key of keys) lru.set(key, key.toUpperCase());
  return lru;
}

test("a full cache evicts the least recently used entry", () => {
  const lru = filled(3, "abc");
  lru.get("a");
  lru.set("d", "D");
  deepEqual([keysOf(lru), lru.get("b")], ["dac", undefined]);
});

test("peek and has do not count as use; set does", () => {
  const lru = filled(3, "abc");
  deepEqual([lru.peek("a"), lru.has("b"), lru.peek("x"), lru.has("x")], ["A", true, undefined, false]);
  lru.set("b", "B2");
  equal(keysOf(lru), "bca");
});

test("total weight is limited separately, and an entry that is too heavy removes its older value", () => {
  const lru = new Lru<string, string>({ max: 100, maxWeight: 5, weigh: (value) => value.length });
  lru.set("a", "xx");
  lru.set("b", "xxx");
  lru.set("c", "x");
  deepEqual([keysOf(lru), lru.weight], ["cb", 4]);

  lru.set("b", "xxxxxx");

  deepEqual([keysOf(lru), lru.weight], ["c", 1]);
});

test("delete and clear leave nothing behind", () => {
  const lru = filled(3, "abc");
  deepEqual([lru.delete("b"), lru.delete("b"), keysOf(lru), lru.weight], [true, false, "ca", 2]);
  lru.clear();
  deepEqual([lru.size, lru.weight, keysOf(lru)], [0, 0, ""]);
  lru.set("z", "Z");
  equal(keysOf(lru), "z");
});

test("a cache without capacity and a negative weight are rejected", () => {
  throws(() => new Lru({ max: 0 }), { name: "AssertionFailed" });
  throws(() => new Lru<string, string>({ max: 1, weigh: () => -1 }).set("a", "A"), { name: "AssertionFailed" });
});

test("the cache behaves like a linear list", () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
  const step = fc.oneof(fc.record({ set: key, value: fc.nat(6) }), fc.record({ get: key }), fc.record({ delete: key }));
  const limits = fc.record({ max: fc.integer({ min: 1, max: 6 }), maxWeight: fc.integer({ min: 1, max: 20 }) });
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 100 }), ({ max, maxWeight }, steps) => {
      const lru = new Lru<string, number>({ max, maxWeight, weigh: (value) => value });
      let model: [string, number][] = []; // The newest first.
      const weightOf = (entries: typeof model) => entries.reduce((sum, [, value]) => sum + value, 0);
      for (const one of steps) {
        const used = "set" in one ? one.set : "get" in one ? one.get : one.delete;
        const found = model.find(([name]) => name === used);
        const others = model.filter(([name]) => name !== used);
        if ("set" in one) {
          lru.set(used, one.value);
          model = one.value > maxWeight ? others : [[used, one.value], ...others];
          while (model.length > max || weightOf(model) > maxWeight) model.pop();
        } else if ("get" in one) {
          equal(lru.get(used), found?.[1]);
          if (found) model = [found, ...others];
        } else {
          equal(lru.delete(used), found !== undefined);
          model = others;
        }
        deepEqual([...lru.entries()], model);
        deepEqual([lru.size, lru.weight], [model.length, weightOf(model)]);
      }
    }),
    { seed: testSeed(), numRuns: rounds({ quick: 200, full: 5_000 }) },
  );
});
