/** Fields of timestamps and durations: getHours(), … */
import { timeField, type TimeField } from "../values/time.ts";
import { textOf } from "../values/text.ts";
import type { Duration, Timestamp } from "../values/value.ts";
import { DURATION, INT, STRING, TIMESTAMP } from "../types/type.ts";
import { member, type Library, type LibraryFunction } from "./library.ts";

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;

function accessor(name: string, id: string, field: TimeField, duration?: readonly [string, bigint]): LibraryFunction {
  const overloads = [
    member(`timestamp_to_${id}`, [TIMESTAMP], INT, ([timestamp]) => timeField(timestamp as Timestamp, field, "UTC")),
    member(`timestamp_to_${id}_with_tz`, [TIMESTAMP, STRING], INT, ([timestamp, zone]) =>
      timeField(timestamp as Timestamp, field, textOf(zone)),
    ),
  ];
  if (duration === undefined) return { name, overloads };
  const [durationId, unit] = duration;
  return {
    name,
    overloads: [...overloads, member(durationId, [DURATION], INT, ([value]) => (value as Duration).nanoseconds / unit)],
  };
}

export const times: Library = {
  functions: [
    accessor("getFullYear", "year", "year"),
    accessor("getMonth", "month", "month"),
    accessor("getDayOfYear", "day_of_year", "dayOfYear"),
    accessor("getDayOfMonth", "day_of_month", "dayOfMonth"),
    accessor("getDate", "day_of_month_1_based", "date"),
    accessor("getDayOfWeek", "day_of_week", "dayOfWeek"),
    accessor("getHours", "hours", "hours", ["duration_to_hours", 3600n * SECOND]),
    accessor("getMinutes", "minutes", "minutes", ["duration_to_minutes", 60n * SECOND]),
    accessor("getSeconds", "seconds", "seconds", ["duration_to_seconds", SECOND]),
    accessor("getMilliseconds", "milliseconds", "milliseconds", ["duration_to_milliseconds", MILLISECOND]),
  ],
};
