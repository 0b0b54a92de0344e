import fc from "fast-check";
import { deepEqual, doesNotThrow, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../testing/rounds.ts";
import { printable } from "./log-value.ts";

const circle: Record<string, unknown> = { name: "a" };
circle["self"] = circle;

const thrower = {
  before: 1,
  get broken() {
    throw new Error("not now");
  },
  after: 2,
};

const ownCause = new Error("again");
ownCause.cause = ownCause;

for (const { it, value, gives } of [
  { it: "plain JSON as it is", value: { a: [1, "x", null, true], b: {} }, gives: { a: [1, "x", null, true], b: {} } },
  { it: "undefined as JSON does", value: { a: undefined, b: [undefined] }, gives: { b: [null] } },
  { it: "a BigInt as text", value: 12n, gives: "12" },
  { it: "numbers that JSON does not have as text", value: [NaN, -Infinity], gives: ["NaN", "-Infinity"] },
  { it: "a function and a symbol as words", value: [() => {}, Symbol("s")], gives: ["[function]", "Symbol(s)"] },
  { it: "a date in its JSON form", value: new Date(0), gives: "1970-01-01T00:00:00.000Z" },
  { it: "bytes by their number", value: new Uint8Array(3), gives: "[3 bytes]" },
  { it: "a circle once", value: circle, gives: { name: "a", self: "[circular]" } },
  { it: "one object in two places twice", value: [circle["name"], [[1]], [[1]]], gives: ["a", [[1]], [[1]]] },
  { it: "the rest of an object whose getter throws", value: thrower, gives: { before: 1, broken: "[unprintable: not now]", after: 2 } },
  { it: "an object whose toJSON throws", value: { toJSON: () => thrower.broken }, gives: "[unprintable: not now]" },
  { it: "what is too deep by a mark", value: [[[[[[[1]]]]]]], gives: [[[[[["[deep]"]]]]]] },
  { it: "an error as its message", value: new TypeError("no such thing"), gives: "no such thing" },
  { it: "an error without a message by its name", value: new TypeError(), gives: "TypeError" },
  {
    it: "an error with its causes",
    value: new Error("Cannot start", { cause: new Error("Cannot open", { cause: { code: 13 } }) }),
    gives: 'Cannot start: Cannot open: {"code":13}',
  },
  {
    it: "several errors, each with its causes",
    value: new AggregateError([new Error("a", { cause: "b" }), "c"], "Two failed"),
    gives: "Two failed [a: b; c]",
  },
  {
    it: "a cause that is quoted already only once",
    value: new Error("Internal error: Cannot write: disk full", {
      cause: new Error("Cannot write: disk full", { cause: new Error("EIO") }),
    }),
    gives: "Internal error: Cannot write: disk full: EIO",
  },
  { it: "an error that causes itself", value: ownCause, gives: "again: [more causes]" },
]) {
  test(`printable shows ${it}`, () => deepEqual(JSON.parse(JSON.stringify(printable(value))), gives));
}

test("printable shows a member called __proto__ and pollutes no prototype", () => {
  equal(JSON.stringify(printable(JSON.parse('{"__proto__":{"polluted":1},"b":2}'))), '{"__proto__":{"polluted":1},"b":2}');
  equal(({} as Record<string, unknown>)["polluted"], undefined);
});

test("printable marks a revoked proxy as unprintable", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const text = printable({ proxy });
  ok(JSON.stringify(text).startsWith('{"proxy":"[unprintable: '));
});

// 8,192 characters in total: every value counts one, strings and names their length.
for (const { it, value, gives } of [
  { it: "a long text", value: "x".repeat(10_000), gives: `${"x".repeat(8_191)}[1809 more]` },
  { it: "a long message", value: new Error("x".repeat(10_000)), gives: `${"x".repeat(8_191)}[1809 more]` },
  { it: "a long list", value: Array.from({ length: 10_000 }, () => 1), gives: [...Array.from({ length: 8_191 }, () => 1), "[1809 more]"] },
  {
    it: "an object with many members",
    value: Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}`.repeat(4_000), index])),
    gives: { [`${"0".repeat(4_000)}`]: 0, [`${"1".repeat(4_000)}`]: 1, [`${"2".repeat(189)}[3811 more]`]: 2, "...": "[2 more]" },
  },
]) {
  test(`printable truncates ${it} and marks how much is missing`, () => deepEqual(JSON.parse(JSON.stringify(printable(value))), gives));
}

test("printable truncates many errors and stays short", () => {
  const many = new AggregateError(
    Array.from({ length: 1_000 }, () => new Error("x".repeat(1_000))),
    "many",
  );
  const text = JSON.stringify(printable(many));
  ok(text.length < 50_000 && text.includes(" more]"), `is ${text.length} long`);
});

test("printable terminates quickly on densely cross-referenced values", () => {
  // Every path through these is distinct: without a limit on the total there would be 100^6 of them.
  const members: Record<string, unknown> = {};
  const error = new AggregateError([], "all", { cause: members });
  for (let index = 0; index < 100; index++) members[`m${index}`] = index % 2 === 0 ? error : { members: [members, error] };
  error.errors.push(error, members, error);

  ok(JSON.stringify(printable(error)).length < 100_000);
});

test("printable turns any value into JSON and never throws", () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true });
  fc.assert(
    fc.property(anything, (value) => doesNotThrow(() => JSON.parse(JSON.stringify(printable(value))))),
    { seed: testSeed(), numRuns: rounds({ quick: 300, full: 10_000 }) },
  );
});
