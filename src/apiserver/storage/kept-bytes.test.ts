import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { encodeUtf8 } from "../../base/utf8.ts";
import { testSeed } from "../../testing/rounds.ts";
import { keptBytes, keptBytesAllocator, SHARED_BYTES_MAX, SHARED_PER_COUNTED } from "./kept-bytes.ts";

function isShared(bytes: Uint8Array): boolean {
  return bytes.buffer instanceof SharedArrayBuffer;
}

test("three of four kept bytes of one size are in memory that V8 does not count, and none beyond the limit", () => {
  const allocate = keptBytesAllocator();

  deepEqual(
    Array.from({ length: 8 }, () => isShared(allocate(100))),
    [false, true, true, true, false, true, true, true],
  );
  equal(isShared(allocate(SHARED_BYTES_MAX + 1)), false);
});

test("kept bytes of any sizes have the wanted length, and a quarter of them is counted", () => {
  const allocate = keptBytesAllocator();
  const random = seededRandom(testSeed());
  let [shared, counted] = [0, 0];
  for (let round = 0; round < 2_000; round++) {
    const length = random.below(random.below(2) === 0 ? 100 : SHARED_BYTES_MAX + 1);
    const bytes = allocate(length);
    equal(bytes.length, length);
    if (isShared(bytes)) shared += length;
    else counted += length;
    ok(shared <= SHARED_PER_COUNTED * counted);
  }
  ok(shared > counted);
});

for (const text of ["", "plain", "naïve 漢字 🙂", "x".repeat(SHARED_BYTES_MAX + 1)]) {
  test(`kept bytes of ${JSON.stringify(text.slice(0, 12))} decode to the same text`, () => {
    for (let round = 0; round < 4; round++) equal(new TextDecoder().decode(encodeUtf8(text, keptBytes)), text);
  });
}
