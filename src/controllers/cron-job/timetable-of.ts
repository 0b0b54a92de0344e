/** Reads the schedule and the time zone of a CronJob. Messages are upstream's: events contain them. Pure. */
import { CronError, parseCronSchedule, timeZoneOfSchedule } from "../../api/batch/v1/cron-schedule.ts";
import type { CronJobSpec } from "../../api/generated/batch/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import type { Timetable } from "./due-run.ts";
import type { TimeZones } from "./time-zone.ts";

/** A Warning event. */
export interface ScheduleProblem {
  readonly reason: string;
  readonly message: string;
}

export function timetableOf({ schedule, timeZone }: CronJobSpec, timeZones: TimeZones): Timetable | ScheduleProblem {
  if (timeZone !== undefined && timeZones(timeZone) === undefined) {
    return { reason: "UnknownTimeZone", message: `invalid timeZone: ${quoteGo(timeZone)}: unknown time zone ${timeZone}` };
  }
  try {
    // Stored before there was a field for it.
    const inSchedule = hasTimeZone(schedule) ? (timeZoneOfSchedule(schedule) ?? "") : undefined;
    const parsed = parseCronSchedule(schedule);
    const name = inSchedule ?? timeZone ?? "";
    const zone = timeZones(name === "Local" ? "" : name);
    if (zone === undefined) throw new CronError(`provided bad location ${name}: unknown time zone ${name}`);
    return { schedule: parsed, zone };
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    return { reason: "UnparseableSchedule", message: `unparseable schedule: ${quoteGo(schedule)} : ${error.message}` };
  }
}

export function hasTimeZone(schedule: string): boolean {
  return schedule.includes("TZ");
}
