import assert from "node:assert/strict";
import { test } from "node:test";
import { timeProblem } from "./time-problem.ts";

const SECONDS = "2006-01-02T15:04:05Z07:00";
const MICRO = "2006-01-02T15:04:05.000000Z07:00";

/** Go's messages for the same texts. */
const ROWS: readonly (readonly [text: string, layout: "seconds" | "micro", rest: string])[] = [
  ["", "seconds", ` as "${SECONDS}": cannot parse "" as "2006"`],
  ["2026-01-02 03:04:05Z", "seconds", ` as "${SECONDS}": cannot parse " 03:04:05Z" as "T"`],
  ["2026-01-02T03:04:05", "seconds", ` as "${SECONDS}": cannot parse "" as "Z07:00"`],
  ["2026-01-02T03:04:05Zx", "seconds", ': extra text: "x"'],
  ["2026-02-30T03:04:05Z", "seconds", ": day out of range"],
  ["2026-13-02T03:04:05Z", "seconds", ": month out of range"],
  ["2026-01-02T24:04:05Z", "seconds", ": hour out of range"],
  ["2026-01-02T03:04:05+25:00", "seconds", ": time zone offset hour out of range"],
  ["2026-01-02T03:04:05.1+02:00", "micro", ` as "${MICRO}": cannot parse ".1+02:00" as ".000000"`],
  ["2026-01-02T03:04:05.123456789Z", "micro", ` as "${MICRO}": cannot parse "789Z" as "Z07:00"`],
];
for (const [text, layout, rest] of ROWS) {
  test(`"${text}" is rejected as a ${layout} time: parsing time …${rest}`, () => {
    assert.equal(timeProblem(text, layout), `parsing time ${JSON.stringify(text)}${rest}`);
  });
}
