import { doesNotThrow, throws } from "node:assert/strict";
import { test } from "node:test";
import { assert, AssertionFailed, unreachable } from "./assert.ts";

test("a claim that holds is silent, one that does not is thrown as it was written", () => {
  doesNotThrow(() => assert(true, "one is one"));
  throws(() => assert(false, "one is two"), new AssertionFailed("one is two"));
});

test("a case that the compiler held for impossible names the value", () => {
  throws(() => unreachable({ kind: "new" } as never), { name: "AssertionFailed", message: 'Unhandled case: {"kind":"new"}' });
});
