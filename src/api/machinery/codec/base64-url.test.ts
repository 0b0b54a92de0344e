import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeBase64Url, encodeBase64Url } from "./base64-url.ts";

test("encoded bytes decode to themselves, and the encoding is unique", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      deepEqual(decodeBase64Url(encodeBase64Url(bytes)), bytes);
    }),
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), (text) => {
      const bytes = decodeBase64Url(text);
      if (bytes !== undefined) equal(encodeBase64Url(bytes), text);
    }),
  );
});

for (const [what, text] of [
  ["padding", "QQ=="],
  ["the letters of the other alphabet", "+/+/"],
  ["a line break", "QU\nFB"],
  ["bits that are left over", "QR"],
  ["a letter that is left over", "QUFBQ"],
  ["letters that are none", "QÄFB"],
] as const) {
  test(`text with ${what} is refused`, () => {
    equal(decodeBase64Url(text), undefined);
  });
}
