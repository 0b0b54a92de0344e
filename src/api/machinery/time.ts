/**
 * Timestamps of the API: Time with seconds ("2024-01-02T03:04:05Z") and MicroTime with microseconds. Parsed as Go parses RFC 3339, that is
 * with any offset and any fraction; formatted in UTC. Not here: the clock (base/clock.ts).
 */

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;
/** A MicroTime requires all six digits, as upstream. */
const MICRO_FRACTION = /[.,]\d{6}(?:Z|[+-])/;
const MICROSECONDS_PER_SECOND = 1_000_000;
const MINUTE_MS = 60_000;
/** A year has four digits. */
const SECONDS_MIN = -62_167_219_200;
const SECONDS_MAX = 253_402_300_799;

/** Go's zero time, which upstream writes as null. */
export const ZERO_TIME = "0001-01-01T00:00:00Z";
/** A required timestamp that is not set. Upstream encodes it as null, which the types do not show. */
export const UNKNOWN_TIME = null as unknown as string;
export const ZERO_TIME_MS = -62_135_596_800_000;

/** An instant: whole seconds since the epoch, and the microseconds within that second. */
export interface Instant {
  readonly seconds: number;
  /** 0 to 999,999. */
  readonly microseconds: number;
}

/** Undefined if the text is not RFC 3339, or names a day or hour that does not exist. */
export function parseInstant(text: string): Instant | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offsetMs = readOffsetMs(match[8] ?? "Z");
  if (offsetMs === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  // Unlike Date.UTC, this does not move the years 0 to 99 to the 20th century.
  date.setUTCFullYear(year, month - 1, day);
  // A 30th of February would become a day in March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offsetMs / 1000;
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX) return undefined;
  return { seconds, microseconds: Number((match[7] ?? "").slice(0, 6).padEnd(6, "0")) };
}

function readOffsetMs(text: string): number | undefined {
  if (text === "Z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(4));
  // Go allows an offset of 24:00 and of 60 minutes, and nothing above.
  if (hours > 24 || minutes > 60) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
}

/** Milliseconds since the epoch; undefined if it is not a timestamp. */
export function parseTime(text: string): number | undefined {
  const instant = parseInstant(text);
  return instant === undefined ? undefined : instant.seconds * 1000 + Math.floor(instant.microseconds / 1000);
}

/** Formats a Time: whole seconds. */
export function formatTime(timeMs: number): string {
  return `${upToSeconds(Math.floor(timeMs / 1000))}Z`;
}

/** Formats a MicroTime. */
export function formatMicroTime(timeMs: number): string {
  const seconds = Math.floor(timeMs / 1000);
  return formatInstantMicro({ seconds, microseconds: Math.floor((timeMs - seconds * 1000) * 1000) });
}

export function formatInstantMicro({ seconds, microseconds }: Instant): string {
  return `${upToSeconds(seconds)}.${String(microseconds).padStart(6, "0")}Z`;
}

/** The stored form of a Time; undefined if it is not a timestamp. */
export function canonicalTime(text: string): string | undefined {
  const instant = parseInstant(text);
  return instant === undefined ? undefined : `${upToSeconds(instant.seconds)}Z`;
}

/** The stored form of a MicroTime. */
export function canonicalMicroTime(text: string): string | undefined {
  const instant = MICRO_FRACTION.test(text) ? parseInstant(text) : undefined;
  return instant === undefined ? undefined : formatInstantMicro(instant);
}

/** Negative, zero or positive. */
export function compareInstants(a: Instant, b: Instant): number {
  return a.seconds - b.seconds || (a.microseconds - b.microseconds) / MICROSECONDS_PER_SECOND;
}

/** "2024-01-02T03:04:05". Caches the last result: writes within one second share their timestamp. */
function upToSeconds(seconds: number): string {
  if (seconds !== lastSeconds) {
    lastText = new Date(seconds * 1000).toISOString().slice(0, -".000Z".length);
    lastSeconds = seconds;
  }
  return lastText;
}

let lastSeconds = Number.NaN;
let lastText = "";
