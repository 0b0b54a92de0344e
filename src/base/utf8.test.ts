import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeUtf8, utf8Length } from "./utf8.ts";

/** Halves of surrogate pairs, characters of every length, and mostly ASCII. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
);

test("every text becomes what TextEncoder makes of it", () => {
  fc.assert(fc.property(text, (some) => deepEqual(encodeUtf8(some), new TextEncoder().encode(some))));
});

test("the length is that of the bytes", () => {
  fc.assert(fc.property(text, (some) => equal(utf8Length(some), new TextEncoder().encode(some).length)));
});
