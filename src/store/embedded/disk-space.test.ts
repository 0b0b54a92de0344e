import { equal } from "node:assert/strict";
import { test } from "node:test";
import { fits, SPACE_TO_FREE, spaceForValues } from "./disk-space.ts";

const KILO = 1_024;
const MEGA = KILO * KILO;
const bytes = (length: number) => new Uint8Array(length);

for (const { it, wanted, freeBytes, unusedBytes = 0, is } of [
  { it: "a value on a disk with room", wanted: spaceForValues([bytes(100)]), freeBytes: 10 * MEGA, is: true },
  { it: "a value that would leave no room for what frees", wanted: spaceForValues([bytes(100)]), freeBytes: MEGA, is: false },
  { it: "a deletion there", wanted: spaceForValues([undefined]), freeBytes: MEGA, is: true },
  { it: "a deletion beside a value there", wanted: spaceForValues([undefined, bytes(1)]), freeBytes: MEGA, is: false },
  { it: "what compaction does there", wanted: SPACE_TO_FREE, freeBytes: MEGA, is: true },
  { it: "a value for which the file has pages", wanted: spaceForValues([bytes(100)]), freeBytes: MEGA, unusedBytes: MEGA, is: true },
  { it: "a value that is larger than that", wanted: spaceForValues([bytes(600 * KILO)]), freeBytes: MEGA, unusedBytes: MEGA, is: false },
  { it: "a value with pages, if not one byte is free", wanted: spaceForValues([bytes(1)]), freeBytes: 0, unusedBytes: 9 * MEGA, is: false },
  { it: "what frees, if not one byte is free", wanted: SPACE_TO_FREE, freeBytes: 0, unusedBytes: 9 * MEGA, is: false },
  { it: "a large value", wanted: spaceForValues([bytes(3 * MEGA)]), freeBytes: 4 * MEGA, is: false },
  {
    it: "many small values, each with its pages",
    wanted: spaceForValues(Array.from({ length: 1_000 }, () => bytes(1))),
    freeBytes: 10 * MEGA,
    is: false,
  },
  { it: "anything, if the free space is unknown", wanted: spaceForValues([bytes(3 * MEGA)]), freeBytes: Infinity, is: true },
]) {
  test(`${it} ${is ? "fits" : "does not fit"}`, () => {
    equal(fits(wanted, { freeBytes, unusedBytes: () => unusedBytes }), is);
  });
}
