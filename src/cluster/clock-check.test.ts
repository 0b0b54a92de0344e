import { equal, match } from "node:assert/strict";
import { test } from "node:test";
import { judgeClock } from "./clock-check.ts";

const NOW = Date.UTC(2027, 5, 1);
const HOUR_MS = 3_600_000;

for (const { title, times, is, why } of [
  {
    title: "a clock that agrees with everything is possible",
    times: { nowMs: NOW, authorityFromMs: NOW - 1, storeWrittenMs: NOW - 1 },
    is: "possible",
  },
  { title: "without a cluster any time after the build of this version is accepted", times: { nowMs: NOW }, is: "possible" },
  {
    title: "some minutes are within what clocks are corrected by",
    times: { nowMs: NOW, authorityFromMs: NOW + 60_000, storeWrittenMs: NOW + 60_000 },
    is: "possible",
  },
  {
    title: "1970 is wrong",
    times: { nowMs: 5_000 },
    is: "wrong",
    why: /clock of this machine is at 1970-01-01T00:00:05Z, before this version .*timedatectl/,
  },
  {
    title: "a clock before the certificates is wrong",
    times: { nowMs: NOW, authorityFromMs: NOW + HOUR_MS },
    is: "wrong",
    why: /valid from 2027-06-01T01:00:00Z; set it .* remove \/home\/x\/pki$/,
  },
  {
    title: "a clock before the last write is doubtful",
    times: { nowMs: NOW, storeWrittenMs: NOW + HOUR_MS },
    is: "doubtful",
    why: /last written at 2027-06-01T01/,
  },
] as const) {
  test(title, () => {
    const verdict = judgeClock(times, "/home/x");
    equal(verdict.is, is);
    if (verdict.is !== "possible") match(verdict.why, why ?? /^$/);
  });
}
