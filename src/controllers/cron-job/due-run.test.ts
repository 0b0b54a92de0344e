import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { parseCronSchedule } from "../../api/batch/v1/cron-schedule.ts";
import type { CronJob } from "../../api/generated/batch/v1.ts";
import { dueRun, nextRunInMs } from "./due-run.ts";
import { UTC } from "./time-zone.ts";

interface Facts {
  readonly schedule: string;
  readonly created?: string;
  readonly last?: string;
  readonly deadlineSeconds?: number;
  readonly now: string;
}

function cronJobOf({ schedule, created = "2026-01-01T00:00:00Z", last, deadlineSeconds }: Facts): CronJob {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "c", namespace: "default", creationTimestamp: created },
    spec: {
      schedule,
      jobTemplate: {},
      ...(deadlineSeconds === undefined ? {} : { startingDeadlineSeconds: deadlineSeconds }),
    },
    ...(last === undefined ? {} : { status: { lastScheduleTime: last } }),
  };
}

const CASES: readonly [facts: Facts, due: string, next: string][] = [
  [{ schedule: "0 * * * *", now: "2026-01-01T00:30:00Z" }, "none", "2026-01-01T01:00:00.100Z"],
  [{ schedule: "0 * * * *", now: "2026-01-01T01:00:00.100Z" }, "2026-01-01T01:00:00.000Z", "2026-01-01T02:00:00.100Z"],
  [{ schedule: "0 * * * *", last: "2026-01-01T01:00:00Z", now: "2026-01-01T01:20:00Z" }, "none", "2026-01-01T02:00:00.100Z"],
  [{ schedule: "0 * * * *", now: "2026-01-01T05:20:00Z" }, "2026-01-01T05:00:00.000Z", "2026-01-01T06:00:00.100Z"],
  [{ schedule: "0 * * * *", now: "2026-01-05T04:20:00Z" }, "2026-01-05T04:00:00.000Z", "2026-01-05T05:00:00.100Z"],
  [{ schedule: "0 * * * *", now: "2026-01-05T05:20:00Z" }, "too many 2026-01-05T05:00:00.000Z", "2026-01-05T06:00:00.100Z"],
  [{ schedule: "0 * * * *", deadlineSeconds: 600, now: "2026-01-01T05:20:00Z" }, "none", "2026-01-01T06:00:00.100Z"],
  [{ schedule: "0 * * * *", deadlineSeconds: 1_800, now: "2026-01-01T05:20:00Z" }, "2026-01-01T05:00:00.000Z", "2026-01-01T06:00:00.100Z"],
  // Irregular: the latest run is found however dense the first ones are.
  [{ schedule: "0-5 9 * * *", now: "2026-01-01T10:00:00Z" }, "2026-01-01T09:05:00.000Z", "2026-01-02T09:00:00.100Z"],
  [{ schedule: "30 6-16/4 * * 1-5", now: "2026-01-03T12:00:00Z" }, "2026-01-02T14:30:00.000Z", "2026-01-05T06:30:00.100Z"],
  [
    { schedule: "@every 1h", last: "2026-01-01T00:10:00Z", now: "2026-01-01T03:15:00Z" },
    "2026-01-01T03:10:00.000Z",
    "2026-01-01T04:10:00.100Z",
  ],
  [{ schedule: "59 23 31 2 *", now: "2026-01-01T00:30:00Z" }, "time difference between two schedules is less than 1 second", ""],
];

for (const [facts, expected, next] of CASES) {
  test(`of ${JSON.stringify(facts)} is due: ${expected}`, () => {
    const nowMs = Date.parse(facts.now);
    const timetable = { schedule: parseCronSchedule(facts.schedule), zone: UTC };
    const cronJob = cronJobOf(facts);

    const due = dueRun(cronJob, timetable, nowMs);

    const isMany = due.is === "due" && due.isTooManyMissed;
    const shown = due.is === "none" ? "none" : due.is === "invalid" ? due.message : new Date(due.runMs).toISOString();
    equal(isMany ? `too many ${shown}` : shown, expected);
    if (next !== "") deepEqual(new Date(nowMs + nextRunInMs(cronJob, timetable, nowMs)).toISOString(), next);
  });
}
