/**
 * Which run of a CronJob is due, and when the next one is. Only the latest missed run is started. Pure.
 */
import type { CronSchedule } from "../../api/batch/v1/cron-schedule.ts";
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import type { CronJob } from "../../api/generated/batch/v1.ts";
import { intervalMs, nextRunMs } from "./next-run.ts";
import type { TimeZone } from "./time-zone.ts";

const SECOND_MS = 1_000;
/** More missed runs than these are reported: a clock that is far off, or a controller that was down for long. */
const MISSED_MAX = 100;
/** The next pass is a little later than the run, for a clock that is corrected backwards meanwhile. */
const PADDING_MS = 100;

export interface Timetable {
  readonly schedule: CronSchedule;
  readonly zone: TimeZone;
}

export type DueRun =
  | { readonly is: "none" }
  | { readonly is: "due"; readonly runMs: number; readonly isTooManyMissed: boolean }
  | { readonly is: "invalid"; readonly message: string };

/** The latest run since the last one (or the creation of the CronJob), not older than the starting deadline. */
export function dueRun(cronJob: CronJob, timetable: Timetable, nowMs: number): DueRun {
  const { startingDeadlineSeconds } = cronJob.spec;
  const deadlineMs = startingDeadlineSeconds === undefined ? -Infinity : nowMs - startingDeadlineSeconds * SECOND_MS;
  return latestRun(Math.max(lastRunMs(cronJob), deadlineMs), timetable, nowMs);
}

/** Time until the next run, from the latest one on: that of "@every 1h" depends on it. */
export function nextRunInMs(cronJob: CronJob, timetable: Timetable, nowMs: number): number {
  const sinceMs = lastRunMs(cronJob);
  const latest = latestRun(sinceMs, timetable, nowMs);
  const fromMs = latest.is === "due" ? latest.runMs : latest.is === "none" ? sinceMs : nowMs;
  return nextRunMs(timetable.schedule, fromMs, timetable.zone) + PADDING_MS - nowMs;
}

function lastRunMs({ metadata, status }: CronJob): number {
  return timestampMs(status?.lastScheduleTime) ?? timestampMs(metadata.creationTimestamp) ?? 0;
}

function latestRun(sinceMs: number, { schedule, zone }: Timetable, nowMs: number): DueRun {
  const firstMs = nextRunMs(schedule, sinceMs, zone);
  const secondMs = nextRunMs(schedule, firstMs, zone);
  if (nowMs < firstMs) return { is: "none" };
  if (nowMs < secondMs) return { is: "due", runMs: firstMs, isTooManyMissed: false };
  if (secondMs - firstMs < SECOND_MS) return { is: "invalid", message: "time difference between two schedules is less than 1 second" };
  // A rough number, by the interval of the first two.
  const missed = Math.floor((nowMs - firstMs) / (secondMs - firstMs)) + 1;
  return { is: "due", runMs: lastRunUntil(firstMs, { schedule, zone }, nowMs), isTooManyMissed: missed > MISSED_MAX };
}

/** Bisection: runs after an instant are not later than `nowMs` exactly as long as the instant is before the last of them. */
function lastRunUntil(firstMs: number, { schedule, zone }: Timetable, nowMs: number): number {
  if ("everyNanoseconds" in schedule) return firstMs + Math.floor((nowMs - firstMs) / intervalMs(schedule)) * intervalMs(schedule);
  // The run after `low` is due, the one after `high` is not.
  let [low, high] = [Math.floor(firstMs / SECOND_MS) - 1, Math.floor(nowMs / SECOND_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (nextRunMs(schedule, middle * SECOND_MS, zone) <= nowMs) low = middle;
    else high = middle;
  }
  return nextRunMs(schedule, low * SECOND_MS, zone);
}
