/** Timestamps and durations: texts, ranges, and fields of a timestamp in a time zone. */
import { formatDuration, parseDuration } from "../../api/machinery/duration.ts";
import { INT_MAX, INT_MIN } from "../syntax/literals.ts";
import { CelError, Duration, Timestamp } from "./value.ts";
import { formatFixed } from "./text.ts";
import { findTimeZone } from "./time-zones.ts";

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds since 1970. */
const SECONDS_MIN = -62_135_596_800n;
const SECONDS_MAX = 253_402_300_799n;

export const TIMESTAMP_OVERFLOW = new CelError("timestamp overflow");
export const DURATION_OVERFLOW = new CelError("duration overflow");

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** undefined: malformed. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year = "", month = "", day = "", hour = "", minute = "", second = "", fraction = "", zone = ""] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  if (!isDate || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const offsetMinutes = zoneMinutes(zone);
  if (offsetMinutes === undefined) return undefined;
  const seconds = BigInt(date.getTime() / 1000) + BigInt(Number(hour) * 3600 + (Number(minute) - offsetMinutes) * 60 + Number(second));
  return new Timestamp(seconds * SECOND + BigInt(fraction.slice(0, 9).padEnd(9, "0")), offsetMinutes);
}

function zoneMinutes(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 24 || minutes > 60) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

/** A date without time ("2024-01-31"); undefined: malformed. */
export function parseDate(text: string): Timestamp | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
}

export function isTimestampInRange({ nanoseconds }: Timestamp): boolean {
  const seconds = floorSeconds(nanoseconds);
  return seconds >= SECONDS_MIN && seconds <= SECONDS_MAX;
}

export function floorSeconds(nanoseconds: bigint): bigint {
  const seconds = nanoseconds / SECOND;
  return nanoseconds % SECOND < 0n ? seconds - 1n : seconds;
}

export function timestampOfSeconds(seconds: bigint): Timestamp | CelError {
  return seconds < SECONDS_MIN || seconds > SECONDS_MAX ? TIMESTAMP_OVERFLOW : new Timestamp(seconds * SECOND);
}

export function timestampOf(nanoseconds: bigint, offsetMinutes: number): Timestamp | CelError {
  const timestamp = new Timestamp(nanoseconds, offsetMinutes);
  return isTimestampInRange(timestamp) ? timestamp : TIMESTAMP_OVERFLOW;
}

export function durationOf(nanoseconds: bigint): Duration | CelError {
  return nanoseconds < INT_MIN || nanoseconds > INT_MAX ? DURATION_OVERFLOW : new Duration(nanoseconds);
}

/** "2024-01-31T12:00:00.5Z", or with the offset that it was read with */
export function formatTimestamp({ nanoseconds, offsetMinutes }: Timestamp): string {
  const seconds = floorSeconds(nanoseconds);
  const whole = new Date((Number(seconds) + offsetMinutes * 60) * 1000).toISOString().replace(/\.000Z$/, "");
  const fraction = String(nanoseconds - seconds * SECOND)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return `${whole}${fraction === "" ? "" : `.${fraction}`}${formatOffset(offsetMinutes)}`;
}

function formatOffset(minutes: number): string {
  if (minutes === 0) return "Z";
  const two = (value: number): string => String(Math.floor(Math.abs(value))).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** A longer text is malformed: its error would quote it. */
const DURATION_LENGTH_MAX = 200;

/** Go's spelling ("1h30m"); undefined: malformed. */
export function parseDurationText(text: string): Duration | undefined {
  if (text.length > DURATION_LENGTH_MAX) return undefined;
  try {
    return new Duration(parseDuration(text));
  } catch {
    return undefined;
  }
}

/** "5400s" */
export function formatDurationSeconds({ nanoseconds }: Duration): string {
  const whole = nanoseconds / SECOND;
  const fraction = nanoseconds % SECOND;
  // Go adds the two parts as doubles.
  return `${formatFixed(Number(whole) + Number(fraction) / 1e9)}s`;
}

export function formatDurationText({ nanoseconds }: Duration): string {
  return formatDuration(nanoseconds);
}

export type TimeField =
  | "year"
  | "month"
  | "dayOfYear"
  | "dayOfMonth"
  | "date"
  | "dayOfWeek"
  | "hours"
  | "minutes"
  | "seconds"
  | "milliseconds";

/** A field of the timestamp in a zone: an IANA name, or an offset ("-08:00"). */
export function timeField(timestamp: Timestamp, field: TimeField, zone: string): bigint | CelError {
  const seconds = floorSeconds(timestamp.nanoseconds);
  const offset = zoneOffsetSeconds(zone, seconds);
  if (offset instanceof CelError) return offset;
  const local = new Date(Number(seconds + offset) * 1000);
  if (Number.isNaN(local.getTime())) return TIMESTAMP_OVERFLOW;
  return BigInt(readField(local, field, timestamp.nanoseconds - seconds * SECOND));
}

function readField(local: Date, field: TimeField, nanoseconds: bigint): number {
  switch (field) {
    case "year":
      return local.getUTCFullYear();
    case "month":
      return local.getUTCMonth();
    case "dayOfYear": {
      const start = new Date(0);
      start.setUTCFullYear(local.getUTCFullYear(), 0, 1);
      return Math.floor((local.getTime() - start.getTime()) / 86_400_000);
    }
    case "dayOfMonth":
      return local.getUTCDate() - 1;
    case "date":
      return local.getUTCDate();
    case "dayOfWeek":
      return local.getUTCDay();
    case "hours":
      return local.getUTCHours();
    case "minutes":
      return local.getUTCMinutes();
    case "seconds":
      return local.getUTCSeconds();
    case "milliseconds":
      return Number(nanoseconds / MILLISECOND);
  }
}

function zoneOffsetSeconds(zone: string, seconds: bigint): bigint | CelError {
  if (zone === "" || zone === "UTC") return 0n;
  const colon = zone.indexOf(":");
  if (colon < 0) return namedOffsetSeconds(zone, seconds);
  const hours = zone.slice(0, colon);
  const minutes = zone.slice(colon + 1);
  const malformed = [hours, minutes].find((part) => !/^[+-]?\d+$/.test(part));
  if (malformed !== undefined) return new CelError(`strconv.Atoi: parsing ${JSON.stringify(malformed)}: invalid syntax`);
  const excessive = [hours, minutes].find((part) => !Number.isSafeInteger(Number(part)));
  if (excessive !== undefined) return new CelError(`strconv.Atoi: parsing ${JSON.stringify(excessive)}: value out of range`);
  const sign = zone.startsWith("-") ? -1 : 1;
  return (BigInt(Number(hours)) * 60n + BigInt(sign * Number(minutes))) * 60n;
}

function namedOffsetSeconds(zone: string, seconds: bigint): bigint | CelError {
  const found = findTimeZone(zone);
  if (found === undefined) return new CelError(`unknown time zone ${zone}`);
  return BigInt(Math.round(found.offsetMsAt(Number(seconds) * 1000) / 1000));
}
