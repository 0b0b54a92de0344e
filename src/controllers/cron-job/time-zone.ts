/**
 * Local time of a time zone: conversion between instants and the fields of a clock on the wall. Where a local time does not exist or exists
 * twice (a clock change), the rules are those of Go's standard library, which upstream uses. The offsets come from the caller: controllers
 * know nothing of the machine. Pure.
 */

export interface TimeZone {
  /** Offset from UTC at an instant: positive east of Greenwich. */
  offsetMsAt(timeMs: number): number;
}

/** By its IANA name; "" is the time zone of the process. Undefined if it is unknown. */
export type TimeZones = (name: string) => TimeZone | undefined;

export const UTC: TimeZone = { offsetMsAt: () => 0 };

/** For a program without a time zone database. */
export const utcOnly: TimeZones = (name) => (name === "" || name === "UTC" ? UTC : undefined);

export interface LocalTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** Sunday is 0. */
  readonly weekday: number;
}

export function localTimeAt(timeMs: number, zone: TimeZone): LocalTime {
  const date = new Date(timeMs + zone.offsetMsAt(timeMs));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  };
}

export type LocalDate = Pick<LocalTime, "year" | "month" | "day"> & Partial<Pick<LocalTime, "hour">>;

/** The instant of a local time, in milliseconds. Months and days may exceed their range: the 32nd of January is the 1st of February. */
export function instantOf({ year, month, day, hour = 0 }: LocalDate, zone: TimeZone): number {
  const localMs = Date.UTC(year, month - 1, day, hour);
  const guessMs = localMs - zone.offsetMsAt(localMs);
  // Near a clock change the offset at the guess is the right one.
  return localMs - zone.offsetMsAt(guessMs);
}

/** RFC 3339 with the offset: "2026-03-29T03:00:00+02:00", or "Z" without one. */
export function formatLocalTime(timeMs: number, zone: TimeZone): string {
  const offsetMinutes = Math.round(zone.offsetMsAt(timeMs) / MINUTE_MS);
  const local = new Date(timeMs + offsetMinutes * MINUTE_MS).toISOString().slice(0, "2026-03-29T03:00:00".length);
  if (offsetMinutes === 0) return `${local}Z`;
  const minutes = Math.abs(offsetMinutes);
  return `${local}${offsetMinutes < 0 ? "-" : "+"}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

const MINUTE_MS = 60_000;

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
