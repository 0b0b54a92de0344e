import { equal } from "node:assert/strict";
import { test } from "node:test";
import { fits, ROOM_TO_FREE, roomForValues } from "./room.ts";

const KILO = 1_024;
const MEGA = KILO * KILO;
const bytes = (length: number) => new Uint8Array(length);

for (const { it, wanted, freeBytes, unusedBytes = 0, is } of [
  { it: "a value on a disk with room", wanted: roomForValues([bytes(100)]), freeBytes: 10 * MEGA, is: true },
  { it: "a value that would leave no room for what frees", wanted: roomForValues([bytes(100)]), freeBytes: MEGA, is: false },
  { it: "a deletion there", wanted: roomForValues([undefined]), freeBytes: MEGA, is: true },
  { it: "a deletion beside a value there", wanted: roomForValues([undefined, bytes(1)]), freeBytes: MEGA, is: false },
  { it: "what compaction does there", wanted: ROOM_TO_FREE, freeBytes: MEGA, is: true },
  { it: "a value for which the file has pages", wanted: roomForValues([bytes(100)]), freeBytes: MEGA, unusedBytes: MEGA, is: true },
  { it: "a value that is larger than that", wanted: roomForValues([bytes(600 * KILO)]), freeBytes: MEGA, unusedBytes: MEGA, is: false },
  { it: "a value with pages, if not one byte is free", wanted: roomForValues([bytes(1)]), freeBytes: 0, unusedBytes: 9 * MEGA, is: false },
  { it: "what frees, if not one byte is free", wanted: ROOM_TO_FREE, freeBytes: 0, unusedBytes: 9 * MEGA, is: false },
  { it: "a large value", wanted: roomForValues([bytes(3 * MEGA)]), freeBytes: 4 * MEGA, is: false },
  {
    it: "many small values, each with its pages",
    wanted: roomForValues(Array.from({ length: 1_000 }, () => bytes(1))),
    freeBytes: 10 * MEGA,
    is: false,
  },
  { it: "anything, if nobody can say", wanted: roomForValues([bytes(3 * MEGA)]), freeBytes: Infinity, is: true },
]) {
  test(`${it} ${is ? "fits" : "does not fit"}`, () => {
    equal(fits(wanted, { freeBytes, unusedBytes: () => unusedBytes }), is);
  });
}
