/** Strings whose schema has a format that is a type of CEL. */
import { CelError, Duration, type CelResult } from "./value.ts";
import { parseDate, parseDurationText, parseTimestamp } from "./time.ts";
import { spend } from "./meter.ts";

export function readText(text: string, format: string | undefined): CelResult {
  switch (format) {
    case "duration":
      return readDuration(text);
    case "date":
      return (
        parseDate(text) ??
        new CelError(`Invalid date formatted string ${text}: parsing time ${JSON.stringify(text)} as "2006-01-02": cannot parse`)
      );
    case "date-time":
      return readDateTime(text);
    case "byte":
      return readBase64(text);
    default:
      return text;
  }
}

const UNITS: ReadonlyMap<string, bigint> = new Map(
  [
    ["ns nano nanos nanosecond nanoseconds", 1n],
    ["us µs micro micros microsecond microseconds", 1_000n],
    ["ms milli millis millisecond milliseconds", 1_000_000n],
    ["s sec secs second seconds", 1_000_000_000n],
    ["m min mins minute minutes", 60_000_000_000n],
    ["h hr hrs hour hours", 3_600_000_000_000n],
    ["d day days", 86_400_000_000_000n],
    ["w week weeks wk", 604_800_000_000_000n],
  ].flatMap(([names, size]) =>
    String(names)
      .split(" ")
      .map((name) => [name, size as bigint] as const),
  ),
);

/** Go's spelling, or a number and the name of a unit ("2 weeks"). */
function readDuration(text: string): CelResult {
  const duration = parseDurationText(text);
  if (duration !== undefined) return duration;
  const [, number = "", unit = ""] = /^(\d{1,19})\s*([A-Za-z\u00b5]+)$/.exec(text) ?? [];
  const size = UNITS.get(unit);
  if (size === undefined) return new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return new Duration(BigInt(number) * size);
}

/** RFC 3339, and the abbreviations that upstream's validation accepts. */
function readDateTime(text: string): CelResult {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const normal = isDate
    ? `${text}T00:00:00Z`
    : text
        .replace(/([+-]\d{2})(\d{2})$/, "$1:$2")
        .replace(/^(\S+)[ t]/, "$1T")
        .replace(/z$/, "Z");
  const timestamp = parseTimestamp(/(?:Z|[+-]\d{2}:\d{2})$/.test(normal) ? normal : `${normal}Z`);
  return timestamp ?? new CelError(`Invalid date-time formatted string ${text}: parsing time ${JSON.stringify(text)}: cannot parse`);
}

/** Steps of decoding a character. */
const BASE64_STEPS = 2;

function readBase64(text: string): CelResult {
  spend(text.length * BASE64_STEPS);
  try {
    const decoded = atob(text);
    const bytes = new Uint8Array(decoded.length);
    for (let index = 0; index < decoded.length; index++) bytes[index] = decoded.charCodeAt(index);
    return bytes;
  } catch {
    return new CelError(`Invalid byte formatted string ${text}: illegal base64 data`);
  }
}
