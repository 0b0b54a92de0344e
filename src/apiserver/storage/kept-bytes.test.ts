import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { keptBytes, SHARED_BYTES_MAX } from "./kept-bytes.ts";
import { encodeUtf8 } from "../../base/utf8.ts";

test("bytes up to the limit are in memory that V8 does not count, larger ones are not", () => {
  deepEqual(
    [0, 1, SHARED_BYTES_MAX, SHARED_BYTES_MAX + 1].map((length) => {
      const bytes = keptBytes(length);
      return [bytes.length, bytes.buffer instanceof SharedArrayBuffer];
    }),
    [
      [0, true],
      [1, true],
      [SHARED_BYTES_MAX, true],
      [SHARED_BYTES_MAX + 1, false],
    ],
  );
});

for (const text of ["", "plain", "naïve 漢字 🙂", "x".repeat(SHARED_BYTES_MAX + 1)]) {
  test(`kept bytes of ${JSON.stringify(text.slice(0, 12))} decode to the same text`, () => {
    equal(new TextDecoder().decode(encodeUtf8(text, keptBytes)), text);
  });
}
