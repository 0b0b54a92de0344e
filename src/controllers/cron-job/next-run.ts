/**
 * The next run of a schedule after an instant, as the library that upstream uses computes it: field by field, from the month to the minute.
 * So clock changes have upstream's effects: a run in a skipped hour is skipped, and one in a repeated hour happens twice. Pure.
 */
import type { CronFields, CronSchedule } from "../../api/batch/v1/cron-schedule.ts";
import { instantOf, localTimeAt, type LocalTime, type TimeZone } from "./time-zone.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const NANOSECONDS_PER_SECOND = 1_000_000_000n;
/** A schedule without a run in this time never runs: a 30th of February. A 29th of February recurs after four years, seldom after eight. */
const YEARS_MAX = 5;
/** What upstream's library returns for a schedule that never runs: Go's zero time, before every other. */
export const NEVER_MS = -62_135_596_800_000;

/** Milliseconds since the epoch; NEVER_MS if it never runs. */
export function nextRunMs(schedule: CronSchedule, afterMs: number, zone: TimeZone): number {
  const fromMs = Math.floor(afterMs / SECOND_MS) * SECOND_MS;
  if ("everyNanoseconds" in schedule) return fromMs + intervalMs(schedule);
  return new Search(schedule, fromMs + SECOND_MS, zone).run();
}

/** Whole seconds, at least one. */
export function intervalMs({ everyNanoseconds }: Exclude<CronSchedule, CronFields>): number {
  const seconds = Number(everyNanoseconds / NANOSECONDS_PER_SECOND);
  return Math.max(1, seconds) * SECOND_MS;
}

/** One search. A field that does not match is advanced; when it wraps around, the search starts over with the greater fields. */
class Search {
  readonly #fields: CronFields;
  readonly #zone: TimeZone;
  #timeMs: number;
  #local: LocalTime;
  /** Whether smaller fields have been reset to their first value. */
  #isReset = false;

  constructor(fields: CronFields, fromMs: number, zone: TimeZone) {
    this.#fields = fields;
    this.#zone = zone;
    this.#timeMs = fromMs;
    this.#local = localTimeAt(fromMs, zone);
  }

  run(): number {
    const lastYear = this.#local.year + YEARS_MAX;
    while (this.#local.year <= lastYear) {
      if (this.#toMonth() && this.#toDay() && this.#toHour() && this.#toMinute()) return this.#toSecond();
    }
    return NEVER_MS;
  }

  #goTo(timeMs: number): void {
    this.#timeMs = timeMs;
    this.#local = localTimeAt(timeMs, this.#zone);
  }

  /** Once per search, before the first field is advanced. */
  #reset(toMs: () => number): void {
    if (this.#isReset) return;
    this.#isReset = true;
    this.#goTo(toMs());
  }

  /** False if it wrapped around; also the others. */
  #toMonth(): boolean {
    while (!this.#fields.month.values.has(this.#local.month)) {
      this.#reset(() => instantOf({ ...this.#date(), day: 1 }, this.#zone));
      const { year, month, day, hour } = this.#local;
      this.#goTo(instantOf({ year, month: month + 1, day, hour }, this.#zone));
      if (this.#local.month === 1) return false;
    }
    return true;
  }

  #toDay(): boolean {
    while (!this.#isDay()) {
      this.#reset(() => instantOf(this.#date(), this.#zone));
      const { year, month, day, hour } = this.#local;
      this.#goTo(instantOf({ year, month, day: day + 1, hour }, this.#zone));
      // A clock change at midnight: the day begins an hour earlier or later.
      const { hour: now } = this.#local;
      if (now !== 0) this.#goTo(this.#timeMs + (now > 12 ? 24 - now : -now) * HOUR_MS);
      if (this.#local.day === 1) return false;
    }
    return true;
  }

  #toHour(): boolean {
    while (!this.#fields.hour.values.has(this.#local.hour)) {
      this.#reset(() => instantOf({ ...this.#date(), hour: this.#local.hour }, this.#zone));
      this.#goTo(this.#timeMs + HOUR_MS);
      if (this.#local.hour === 0) return false;
    }
    return true;
  }

  #toMinute(): boolean {
    while (!this.#fields.minute.values.has(this.#local.minute)) {
      this.#reset(() => Math.floor(this.#timeMs / MINUTE_MS) * MINUTE_MS);
      this.#goTo(this.#timeMs + MINUTE_MS);
      if (this.#local.minute === 0) return false;
    }
    return true;
  }

  /** Runs begin with the minute: one that has begun is over. */
  #toSecond(): number {
    const startMs = Math.floor(this.#timeMs / MINUTE_MS) * MINUTE_MS;
    if (startMs === this.#timeMs) return startMs;
    return new Search(this.#fields, startMs + MINUTE_MS, this.#zone).run();
  }

  #date(): Pick<LocalTime, "year" | "month" | "day"> {
    const { year, month, day } = this.#local;
    return { year, month, day };
  }

  /** If one of the two fields is a star, only the other restricts; otherwise either suffices. */
  #isDay(): boolean {
    const { dayOfMonth, dayOfWeek } = this.#fields;
    const [isOfMonth, isOfWeek] = [dayOfMonth.values.has(this.#local.day), dayOfWeek.values.has(this.#local.weekday)];
    return dayOfMonth.isStar || dayOfWeek.isStar ? isOfMonth && isOfWeek : isOfMonth || isOfWeek;
  }
}
