import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asWritten, expand, expandAll } from "./expansion.ts";

const values = new Map([
  ["VAR_A", "A"],
  ["VAR_B", "B"],
  ["VAR_EMPTY", ""],
  ["VAR_REF", "$(VAR_A)"],
  ["__proto__", "odd"],
]);

const rows: readonly (readonly [text: string, expanded: string])[] = [
  ["", ""],
  ["plain", "plain"],
  ["$(VAR_A)", "A"],
  ["___$(VAR_B)___", "___B___"],
  ["$(VAR_A)$(VAR_B)", "AB"],
  ["$(VAR_EMPTY)_", "_"],
  ["$(MISSING)", "$(MISSING)"],
  ["$()", "$()"],
  ["$$(VAR_A)", "$(VAR_A)"],
  ["$$$(VAR_A)", "$A"],
  ["$$$$(VAR_A)", "$$(VAR_A)"],
  ["$$$$$(VAR_A)", "$$A"],
  ["$(VAR_REF)", "$(VAR_A)"],
  ["$(VAR_A", "$(VAR_A"],
  ["$VAR_A", "$VAR_A"],
  ["$", "$"],
  ["$$", "$"],
  ["a$", "a$"],
  ["\n$(VAR_A)\n", "\nA\n"],
  ["$(VAR_A)$", "A$"],
  ["$($(VAR_A)", "$($(VAR_A)"],
  ["$($(VAR_A", "$($(VAR_A"],
  ["$(VAR_A))", "A)"],
  ["$😀$(VAR_B)", "$😀B"],
  ["$($$VAR", "$($VAR"],
  ["$(__proto__)", "odd"],
  ["$(constructor)", "$(constructor)"],
];

for (const [text, expanded] of rows) {
  test(`${JSON.stringify(text)} expands to ${JSON.stringify(expanded)}`, () => {
    assert.equal(
      expand(text, (name) => values.get(name) ?? asWritten(name)),
      expanded,
    );
  });
}

test("command and args are expanded one by one", () => {
  assert.deepEqual(expandAll(["sh", "-c", "echo $(VAR_A) $(NO)"], values), ["sh", "-c", "echo A $(NO)"]);
});

test("a text without references keeps its doubled $ signs", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.equal(
        expand(text.replaceAll("$", "$$$$"), () => "never"),
        text,
      );
    }),
  );
});

test("expansion of a hundred thousand unclosed references takes linear time", () => {
  const text = "$(".repeat(100_000);
  let asks = 0;
  assert.equal(
    expand(text, () => String(asks++)),
    text,
  );
  assert.equal(asks, 0);
});
