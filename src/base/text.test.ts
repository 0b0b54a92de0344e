import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ownText, withoutLeading, withoutTrailing } from "./text.ts";

test("what stands at an end is taken away, and nothing else", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", " ", "\t", "/") }), (text) => {
      assert.equal(withoutTrailing(text, " \t"), text.replace(/[ \t]+$/, ""));
      assert.equal(withoutLeading(text, "/"), text.replace(/^\/+/, ""));
    }),
  );
});

test("a text of nothing but such characters becomes empty, however long it is", () => {
  const text = "/".repeat(1_000_000);

  assert.equal(withoutTrailing(text, "/"), "");
  assert.equal(withoutTrailing(`${text}a`, "/"), `${text}a`);
  assert.equal(withoutLeading(text, "/"), "");
});

test("a text of its own is the same text, whatever is in it", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => ownText(text) === text));
  assert.equal(ownText("\ud800 is half a character"), "\ud800 is half a character");
});
