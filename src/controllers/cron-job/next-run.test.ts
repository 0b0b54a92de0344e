import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { parseCronSchedule } from "../../api/batch/v1/cron-schedule.ts";
import { nextRunMs, NEVER_MS } from "./next-run.ts";
import { BERLIN, KOLKATA, SAO_PAULO_2018 } from "./testing/zones.ts";
import { formatLocalTime, UTC, type TimeZone } from "./time-zone.ts";

const ZONES: Readonly<Record<string, TimeZone>> = { UTC, Berlin: BERLIN, Kolkata: KOLKATA, "São Paulo": SAO_PAULO_2018 };

/** The cases of the library that upstream uses are among them. */
const CASES: readonly [schedule: string, zone: string, after: string, runs: readonly string[]][] = [
  ["0/15 * * * *", "UTC", "2012-07-09T14:45:00Z", ["2012-07-09T15:00:00Z", "2012-07-09T15:15:00Z"]],
  ["0/15 * * * *", "UTC", "2012-07-09T14:59:59Z", ["2012-07-09T15:00:00Z"]],
  ["20-35/15 * * * *", "UTC", "2012-07-09T15:45:00Z", ["2012-07-09T16:20:00Z", "2012-07-09T16:35:00Z"]],
  ["0/15 * * * *", "UTC", "2012-12-31T23:59:45Z", ["2013-01-01T00:00:00Z"]],
  ["0 0 9 * *", "UTC", "2012-07-09T23:35:00Z", ["2012-08-09T00:00:00Z"]],
  ["0 0 */5 * Mon", "UTC", "2012-07-09T23:35:00Z", ["2012-07-11T00:00:00Z", "2012-07-16T00:00:00Z", "2012-07-21T00:00:00Z"]],
  ["0 0 * Feb Mon", "UTC", "2012-07-09T23:35:00Z", ["2013-02-04T00:00:00Z", "2013-02-11T00:00:00Z"]],
  ["0 0 29 2 ?", "UTC", "2012-07-09T23:35:00Z", ["2016-02-29T00:00:00Z"]],
  ["@hourly", "UTC", "2026-12-31T23:00:00Z", ["2027-01-01T00:00:00Z"]],
  ["@weekly", "UTC", "2026-01-01T00:00:00Z", ["2026-01-04T00:00:00Z"]],
  ["@yearly", "UTC", "2026-01-01T00:00:00Z", ["2027-01-01T00:00:00Z"]],
  ["@every 90m", "UTC", "2026-01-01T00:00:00Z", ["2026-01-01T01:30:00Z", "2026-01-01T03:00:00Z"]],
  ["@every 10ms", "UTC", "2026-01-01T00:00:00Z", ["2026-01-01T00:00:01Z"]],
  ["30 9 * * *", "Kolkata", "2026-01-01T00:00:00Z", ["2026-01-01T09:30:00+05:30", "2026-01-02T09:30:00+05:30"]],
  // The clock goes from 02:00 to 03:00: 02:30 does not exist on that day.
  ["30 2 * * *", "Berlin", "2026-03-28T00:00:00Z", ["2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00"]],
  ["0 * * * *", "Berlin", "2026-03-29T00:00:00Z", ["2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"]],
  ["0 3 * * *", "Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T03:00:00+02:00"]],
  // The clock goes back from 03:00 to 02:00: 02:30 exists twice.
  ["30 2 * * *", "Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"]],
  ["0 3 * * *", "Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T03:00:00+01:00", "2026-10-26T03:00:00+01:00"]],
  ["0 0 1 * *", "Berlin", "2026-03-15T00:00:00Z", ["2026-04-01T00:00:00+02:00", "2026-05-01T00:00:00+02:00"]],
  // A day without midnight.
  ["0 0 4 11 *", "São Paulo", "2018-11-01T00:00:00Z", ["2019-11-04T00:00:00-02:00"]],
  ["0 1 * * *", "São Paulo", "2018-11-03T12:00:00Z", ["2018-11-04T01:00:00-02:00", "2018-11-05T01:00:00-02:00"]],
];

for (const [schedule, zoneName, after, runs] of CASES) {
  test(`"${schedule}" in ${zoneName} runs after ${after} at ${runs.join(", ")}`, () => {
    const zone = ZONES[zoneName] ?? UTC;
    const parsed = parseCronSchedule(schedule);
    let timeMs = Date.parse(after);

    const found = runs.map(() => (timeMs = nextRunMs(parsed, timeMs, zone)));

    deepEqual(
      found.map((runMs) => formatLocalTime(runMs, zone)),
      runs,
    );
  });
}

for (const schedule of ["0 0 30 2 *", "0 0 31 4,6,9,11 ?", "59 23 31 2 *"]) {
  test(`"${schedule}" never runs`, () => {
    equal(nextRunMs(parseCronSchedule(schedule), Date.UTC(2026, 0, 1), UTC), NEVER_MS);
  });
}
