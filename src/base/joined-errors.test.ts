import { equal } from "node:assert/strict";
import { test } from "node:test";
import { joinedErrors } from "./joined-errors.ts";

for (const [messages, expected] of [
  [[], ""],
  [["a"], "a"],
  [["a", "a"], "a"],
  [["b", "a", "b"], "[b, a]"],
] as const) {
  test(`the error messages ${JSON.stringify(messages)} are joined to ${JSON.stringify(expected)}`, () => {
    equal(joinedErrors(messages), expected);
  });
}
