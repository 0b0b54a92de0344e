import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../object.ts";
import { mergeObjects } from "./merge.ts";
import { aWidget, wanted, widget } from "./testing/widget.ts";

function merged(live: JsonObject, applied: JsonObject): unknown {
  return mergeObjects(widget, aWidget(live), wanted(applied))["spec"];
}

for (const { live, applied, result } of [
  { live: ["a", "b"], applied: ["b", "a"], result: ["b", "a"] },
  { live: ["a", "x", "b"], applied: ["b", "a"], result: ["x", "b", "a"] },
  { live: ["a", "b", "x"], applied: ["a", "n"], result: ["a", "b", "x", "n"] },
  { live: ["x", "a"], applied: ["n", "a"], result: ["x", "n", "a"] },
  { live: ["a", "b", "x"], applied: ["b", "a", "n"], result: ["b", "x", "a", "n"] },
  { live: ["a", "a", "x"], applied: ["a", "n"], result: ["a", "n", "x"] },
  { live: ["a"], applied: [], result: ["a"] },
  { live: ["a"], applied: null, result: ["a"] },
  { live: [], applied: null, result: null },
]) {
  test(`merging ${JSON.stringify(applied)} into the set ${JSON.stringify(live)} yields ${JSON.stringify(result)}`, () => {
    assert.deepEqual(merged({ tags: live }, { tags: applied }), { tags: result });
  });
}

for (const { what, live, applied, result } of [
  { what: "an atomic list is replaced", live: { args: ["a"] }, applied: { args: ["b"] }, result: { args: ["b"] } },
  {
    what: "an atomic struct is replaced",
    live: { target: { kind: "k", name: "n" } },
    applied: { target: { kind: "z" } },
    result: { target: { kind: "z" } },
  },
  {
    what: "a map is merged",
    live: { data: { a: "1", b: "1" } },
    applied: { data: { b: "2", c: "2" } },
    result: { data: { a: "1", b: "2", c: "2" } },
  },
  {
    what: "items are merged by key",
    live: { parts: [{ name: "a", image: "1" }] },
    applied: { parts: [{ name: "a", tags: ["t"] }] },
    result: { parts: [{ name: "a", image: "1", tags: ["t"] }] },
  },
  {
    what: "an item with a defaulted key is found",
    live: { ports: [{ port: 80, protocol: "TCP" }] },
    applied: { ports: [{ port: 80, name: "x" }] },
    result: { ports: [{ port: 80, protocol: "TCP", name: "x" }] },
  },
  { what: "unknown JSON becomes another kind of value", live: { free: { a: 1 } }, applied: { free: [1] }, result: { free: [1] } },
  { what: "null keeps a map", live: { data: { a: "1" } }, applied: { data: null }, result: { data: { a: "1" } } },
  { what: "null replaces a value", live: { replicas: 1 }, applied: { replicas: null }, result: { replicas: null } },
] satisfies { what: string; live: JsonObject; applied: JsonObject; result: JsonObject }[]) {
  test(`${what} by a merge`, () => {
    assert.deepEqual(merged(live, applied), result);
  });
}

test("equal parts keep their identity in a merge", () => {
  const live = aWidget({ parts: [{ name: "a", tags: ["x"] }], data: { a: "1" }, nested: { b: { c: "1" } } });

  assert.equal(mergeObjects(widget, live, structuredClone(live)), live);
  const changed = mergeObjects(widget, live, wanted({ data: { b: "2" }, parts: [{ name: "a" }] }));
  assert.equal((changed["spec"] as JsonObject)["parts"], (live["spec"] as JsonObject)["parts"]);
});

test("a key called __proto__ is merged like any other", () => {
  const data = JSON.parse('{"__proto__":"2"}') as JsonObject;

  assert.equal(JSON.stringify(merged({ data: { a: "1" } }, { data })), '{"data":{"a":"1","__proto__":"2"}}');
});
