import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { durationInputMs } from "./duration-input.ts";

const LENGTHS: readonly (readonly [string | number, number])[] = [
  ["6m", 360_000],
  ["1h30m", 5_400_000],
  ["500ms", 500],
  ["1.5s", 1_500],
  ["2d", 172_800_000],
  ["0", 0],
  [0, 0],
  [1_500, 1_500],
];

for (const [length, ms] of LENGTHS) test(`${JSON.stringify(length)} is ${ms} ms`, () => equal(durationInputMs(length), ms));

for (const wrong of ["", "six", "6", "-6m", "5 minutes", "1d12h", -1, NaN, Infinity]) {
  test(`${JSON.stringify(wrong)} is rejected as a duration`, () => {
    throws(() => durationInputMs(wrong), {
      name: "RangeError",
      message: `Invalid duration "${wrong}": it must be a number of milliseconds, 0 or more, or a string such as "6m", "1h30m" or "2d"`,
    });
  });
}
