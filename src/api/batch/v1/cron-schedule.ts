/**
 * Parses CronJob schedules: five fields ("0 4 * * 1-5"), a descriptor ("@daily") or an interval ("@every 1h30m"). The grammar and the error
 * messages are those of the parser that upstream uses, down to its quirks, so that both servers accept the same schedules. Not here: the
 * next run, which needs a time zone (controllers/cron-job).
 */
import { DurationError, parseDuration } from "../../machinery/duration.ts";
import { timeZoneProblem } from "./time-zones.ts";

export type CronSchedule = CronFields | { readonly everyNanoseconds: bigint };

export type CronFields = {
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  /** Sunday is 0. */
  readonly dayOfWeek: CronField;
};

export interface CronField {
  readonly values: ReadonlySet<number>;
  /** Written as a star, without a step. A day matches if either of its two fields matches, but if one is a star only the other counts. */
  readonly isStar: boolean;
}

/** The message is upstream's: clients see it as part of others. */
export class CronError extends Error {
  override readonly name = "CronError";
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: readonly (readonly [keyof CronFields, Bounds])[] = [
  ["minute", { min: 0, max: 59 }],
  ["hour", { min: 0, max: 23 }],
  ["dayOfMonth", { min: 1, max: 31 }],
  ["month", { min: 1, max: 12, names: MONTHS }],
  ["dayOfWeek", { min: 0, max: 6, names: DAYS }],
];

const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

const EVERY = "@every ";
/** Go's white space between fields. */
const SPACE = /[\t\n\v\f\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]+/u;
const INT64_MAX = 2n ** 63n - 1n;
/** Longer than any number that fits; bounds the time spent on hostile texts. */
const DIGITS_MAX = 40;

/** Throws CronError. */
export function parseCronSchedule(text: string): CronSchedule {
  if (text === "") throw new CronError("empty spec string");
  const spec = withoutTimeZone(text);
  if (spec.startsWith("@")) return parseDescriptor(spec);
  const fields = spec.split(SPACE).filter((field) => field !== "");
  if (fields.length !== FIELDS.length) {
    throw new CronError(`expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(" ")}]`);
  }
  const parsed = FIELDS.map(([name, bounds], index) => [name, parseField(fields[index] ?? "", bounds)] as const);
  return Object.fromEntries(parsed) as CronFields;
}

/** The time zone prefix of a schedule ("TZ=Europe/Berlin 0 4 * * *"), which new CronJobs cannot have; undefined if it has none. */
export function timeZoneOfSchedule(text: string): string | undefined {
  return /^(?:CRON_)?TZ=([^ ]*) /.exec(text)?.[1];
}

/** The time zone is validated and has no other effect here. */
function withoutTimeZone(text: string): string {
  if (!text.startsWith("TZ=") && !text.startsWith("CRON_TZ=")) return text;
  const space = text.indexOf(" ");
  // Upstream's parser panics here, and this is its server's message for that.
  if (space < 0) throw new CronError("invalid schedule format: runtime error: slice bounds out of range [:-1]");
  const zone = text.slice(text.indexOf("=") + 1, space);
  const problem = timeZoneProblem(zone);
  if (problem !== undefined) throw new CronError(`provided bad location ${zone}: ${problem}`);
  return text.slice(space).trim();
}

function parseDescriptor(text: string): CronSchedule {
  const fields = DESCRIPTORS.get(text);
  if (fields !== undefined) return parseCronSchedule(fields);
  if (!text.startsWith(EVERY)) throw new CronError(`unrecognized descriptor: ${text}`);
  try {
    return { everyNanoseconds: parseDuration(text.slice(EVERY.length)) };
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw new CronError(`failed to parse duration ${text}: ${error.message}`, { cause: error });
  }
}

/** Ranges separated by commas. Empty ones are ignored, so a field of commas only never matches. */
function parseField(text: string, bounds: Bounds): CronField {
  const values = new Set<number>();
  let isAnyStar = false;
  for (const range of text.split(",")) {
    if (range === "") continue;
    const { start, end, step, isStar } = parseRange(range, bounds);
    for (let value = start; value <= end; value += step) values.add(value);
    isAnyStar ||= isStar;
  }
  return { values, isStar: isAnyStar };
}

/** "*", "5", "1-5", "mon-fri", "0-30/10", "5/10" (from five on). */
function parseRange(text: string, bounds: Bounds): Range & { readonly isStar: boolean } {
  const [range = "", stepText, ...moreSlashes] = text.split("/");
  const isStar = /^[*?](-|$)/.test(range);
  const { start, end } = isStar ? { start: bounds.min, end: bounds.max } : parseEnds(range, bounds, text);
  if (moreSlashes.length > 0) throw new CronError(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  const isOpen = stepText !== undefined && !range.includes("-");
  const complete = { start, end: isOpen ? bounds.max : end, step };
  checkRange(complete, bounds, text);
  // Valid numbers are small, except for the step, which may exceed the range.
  return { start: Number(start), end: Number(complete.end), step: Number(step), isStar: isStar && Number(step) === 1 };
}

/** Bits of a range that is no star. `text` is quoted in messages. */
function parseEnds(range: string, { names }: Bounds, text: string): { readonly start: Whole; readonly end: Whole } {
  const [low = "", high, ...more] = range.split("-");
  const start = parseNumberOrName(low, names);
  if (more.length > 0) throw new CronError(`too many hyphens: ${text}`);
  return { start, end: high === undefined ? start : parseNumberOrName(high, names) };
}

function parseNumberOrName(text: string, names: Bounds["names"]): Whole {
  const found = names?.indexOf(text.toLowerCase()) ?? -1;
  // Months are counted from one, days of the week from zero.
  return found < 0 ? parseNumber(text) : found + (names === MONTHS ? 1 : 0);
}

/** A number too large to be exact is a bigint, for the message that quotes it. */
type Whole = number | bigint;

function parseNumber(text: string): Whole {
  if (/^[0-9]{1,3}$/.test(text)) return Number(text);
  const isNumber = /^[-+]?[0-9]+$/.test(text);
  const number = isNumber && text.length <= DIGITS_MAX ? BigInt(text.replace(/^\+/, "")) : undefined;
  if (number === undefined || number > INT64_MAX) {
    const why = `strconv.Atoi: parsing ${JSON.stringify(text)}: ${isNumber ? "value out of range" : "invalid syntax"}`;
    throw new CronError(`failed to parse int from ${text}: ${why}`);
  }
  if (number < 0n) throw new CronError(`negative number (${number}) not allowed: ${text}`);
  return number;
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

function checkRange({ start, end, step }: Readonly<Record<keyof Range, Whole>>, { min, max }: Bounds, text: string): void {
  if (start < min) throw new CronError(`beginning of range (${start}) below minimum (${min}): ${text}`);
  if (end > max) throw new CronError(`end of range (${end}) above maximum (${max}): ${text}`);
  if (start > end) throw new CronError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (Number(step) === 0) throw new CronError(`step of range should be a positive number: ${text}`);
}
