/** Durations in tests: milliseconds, or Go's format ("6m", "1h30m", "500ms"), also in days ("2d"). */
import { durationToMs, parseDuration } from "../api/machinery/duration.ts";

export type DurationInput = number | string;

export function durationInputMs(length: DurationInput): number {
  const ms = typeof length === "number" ? length : textMs(length);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new RangeError(
    `Invalid duration "${length}": it must be a number of milliseconds, 0 or more, or a string such as "6m", "1h30m" or "2d"`,
  );
}

function textMs(text: string): number {
  const days = /^(\d+(?:\.\d+)?)d$/.exec(text);
  if (days !== null) return Number(days[1]) * 86_400_000;
  try {
    return durationToMs(parseDuration(text));
  } catch {
    return NaN;
  }
}
