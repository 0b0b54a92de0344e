/**
 * string.format(): clauses like %s, %d and %.2f. The same parser serves the evaluation and the check of constant formats at compile time,
 * which has types instead of values.
 */
import { formatDouble } from "../values/text.ts";
import { formatDurationSeconds, formatTimestamp } from "../values/time.ts";
import { compareText } from "../values/text.ts";
import { typeNameOf } from "../values/describe.ts";
import { spend } from "../values/meter.ts";
import { CelError, Duration, ListValue, MapValue, Timestamp, TypeValue, Uint, type CelResult, type CelValue } from "../values/value.ts";

/** Thrown for a malformed format or a wrong argument; the message is upstream's. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

export type ClauseKind = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";

const DEFAULT_PRECISION = 6;
/** Digits after the point beyond which nothing but zeros follow; toFixed() takes no more. */
const PRECISION_MAX = 100;
/** Spaces that a width may add. */
const WIDTH_MAX = 1_000;
/** Steps of formatting one byte, clause, element of a list and entry of a map, which is sorted. */
const HEX_STEPS = 10;
const CLAUSE_STEPS = 50;
const ELEMENT_STEPS = 100;
const ENTRY_STEPS = 500;
const CLAUSES = new Set<string>(["s", "d", "f", "e", "b", "x", "X", "o"]);

/** Calls `clause` for each clause of a format, with the number of its argument; returns the text. Throws FormatError. */
export function interpolate(
  format: string,
  size: number,
  clause: (kind: ClauseKind, precision: number | undefined, index: number) => string,
): string {
  let built = "";
  let index = 0;
  for (let at = 0; at < format.length;) {
    spend(CLAUSE_STEPS);
    const percent = format.indexOf("%", at);
    if (percent < 0) return built + format.slice(at);
    built += format.slice(at, percent);
    if (format[percent + 1] === "%") {
      built += "%";
      at = percent + 2;
      continue;
    }
    if (index >= size) throw new FormatError(`index ${index} out of range`);
    if (percent + 1 >= format.length) throw new FormatError("unexpected end of string");
    const read = readClause(format, percent + 1);
    built += formatted(() => clause(read.kind, read.precision, index));
    at = read.end;
    index++;
  }
  return built;
}

function formatted(clause: () => string): string {
  try {
    return clause();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new FormatError(`error during formatting: ${error.message}`, { cause: error.cause });
  }
}

function readClause(
  format: string,
  start: number,
): { readonly kind: ClauseKind; readonly precision: number | undefined; readonly end: number } {
  const unparsable = "could not parse formatting clause";
  let at = start;
  let precision: number | undefined;
  if (format[at] === ".") {
    const digits = /^\d*/.exec(format.slice(at + 1))?.[0] ?? "";
    at += 1 + digits.length;
    if (at >= format.length)
      throw new FormatError(`${unparsable}: error while parsing precision: could not find end of precision specifier`);
    if (digits === "") {
      const problem = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax';
      throw new FormatError(`${unparsable}: error while parsing precision: ${problem}`);
    }
    precision = Number(digits);
  }
  const kind = format[at] ?? "";
  if (!CLAUSES.has(kind)) throw new FormatError(`${unparsable}: unrecognized formatting clause "${kind}"`);
  return { kind: kind as ClauseKind, precision, end: at + 1 };
}

const SUBJECTS: Readonly<Record<ClauseKind, string>> = {
  s: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  d: "decimal clause can only be used on integers",
  f: "fixed-point clause can only be used on doubles",
  e: "scientific clause can only be used on doubles",
  b: "only integers and bools can be formatted as binary",
  x: "only integers, byte buffers, and strings can be formatted as hex",
  X: "only integers, byte buffers, and strings can be formatted as hex",
  o: "octal clause can only be used on integers",
};

export function wrongArgument(kind: ClauseKind, typeName: string, position?: number): FormatError {
  return new FormatError(`${SUBJECTS[kind]}, was given ${typeName}`, { cause: position });
}

export function formatText(format: string, args: ListValue): CelResult {
  try {
    return interpolate(format, args.size, (kind, precision, index) => {
      const value = args.at(index);
      if (value instanceof CelError) throw new FormatError(value.message);
      return formatValue(kind, precision, value);
    });
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message);
    throw error;
  }
}

