import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../../testing/rounds.ts";
import {
  ageOf,
  DurationError,
  durationOfMs,
  durationToMs,
  formatDuration,
  humanDuration,
  parseDuration,
  shortHumanDuration,
  timeUntil,
} from "./duration.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) };

test("Go durations are parsed and formatted as Go does", () => {
  const rows: readonly (readonly [string, bigint, string])[] = [
    ["0", 0n, "0s"],
    ["-0", 0n, "0s"],
    ["1h2m3s", 3_723_000_000_000n, "1h2m3s"],
    ["90m", 5_400_000_000_000n, "1h30m0s"],
    ["1.5h", 5_400_000_000_000n, "1h30m0s"],
    [".5s", 500_000_000n, "500ms"],
    ["1.s", 1_000_000_000n, "1s"],
    ["1s1h", 3_601_000_000_000n, "1h0m1s"],
    ["100us", 100_000n, "100\u00B5s"],
    ["1.5\u03BCs", 1_500n, "1.5\u00B5s"],
    ["10ns", 10n, "10ns"],
    ["-1.05s", -1_050_000_000n, "-1.05s"],
    ["2562047h47m16.854775807s", 2n ** 63n - 1n, "2562047h47m16.854775807s"],
    ["-2562047h47m16.854775808s", -(2n ** 63n), "-2562047h47m16.854775808s"],
  ];
  deepEqual(
    rows.map(([text]) => [text, parseDuration(text), formatDuration(parseDuration(text))]),
    rows,
  );
});

test("malformed durations are rejected with Go's messages", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["", 'time: invalid duration ""'],
    ["-", 'time: invalid duration "-"'],
    ["s", 'time: invalid duration "s"'],
    [".s", 'time: invalid duration ".s"'],
    ["1", 'time: missing unit in duration "1"'],
    ["1h5", 'time: missing unit in duration "1h5"'],
    ["1d", 'time: unknown unit "d" in duration "1d"'],
    ["1\u00B5", 'time: unknown unit "\\xc2\\xb5" in duration "1\\xc2\\xb5"'],
    ["2562047h47m16.854775808s", 'time: invalid duration "2562047h47m16.854775808s"'],
    ["-2562047h47m16.854775809s", 'time: invalid duration "-2562047h47m16.854775809s"'],
    ["--1s", 'time: invalid duration "--1s"'],
  ];
  for (const [text, message] of rows) throws(() => parseDuration(text), new DurationError(message), text);
});

test("a formatted duration parses to the same duration", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (nanoseconds) => {
      equal(parseDuration(formatDuration(nanoseconds)), nanoseconds);
    }),
    settings,
  );
});

test("durations convert to and from whole milliseconds", () => {
  equal(durationToMs(parseDuration("1.0009s")), 1000);
  equal(formatDuration(durationOfMs(1_500)), "1.5s");
});

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

test("human-readable durations have two or three significant figures", () => {
  const rows: readonly (readonly [number, string, string])[] = [
    [-2 * SECOND, "<invalid>", "<invalid>"],
    [-1 * SECOND, "0s", "0s"],
    [0, "0s", "0s"],
    [59_999, "59s", "59s"],
    [119 * SECOND, "119s", "1m"],
    [2 * MINUTE, "2m", "2m"],
    [5 * MINUTE + 30 * SECOND, "5m30s", "5m"],
    [10 * MINUTE + 30 * SECOND, "10m", "10m"],
    [179 * MINUTE, "179m", "2h"],
    [3 * HOUR, "3h", "3h"],
    [7 * HOUR + 59 * MINUTE, "7h59m", "7h"],
    [8 * HOUR + 59 * MINUTE, "8h", "8h"],
    [47 * HOUR, "47h", "1d"],
    [2 * DAY + 3 * HOUR, "2d3h", "2d"],
    [7 * DAY, "7d", "7d"],
    [8 * DAY + 3 * HOUR, "8d", "8d"],
    [2 * YEAR - DAY, "729d", "1y"],
    [2 * YEAR, "2y", "2y"],
    [3 * YEAR + 45 * DAY, "3y45d", "3y"],
    [8 * YEAR + 45 * DAY, "8y", "8y"],
  ];
  deepEqual(
    rows.map(([durationMs]) => [durationMs, humanDuration(durationMs), shortHumanDuration(durationMs)]),
    rows,
  );
});

test("an age is counted from a timestamp, and <unknown> without one", () => {
  const nowMs = Date.UTC(2024, 0, 2);
  equal(ageOf("2024-01-01T00:00:00Z", nowMs), "24h");
  equal(ageOf("2024-01-01T23:59:59.500000Z", nowMs), "0s");
  for (const timestamp of [undefined, "", "0001-01-01T00:00:00Z"]) equal(ageOf(timestamp, nowMs), "<unknown>");
  equal(timeUntil("2024-01-02T00:05:00Z", nowMs), "5m");
  equal(timeUntil(undefined, nowMs), "<unknown>");
});
