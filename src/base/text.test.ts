import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { detachedText, escapeInvisible, withoutLeading, withoutTrailing } from "./text.ts";

test("trimming removes the given characters at one end and nothing else", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", " ", "\t", "/") }), (text) => {
      assert.equal(withoutTrailing(text, " \t"), text.replace(/[ \t]+$/, ""));
      assert.equal(withoutLeading(text, "/"), text.replace(/^\/+/, ""));
    }),
  );
});

test("a string of only such characters becomes empty, however long it is", () => {
  const text = "/".repeat(1_000_000);

  assert.equal(withoutTrailing(text, "/"), "");
  assert.equal(withoutTrailing(`${text}a`, "/"), `${text}a`);
  assert.equal(withoutLeading(text, "/"), "");
});

test("controls and changes of direction become visible, and the lines of a text stay", () => {
  assert.equal(escapeInvisible("a\u202egpj.exe\u001b[2J\n\tb\r"), "a\\u202egpj.exe\\u001b[2J\n\tb\\u000d");
});

test("a detached string equals the original, whatever it contains", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => detachedText(text) === text));
  assert.equal(detachedText("\ud800 is half a character"), "\ud800 is half a character");
});
