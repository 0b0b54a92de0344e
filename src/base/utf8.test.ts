import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeUtf8, utf8Length } from "./utf8.ts";

/** Lone surrogates, characters of every length, and mostly ASCII. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
);

test("encodeUtf8 encodes any string like TextEncoder", () => {
  fc.assert(fc.property(text, (some) => deepEqual(encodeUtf8(some), new TextEncoder().encode(some))));
});

test("utf8Length equals the number of encoded bytes", () => {
  fc.assert(fc.property(text, (some) => equal(utf8Length(some), new TextEncoder().encode(some).length)));
});
