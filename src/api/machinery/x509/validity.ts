/** Parses the validity period of a certificate as Go does. */
import { TAG, type DerReader } from "./der.ts";
import { refuse } from "./error.ts";

export interface Validity {
  /** Milliseconds since the epoch, inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

export function readValidity(reader: DerReader): Validity {
  return { fromMs: readTime(reader), toMs: readTime(reader) };
}

function readTime(reader: DerReader): number {
  const [tag, name, yearDigits] = reader.isNext(TAG.utcTime)
    ? ([TAG.utcTime, "UTCTime", 2] as const)
    : reader.isNext(TAG.generalizedTime)
      ? ([TAG.generalizedTime, "GeneralizedTime", 4] as const)
      : refuse("x509: unsupported time format");
  const content = reader.content(tag);
  const timeMs = content === undefined ? undefined : parseTime(content, yearDigits);
  return timeMs ?? refuse(`x509: malformed ${name}`);
}

/** A two-digit year is from 1950 to 2049. */
const FIRST_OF_LAST_CENTURY = 50;
const MINUTE_MS = 60_000;

/** Digits from the year to the second, which only the short form may omit, and "Z" or an offset. */
function parseTime(content: Uint8Array, yearDigits: 2 | 4): number | undefined {
  const text = String.fromCharCode(...content.subarray(0, 40));
  const seconds = yearDigits === 2 ? "(\\d\\d)?" : "(\\d\\d)";
  const match = new RegExp(`^(\\d{${yearDigits}})(\\d\\d)(\\d\\d)(\\d\\d)(\\d\\d)${seconds}(Z|[+-]\\d{4})$`).exec(text);
  const zone = match?.[7] ?? "";
  if (match === null || /^[+-]0000$/.test(zone)) return undefined;
  const [written = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const [zoneHours, zoneMinutes] = [Number(zone.slice(1, 3) || 0), Number(zone.slice(3) || 0)];
  const year = yearDigits === 4 ? written : written < FIRST_OF_LAST_CENTURY ? 2000 + written : 1900 + written;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isDay || hour >= 24 || minute >= 60 || second >= 60 || zoneHours > 24 || zoneMinutes > 60) return undefined;
  const offsetMs = (zoneHours * 60 + zoneMinutes) * MINUTE_MS * (zone.startsWith("-") ? -1 : 1);
  return date.setUTCHours(hour, minute, second) - offsetMs;
}