function formatValue(kind: ClauseKind, precision: number | undefined, value: CelValue): string {
  const integer = typeof value === "bigint" ? value : value instanceof Uint ? value.value : undefined;
  switch (kind) {
    case "s":
      return formatString(value);
    case "d":
      if (integer !== undefined) return String(integer);
      break;
    case "o":
      if (integer !== undefined) return integer.toString(8);
      break;
    case "b":
      if (typeof value === "boolean") return value ? "1" : "0";
      if (integer !== undefined) return integer.toString(2);
      break;
    case "x":
    case "X": {
      const hex = formatHex(value, integer);
      if (hex !== undefined) return kind === "X" ? hex.toUpperCase() : hex;
      break;
    }
    case "f":
    case "e": {
      const number = doubleOf(value);
      if (number !== undefined) return kind === "f" ? fixed(number, precision) : scientific(number, precision);
    }
  }
  throw wrongArgument(kind, typeNameOf(value));
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function formatHex(value: CelValue, integer: bigint | undefined): string | undefined {
  if (integer !== undefined) return integer.toString(16);
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array)) return undefined;
  spend(bytes.length * HEX_STEPS);
  let text = "";
  for (const byte of bytes) text += HEX[byte] ?? "";
  return text;
}

/** Doubles, and the texts of those that JSON cannot have. */
function doubleOf(value: CelValue): number | undefined {
  if (typeof value === "number") return value;
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity") return Infinity;
  return value === "-Infinity" ? -Infinity : undefined;
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? undefined : value > 0 ? "∞" : "-∞";
}

/** As the English locale: with separators of thousands. */
function fixed(value: number, precision = DEFAULT_PRECISION): string {
  const known = special(value);
  if (known !== undefined) return known;
  const [whole = "", fraction] = exactFixed(value, Math.min(precision, PRECISION_MAX)).split(".");
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** toFixed() switches to an exponent from 1e21 on, and rounds ties away from zero, Go to the even digit. */
function exactFixed(value: number, precision: number): string {
  if (Math.abs(value) < 1e21) return isTie(value, precision) ? roundedToEven(value, precision) : value.toFixed(precision);
  return `${BigInt(value)}${precision === 0 ? "" : `.${"0".repeat(precision)}`}`;
}

function isTie(value: number, precision: number): boolean {
  if (precision >= PRECISION_MAX) return false;
  const digits = value.toFixed(PRECISION_MAX).split(".")[1]?.slice(precision) ?? "";
  return /^50*$/.test(digits);
}

function roundedToEven(value: number, precision: number): string {
  const cut = value
    .toFixed(PRECISION_MAX)
    .slice(0, precision - PRECISION_MAX)
    .replace(/\.$/, "");
  return /[02468]$/.test(cut) ? cut : value.toFixed(precision);
}

/** Upstream takes the precision for a width. */
function scientific(value: number, width = DEFAULT_PRECISION): string {
  const known = special(value);
  if (known !== undefined) return known;
  const [mantissa = "", exponent = "0"] = value.toExponential(DEFAULT_PRECISION).split("e");
  const digits = String(Math.abs(Number(exponent))).padStart(2, "0");
  return `${mantissa}×10${superscript(`${Number(exponent) < 0 ? "-" : ""}${digits}`)}`.padStart(Math.min(width, WIDTH_MAX));
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function superscript(text: string): string {
  return text.replaceAll(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? "").replace("-", "⁻");
}

function formatString(value: CelValue): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      spend(value.length >> 2);
      return value;
    case "bigint":
    case "boolean":
      return String(value);
    case "number":
      return formatDouble(value);
    default:
      return formatObject(value);
  }
}

function formatObject(value: Exclude<CelValue, null | boolean | string | bigint | number>): string {
  if (value instanceof ListValue) return formatList(value);
  if (value instanceof MapValue) return formatMap(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return decode(value);
  if (value instanceof Duration) return formatDurationSeconds(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof TypeValue) return value.type.name;
  throw wrongArgument("s", typeNameOf(value));
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FormatError('could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string');
  }
}

/** An element of a list or map, as it would be written in an expression. */
function formatElement(value: CelResult | undefined): string {
  if (value instanceof CelError) throw new FormatError(value.message);
  if (value === undefined) return "null";
  if (typeof value === "string") {
    spend(value.length);
    return JSON.stringify(value);
  }
  if (typeof value === "number") return Number.isFinite(value) ? value.toFixed(DEFAULT_PRECISION) : `"${formatDouble(value)}"`;
  if (value instanceof Uint8Array) return `b${JSON.stringify(decode(value))}`;
  if (value instanceof Duration) return `duration("${formatDurationSeconds(value)}")`;
  if (value instanceof Timestamp) return `timestamp("${formatTimestamp(value)}")`;
  return formatString(value);
}

function formatList(list: ListValue): string {
  spend(list.size * ELEMENT_STEPS);
  return `[${Array.from({ length: list.size }, (_, index) => formatElement(list.at(index))).join(", ")}]`;
}

function formatMap(map: MapValue): string {
  spend(map.size * ENTRY_STEPS);
  const entries = map.keys().map((key) => [formatElement(key), formatElement(map.find(key))] as const);
  return `{${entries
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, value]) => `${key}:${value}`)
    .join(", ")}}`;
}
