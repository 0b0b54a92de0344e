/**
 * Durations: Go's text form ("1h2m3s", metav1.Duration) and the two human-readable forms of kubectl, with two or three significant figures
 * ("5m30s", "2d3h") and a short one ("5m"). Go's durations are whole nanoseconds, so they are bigints here.
 */
import { parseTime, ZERO_TIME_MS } from "./time.ts";

const NANOSECONDS_PER_MS = 1_000_000n;
const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
/** A Go duration is an int64 of nanoseconds: about 292 years. */
const DURATION_MAX = 2n ** 63n - 1n;
/** Longer than any duration that fits; bounds the time spent on hostile texts. */
const TEXT_LENGTH_MAX = 200;

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  // U+00B5 (micro sign) and U+03BC (Greek letter mu).
  ["\u00B5s", 1_000n],
  ["\u03BCs", 1_000n],
  ["ms", NANOSECONDS_PER_MS],
  ["s", SECOND],
  ["m", MINUTE],
  ["h", HOUR],
]);

/** The message is Go's: clients see it as part of others. */
export class DurationError extends Error {
  override readonly name = "DurationError";
}

/** Parses a Go duration to nanoseconds. */
export function parseDuration(text: string): bigint {
  const unsigned = text.replace(/^[-+]/, "");
  if (unsigned === "0") return 0n;
  if (unsigned === "" || text.length > TEXT_LENGTH_MAX) throw invalidDuration(text);
  let total = 0n;
  for (let rest = unsigned; rest !== "";) {
    const [part, number = "", unit = ""] = /^([0-9]*\.?[0-9]*)([^0-9.]*)/.exec(rest) ?? [""];
    total += nanosecondsOf(number, unit, text);
    if (total > DURATION_MAX + 1n) throw invalidDuration(text);
    rest = rest.slice(part.length);
  }
  if (text.startsWith("-")) return -total;
  if (total > DURATION_MAX) throw invalidDuration(text);
  return total;
}

function nanosecondsOf(number: string, unit: string, text: string): bigint {
  const [whole = "", fraction = ""] = number.split(".");
  if (whole + fraction === "" || BigInt(whole) > DURATION_MAX + 1n) throw invalidDuration(text);
  if (unit === "") throw new DurationError(`time: missing unit in duration ${goQuote(text)}`);
  const size = UNITS.get(unit);
  if (size === undefined) throw new DurationError(`time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`);
  return BigInt(whole) * size + (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
}

function invalidDuration(text: string): DurationError {
  return new DurationError(`time: invalid duration ${goQuote(text)}`);
}

/** Go's package time quotes every byte that is not plain ASCII by its number. */
function goQuote(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/gu, (character) =>
    Array.from(new TextEncoder().encode(character), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

/** Formats as Go does: "1h2m3.5s", "1.5ms", "0s". */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${formatDuration(-nanoseconds)}`;
  if (nanoseconds === 0n) return "0s";
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < NANOSECONDS_PER_MS) return `${withFraction(nanoseconds, 1_000n)}\u00B5s`;
  if (nanoseconds < SECOND) return `${withFraction(nanoseconds, NANOSECONDS_PER_MS)}ms`;
  const hours = nanoseconds / HOUR;
  const minutes = (nanoseconds % HOUR) / MINUTE;
  const head = hours > 0n ? `${hours}h${minutes}m` : minutes > 0n ? `${minutes}m` : "";
  return `${head}${withFraction(nanoseconds % MINUTE, SECOND)}s`;
}

function withFraction(nanoseconds: bigint, unit: bigint): string {
  const digits = unit.toString().length - 1;
  const fraction = (nanoseconds % unit).toString().padStart(digits, "0").replace(/0+$/, "");
  return fraction === "" ? `${nanoseconds / unit}` : `${nanoseconds / unit}.${fraction}`;
}

/** Rounded down to whole milliseconds, for timers. */
export function durationToMs(nanoseconds: bigint): number {
  return Number(nanoseconds / NANOSECONDS_PER_MS);
}

export function durationOfMs(durationMs: number): bigint {
  return BigInt(Math.round(durationMs * 1_000_000));
}

/** Human-readable duration with two or three significant figures: "45s", "5m30s", "3h", "2d3h", "400d", "3y45d". */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  // Tolerated clock skew: up to a second in the future counts as now.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * 60) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, "m", seconds % 60, "s");
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return twoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return twoUnits(days, "d", hours % 24, "h");
  if (days < 2 * 365) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? twoUnits(years, "y", days % 365, "d") : `${years}y`;
}

/** Human-readable duration with one unit only: "45s", "5m", "3h", "2d", "3y". */
export function shortHumanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 60 * 60) return `${Math.trunc(seconds / 60)}m`;
  const hours = Math.trunc(seconds / 3600);
  if (hours < 24) return `${hours}h`;
  return hours < 24 * 365 ? `${Math.trunc(hours / 24)}d` : `${Math.trunc(hours / 24 / 365)}y`;
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/** Human-readable time since a Time or MicroTime; `<unknown>` without one. */
export function ageOf(timestamp: string | undefined, nowMs: number): string {
  const timeMs = timestamp === undefined ? undefined : parseTime(timestamp);
  return timeMs === undefined || timeMs === ZERO_TIME_MS ? "<unknown>" : humanDuration(nowMs - timeMs);
}

/** Human-readable time until a timestamp. */
export function timeUntil(timestamp: string | undefined, nowMs: number): string {
  const timeMs = timestamp === undefined ? undefined : parseTime(timestamp);
  return timeMs === undefined || timeMs === ZERO_TIME_MS ? "<unknown>" : humanDuration(timeMs - nowMs);
}
