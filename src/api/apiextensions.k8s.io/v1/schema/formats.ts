/**
 * String formats of schemas, with upstream's validation of each. Names may have dashes anywhere. An unrecognized format is no error: the
 * server ignores it, with a warning.
 */
import { DurationError, parseDuration } from "../../../machinery/duration.ts";
import { parseIp, parseSloppyCidr, parseSloppyIp } from "../../../machinery/ip/ip-address.ts";
import { byteLength } from "../../../machinery/names.ts";
import type { Patterns } from "./expression/match.ts";
import { isEmail } from "./email.ts";
import { parseRequestUrl } from "./request-url.ts";

/** `patterns`: for formats that are matched by one. Throws BudgetError. */
type FormatCheck = (text: string, patterns: Patterns) => boolean;

const LONG_NAME_LENGTH_MAX = 253;
const SHORT_NAME_LENGTH_MAX = 63;
const HOSTNAME_LENGTH_MAX_BYTES = 255;
const HOSTNAME_LABEL_LENGTH_MAX_BYTES = 63;
const SSN_LENGTH = 11;

const SHORT_NAME = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const COLOR_PART = "\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";

const CHECKS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ["bsonobjectid", matching(/^[0-9a-fA-F]{24}$/)],
  ["uri", (text) => parseRequestUrl(text) !== undefined],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", (text) => text.includes(".") && parseSloppyIp(text) !== undefined],
  ["ipv6", (text) => text.includes(":") && parseIp(text) !== undefined],
  ["cidr", (text) => parseSloppyCidr(text) !== undefined],
  [
    "mac",
    matching(
      /^([0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\2){4}[0-9a-fA-F]{2}(?:(?:\2[0-9a-fA-F]{2}){2}|(?:\2[0-9a-fA-F]{2}){14})?$|^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}(?:\.[0-9a-fA-F]{4}|(?:\.[0-9a-fA-F]{4}){7})?$|^(?:[0-9a-fA-F]{12}|[0-9a-fA-F]{16}|[0-9a-fA-F]{40})$/,
    ),
  ],
  ["uuid", matching(/^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i)],
  ["uuid3", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid4", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["uuid5", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === SSN_LENGTH && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ["rgbcolor", matching(new RegExp(`^rgb\\(${COLOR_PART},${COLOR_PART},${COLOR_PART}\\)$`))],
  ["byte", matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ["password", () => true],
  ["date", isDate],
  ["duration", isDuration],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= SHORT_NAME_LENGTH_MAX && new RegExp(`^${SHORT_NAME}$`).test(text)],
  ["k8slongname", (text) => text.length <= LONG_NAME_LENGTH_MAX && new RegExp(`^${SHORT_NAME}(?:\\.${SHORT_NAME})*$`).test(text)],
]);

/** Undefined: the format is ignored for strings. */
export function formatCheck(format: string): FormatCheck | undefined {
  return CHECKS.get(format.replaceAll("-", ""));
}

/** True if the server recognizes a format for values of this type ("" if none exists, or several). */
export function isSupportedFormat(format: string, type: string): boolean {
  switch (type) {
    case "":
    case "string":
      return formatCheck(format) !== undefined;
    case "integer":
      return format === "int32" || format === "int64";
    case "number":
      return format === "float" || format === "double";
    default:
      return false;
  }
}

function matching(expression: RegExp): FormatCheck {
  return (text) => expression.test(text);
}

/** One label, or several of which the last has letters only. Other labels may have letters and symbols of all languages. */
const HOSTNAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;

function isHostname(text: string): boolean {
  if (byteLength(text) > HOSTNAME_LENGTH_MAX_BYTES || !HOSTNAME.test(text)) return false;
  return text.split(".").every((label) => byteLength(label) <= HOSTNAME_LABEL_LENGTH_MAX_BYTES);
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\t\n\f\r -]+/g, "");
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, digit, index) => total + (index + 1) * (digit === "X" ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\t\n\f\r -]+/g, "");
  if (!/^[0-9]{13}$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return sum % 10 === 0;
}

const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** The Luhn check digit: every second digit counts twice, and its product is added digit by digit. */
function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, "");
  if (!CREDIT_CARD.test(digits)) return false;
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      const counted = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (counted >= 10 ? counted - 9 : counted);
    }, 0);
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Only the form of the zone is validated. */
function isDateTime(text: string): boolean {
  const [date = "", time = ""] = text.toLowerCase().split("t");
  const [, hour = "", minute = "", second = ""] = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time) ?? [];
  return isDate(date) && hour !== "" && hour <= "23" && minute <= "59" && second <= "59";
}

/** Each unit may be written in full, and with an ending ("hours"). */
const UNITS: readonly (readonly string[])[] = [
  ["ns", "nano"],
  ["us", "µs", "micro"],
  ["ms", "milli"],
  ["s", "sec"],
  ["m", "min"],
  ["h", "hr", "hour"],
  ["d", "day"],
  ["w", "wk", "week"],
];

const INT64_DIGITS_MAX = 19;

/** Go's durations, and texts in which a number with a unit occurs: "3 days". */
function isDuration(text: string): boolean {
  if (isGoDuration(text)) return true;
  let hasUnit = false;
  // A number without a unit is matched too: continuing from its second digit, and its third, would be quadratic.
  for (const [, amount = "", unit = ""] of text.matchAll(/(\d+)\s*([A-Za-z\u00b5]*)/g)) {
    if (unit === "") continue;
    if (!isInt64Amount(amount)) return false;
    hasUnit ||= UNITS.some((names) => isUnit(unit.toLowerCase(), names));
  }
  return hasUnit;
}

function isInt64Amount(digits: string): boolean {
  const significant = digits.replace(/^0+/, "");
  return significant.length < INT64_DIGITS_MAX || (significant.length === INT64_DIGITS_MAX && BigInt(significant) < 2n ** 63n);
}

function isUnit(unit: string, names: readonly string[]): boolean {
  return names.includes(unit) || unit.startsWith(names.at(-1) ?? "");
}

function isGoDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch (error) {
    if (error instanceof DurationError) return false;
    throw error;
  }
}
