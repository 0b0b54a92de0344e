import fc from "fast-check";
import { deepEqual as same, equal, notEqual, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { deepClone, deepEqual, deepFreeze } from "./deep.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 10_000 }) };

/** Any JSON value, with member names that are dangerous in JavaScript. */
const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5, withCrossShrink: true }, fc.jsonValue({ maxDepth: 0 }), tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  object: fc
    .array(fc.tuple(fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", "a", "b"), fc.string()), tie("value")), {
      maxLength: 5,
    })
    // As JSON.parse does it: `__proto__` becomes a member.
    .map((members) => Object.fromEntries(members)),
})).value;

function* objectsIn(value: unknown): Iterable<object> {
  if (typeof value !== "object" || value === null) return;
  yield value;
  for (const member of Object.values(value)) yield* objectsIn(member);
}

const pollution = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';

// ── clone ───────────────────────────────────────────────────────────────────────────────────────────

test("deepClone returns equal JSON, shares no object with the original and freezes nothing", () => {
  fc.assert(
    fc.property(json, fc.boolean(), (value, isFrozen) => {
      if (isFrozen) deepFreeze(value);
      const before = JSON.stringify(value);
      const copy = deepClone(value);
      same(JSON.stringify(copy), before);
      const originals = new Set(objectsIn(value));
      for (const object of objectsIn(copy)) {
        equal(originals.has(object), false);
        equal(Object.isFrozen(object), false);
        ok(Array.isArray(object) || Object.getPrototypeOf(object) === Object.prototype);
      }
    }),
    settings,
  );
});

test("deepClone keeps dangerous names as members and pollutes no prototype", () => {
  const copy = deepClone(JSON.parse(pollution) as Record<string, unknown>);
  equal(JSON.stringify(copy), pollution);
  equal((copy as { polluted?: unknown }).polluted, undefined);
  equal(({} as { polluted?: unknown }).polluted, undefined);
});

test("deepClone keeps members that are undefined", () => {
  same(Object.keys(deepClone({ a: undefined })), ["a"]);
});

// ── freeze ──────────────────────────────────────────────────────────────────────────────────────────

test("deepFreeze freezes every part, changes nothing and returns its argument", () => {
  fc.assert(
    fc.property(json, (value) => {
      const before = JSON.stringify(value);
      equal(deepFreeze(value), value);
      equal(JSON.stringify(value), before);
      for (const object of objectsIn(value)) equal(Object.isFrozen(object), true);
    }),
    settings,
  );
});

test("deepFreeze skips parts that are already frozen", () => {
  const inner = { changeable: {} };
  deepFreeze({ part: Object.freeze(inner) });
  equal(Object.isFrozen(inner.changeable), false);
});

test("a frozen value rejects changes", () => {
  const pod = deepFreeze({ spec: { containers: [{ name: "web" }] } });
  throws(() => pod.spec.containers.push({ name: "late" }), TypeError);
});

// ── equal ───────────────────────────────────────────────────────────────────────────────────────────

/** Equal JSON gives equal text, whatever the order of members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

test("two values are equal if their JSON is, except for the order of members", () => {
  fc.assert(
    fc.property(json, json, (a, b) => equal(deepEqual(a, b), canonical(a) === canonical(b))),
    settings,
  );
});

test("a value equals its clone, also with reordered members, and differs after a change", () => {
  const reversed = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(reversed);
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, member]) => [key, reversed(member)]),
    );
  };
  fc.assert(
    fc.property(json, fc.nat(), (value, which) => {
      ok(deepEqual(value, deepClone(value)));
      ok(deepEqual(value, reversed(value)));
      const changed = deepClone(value);
      const objects = [...objectsIn(changed)];
      if (objects.length === 0) return;
      const target = objects[which % objects.length] as Record<string, unknown>;
      if (Array.isArray(target)) target.push("extra");
      else target["extra member"] = "extra";
      equal(deepEqual(value, changed), false);
      equal(deepEqual(changed, value), false);
    }),
    settings,
  );
});

for (const { it, a, b, are } of [
  { it: "an undefined member and none", a: { x: undefined }, b: {}, are: true },
  { it: "an undefined member and another's member", a: { x: undefined, y: 1 }, b: { x: 1 }, are: false },
  { it: "members with other names", a: { x: 1 }, b: { y: 1 }, are: false },
  { it: "a list and an object", a: [], b: {}, are: false },
  { it: "an object and a list", a: {}, b: [], are: false },
  { it: "null and an object", a: null, b: {}, are: false },
  { it: "the number and the text", a: 1, b: "1", are: false },
  { it: "a member called __proto__ and the prototype", a: JSON.parse('{"__proto__":{}}'), b: {}, are: false },
  { it: "a member called __proto__ and another's member", a: JSON.parse('{"__proto__":{}}'), b: { x: 1 }, are: false },
  { it: "the prototype and a member called __proto__", a: {}, b: JSON.parse('{"__proto__":{}}'), are: false },
  { it: "a member called toString and the inherited one", a: { toString: {} }, b: {}, are: false },
  { it: "objects with and without a prototype", a: Object.assign(Object.create(null), { x: 1 }), b: { x: 1 }, are: true },
]) {
  test(`${it} are ${are ? "equal" : "not equal"}`, () => equal(deepEqual(a, b), are));
}

test("deepEqual does not descend into parts that are the same object", () => {
  let looks = 0;
  const part = {
    get member() {
      return looks++;
    },
  };
  ok(deepEqual({ part, list: [part] }, { part, list: [part] }));
  equal(looks, 0);
  notEqual({ part }, { part });
});
