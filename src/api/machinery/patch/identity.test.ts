import fc from "fast-check";
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import { deepClone, deepEqual as isSame, deepFreeze } from "../../../base/deep.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { keepIdentity } from "./identity.ts";
import { anyJson } from "./testing/any-json.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 500, full: 20_000 }) };

test("structural sharing returns a value equal to the new one, shares all equal parts with the old one, and modifies neither", () => {
  fc.assert(
    fc.property(anyJson, anyJson, (next, previous) => {
      const before = deepClone([next, previous]);
      deepFreeze([next, previous]);

      const result = keepIdentity(next, previous);

      deepEqual(result, next);
      expectShared(result, previous);
      deepEqual([next, previous], before);
    }),
    settings,
  );
});

/** Every part of `result` that equals the part of `previous` at the same path is that part. */
function expectShared(result: unknown, previous: unknown): void {
  if (typeof result !== "object" || typeof previous !== "object" || result === null || previous === null) return;
  if (isSame(result, previous)) return equal(result, previous);
  if (Array.isArray(result) !== Array.isArray(previous)) return;
  for (const name of Object.keys(result)) {
    if (Object.hasOwn(previous, name)) expectShared(Reflect.get(result, name), Reflect.get(previous, name));
  }
}

test("a copy of the old value yields the old value", () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      equal(keepIdentity(deepClone(value), deepFreeze(value)), value);
    }),
    settings,
  );
});

test("a value without common parts is returned unchanged", () => {
  const next = { a: [1], b: { c: 2 } };

  equal(keepIdentity(next, { a: [2], b: { c: 3 } }), next);
  equal(keepIdentity(next, [next.b]), next);
  equal(keepIdentity(next, null), next);
  equal(keepIdentity(next, undefined), next);
});

test("only the path to the change is copied", () => {
  const previous = deepFreeze({ metadata: { labels: { a: "b" } }, spec: { list: [{ x: 1 }, { x: 2 }, { x: 3 }], other: { y: 1 } } });
  const next = deepFreeze({ metadata: { labels: { a: "b" } }, spec: { list: [{ x: 1 }, { x: 9 }, { x: 3 }], other: { y: 1 } } });

  const result = keepIdentity(next, previous);

  deepEqual(result, next);
  equal(result.metadata, previous.metadata);
  equal(result.spec.other, previous.spec.other);
  equal(result.spec.list[0], previous.spec.list[0]);
  equal(result.spec.list[1], next.spec.list[1]);
  equal(result.spec.list[2], previous.spec.list[2]);
});

test("a list that grew or shrank keeps the items at unchanged indexes", () => {
  const previous = deepFreeze([{ x: 1 }, { x: 2 }]);

  const grown = keepIdentity([{ x: 1 }, { x: 2 }, { x: 3 }], previous);
  const shrunk = keepIdentity([{ x: 1 }], previous);

  deepEqual([grown, shrunk], [[{ x: 1 }, { x: 2 }, { x: 3 }], [{ x: 1 }]]);
  equal(grown[0], previous[0]);
  equal(grown[1], previous[1]);
  equal(shrunk[0], previous[0]);
});

test("an object that lost a member keeps the others", () => {
  const previous = deepFreeze({ a: { x: 1 }, b: { y: 1 } });

  const result = keepIdentity<object>({ a: { x: 1 } }, previous);

  deepEqual(result, { a: { x: 1 } });
  equal(Reflect.get(result, "a"), previous.a);
});

test("member order and undefined members make no difference", () => {
  const previous = deepFreeze({ a: { x: 1 }, b: 2 });

  equal(keepIdentity<object>({ b: 2, a: { x: 1 } }, previous), previous);
  equal(keepIdentity<object>({ a: { x: 1, y: undefined }, b: 2, c: undefined }, previous), previous);
  equal(keepIdentity({ a: 1 }, { a: 1, b: undefined }).a, 1);
});

test("a member called __proto__ is compared as a member and does not pollute the prototype", () => {
  const previous = deepFreeze(JSON.parse('{"__proto__":{"x":1},"a":{"y":1}}') as object);
  const next = JSON.parse('{"__proto__":{"x":1},"a":{"y":2}}') as object;

  const result = keepIdentity(next, previous);

  equal(JSON.stringify(result), '{"__proto__":{"x":1},"a":{"y":2}}');
  equal(Object.getOwnPropertyDescriptor(result, "__proto__")?.value, Object.getOwnPropertyDescriptor(previous, "__proto__")?.value);
  equal(Object.getPrototypeOf(result), Object.prototype);
  notEqual(keepIdentity<object>({}, previous), previous);
  // An inherited prototype must not count as an equal member.
  equal(JSON.stringify(keepIdentity(JSON.parse('{"__proto__":{}}'), {})), '{"__proto__":{}}');
});
