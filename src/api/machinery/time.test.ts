import fc from "fast-check";
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { rounds, testSeed } from "../../testing/rounds.ts";
import {
  canonicalMicroTime,
  canonicalTime,
  compareInstants,
  formatMicroTime,
  formatTime,
  parseInstant,
  parseTime,
  ZERO_TIME,
  ZERO_TIME_MS,
} from "./time.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) };
const YEAR_9999_END_MS = 253_402_300_799_999;

test("a Time is normalized to UTC and whole seconds", () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["2024-02-29T12:34:56Z", "2024-02-29T12:34:56Z"],
    ["2024-02-29T12:34:56.999Z", "2024-02-29T12:34:56Z"],
    ["2024-02-29T12:34:56,5Z", "2024-02-29T12:34:56Z"],
    ["2024-01-01T00:30:00+01:00", "2023-12-31T23:30:00Z"],
    ["1900-01-01T00:00:00-23:59", "1900-01-01T23:59:00Z"],
    ["0001-01-01T00:00:00Z", ZERO_TIME],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"],
    ["0099-01-01T00:00:00Z", "0099-01-01T00:00:00Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"],
    ["2023-02-29T00:00:00Z", undefined],
    ["2024-13-01T00:00:00Z", undefined],
    ["2024-01-00T00:00:00Z", undefined],
    ["2024-01-01T24:00:00Z", undefined],
    ["2024-01-01T00:60:00Z", undefined],
    ["2024-01-01T00:00:60Z", undefined],
    ["2024-01-01T00:00:00", undefined],
    ["2024-01-01T00:00:00z", undefined],
    ["2024-01-01 00:00:00Z", undefined],
    ["2024-01-01T00:00:00.Z", undefined],
    ["2024-01-01T00:00:00+25:00", undefined],
    ["9999-12-31T23:59:59-01:00", undefined],
    ["", undefined],
  ];
  deepEqual(
    rows.map(([text]) => [text, canonicalTime(text)]),
    rows,
  );
});

test("a MicroTime has exactly six fraction digits", () => {
  equal(canonicalMicroTime("2024-01-01T00:30:00.000001+01:00"), "2023-12-31T23:30:00.000001Z");
  equal(canonicalMicroTime("0001-01-01T00:00:00.000000Z"), "0001-01-01T00:00:00.000000Z");
  for (const text of ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.1Z", "2024-01-01T00:00:00.1234567Z"])
    equal(canonicalMicroTime(text), undefined, text);
});

test("fraction digits beyond microseconds are dropped and missing ones are zeros", () => {
  deepEqual(parseInstant("1970-01-01T00:00:01.5Z"), { seconds: 1, microseconds: 500_000 });
  deepEqual(parseInstant("1969-12-31T23:59:59.9999999Z"), { seconds: -1, microseconds: 999_999 });
});

test("a formatted timestamp parses to the same instant, to the second and to the microsecond", () => {
  fc.assert(
    fc.property(fc.integer({ min: ZERO_TIME_MS, max: YEAR_9999_END_MS }), (timeMs) => {
      equal(parseTime(formatTime(timeMs)), Math.floor(timeMs / 1000) * 1000);
      equal(parseTime(formatMicroTime(timeMs)), timeMs);
      equal(canonicalMicroTime(formatMicroTime(timeMs)), formatMicroTime(timeMs));
    }),
    settings,
  );
});

test("timestamps are ordered by seconds, then by microseconds", () => {
  const texts = ["2024-01-01T00:00:00.000002Z", "2024-01-01T00:00:00.000001Z", "2023-01-01T00:00:00.9Z"];
  const sorted = texts.map((text) => parseInstant(text)!).toSorted(compareInstants);
  deepEqual(
    sorted.map(({ microseconds }) => microseconds),
    [900_000, 1, 2],
  );
});
