import { doesNotThrow, throws } from "node:assert/strict";
import { test } from "node:test";
import { assert, AssertionFailed, unreachable } from "./assert.ts";

test("assert is silent for a true claim and throws a false one with its text", () => {
  doesNotThrow(() => assert(true, "one is one"));
  throws(() => assert(false, "one is two"), new AssertionFailed("one is two"));
});

test("unreachable names the value that the compiler considered impossible", () => {
  throws(() => unreachable({ kind: "new" } as never), { name: "AssertionFailed", message: 'Unhandled case: {"kind":"new"}' });
});
