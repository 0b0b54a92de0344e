/** Conversions between types: int(), string(), duration(), … */
import { INT_MAX, INT_MIN, UINT_MAX } from "../syntax/literals.ts";
import { INT_OVERFLOW, intOf, UINT_OVERFLOW, uintOf } from "../values/arithmetic.ts";
import { typeOfValue } from "../values/describe.ts";
import { spend } from "../values/meter.ts";
import { formatDouble } from "../values/text.ts";
import {
  floorSeconds,
  formatDurationSeconds,
  formatTimestamp,
  isTimestampInRange,
  parseDurationText,
  parseTimestamp,
  TIMESTAMP_OVERFLOW,
  timestampOfSeconds,
} from "../values/time.ts";
import { CelError, TypeValue, Uint, type CelResult, type CelValue, type Duration, type Timestamp } from "../values/value.ts";
import { encodeUtf8 } from "../../base/utf8.ts";
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, parameter, STRING, TIMESTAMP, typeOf, UINT, type CelType } from "../types/type.ts";
import { overload, type Implementation, type Library, type LibraryFunction, type Overload } from "./library.ts";

const A = parameter("A");

/** Functions whose calls with a constant are computed when the expression is compiled. */
export const CONVERSIONS: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "string",
  "timestamp",
  "type",
  "uint",
]);

function conversionError(from: CelType, to: CelType): CelError {
  return new CelError(`type conversion error from '${from.name}' to '${to.name}'`);
}

const identity: Implementation = ([value = null]) => value;

function conversion(
  name: string,
  to: CelType,
  ...froms: readonly (readonly [string, CelType, (value: never) => CelResult | undefined])[]
): LibraryFunction {
  const overloads: Overload[] = froms.map(([id, from, convert]) =>
    overload(id, [from], to, ([value = null]) => convert(value as never) ?? conversionError(from, to)),
  );
  return { name, overloads };
}

const keep = (value: CelValue): CelResult => value;

function doubleToInt(value: number): CelResult {
  // The bounds are those of float64, which rounds the largest int up.
  if (Number.isNaN(value) || value <= Number(INT_MIN) || value >= Number(INT_MAX)) return INT_OVERFLOW;
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): CelResult {
  if (Number.isNaN(value) || value < 0 || value >= Number(UINT_MAX)) return UINT_OVERFLOW;
  return new Uint(BigInt(Math.trunc(value)));
}

function textToInt(text: string): CelResult | undefined {
  if (!/^[+-]?\d{1,30}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return value < INT_MIN || value > INT_MAX ? undefined : value;
}

function textToUint(text: string): CelResult | undefined {
  if (!/^\d{1,30}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > UINT_MAX ? undefined : new Uint(value);
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Infinity],
  ["infinity", Infinity],
]);

function textToDouble(text: string): CelResult | undefined {
  const unsigned = text.toLowerCase().replace(/^[+-]/, "");
  const special = SPECIAL.get(unsigned);
  if (special !== undefined) return text.startsWith("-") ? -special : special;
  if (!DECIMAL.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False"]);

function textToBool(text: string): CelResult | undefined {
  return TRUE.has(text) ? true : FALSE.has(text) ? false : undefined;
}

function textToTimestamp(text: string): CelResult | undefined {
  const timestamp = parseTimestamp(text);
  if (timestamp === undefined) return undefined;
  return isTimestampInRange(timestamp) ? timestamp : TIMESTAMP_OVERFLOW;
}

function textToBytes(text: string): CelResult {
  spend(text.length);
  return encodeUtf8(text);
}

function bytesToText(bytes: Uint8Array): CelResult {
  spend(bytes.length);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

const FUNCTIONS: readonly LibraryFunction[] = [
  {
    name: "type",
    overloads: [overload("type", [A], typeOf(A))],
    call: ([value = null]) => new TypeValue(typeOfValue(value)),
  },
  conversion("bool", BOOL, ["bool_to_bool", BOOL, keep], ["string_to_bool", STRING, textToBool]),
  conversion("bytes", BYTES, ["bytes_to_bytes", BYTES, keep], ["string_to_bytes", STRING, textToBytes]),
  conversion(
    "double",
    DOUBLE,
    ["double_to_double", DOUBLE, keep],
    ["int64_to_double", INT, (value: bigint) => Number(value)],
    ["string_to_double", STRING, textToDouble],
    ["uint64_to_double", UINT, ({ value }: Uint) => Number(value)],
  ),
  conversion(
    "duration",
    DURATION,
    ["duration_to_duration", DURATION, keep],
    // Declared upstream, but without an implementation.
    ["int64_to_duration", INT, () => undefined],
    ["string_to_duration", STRING, (text: string) => parseDurationText(text)],
  ),
  { name: "dyn", overloads: [overload("to_dyn", [A], DYN)], call: identity },
  conversion(
    "int",
    INT,
    ["int64_to_int64", INT, keep],
    ["double_to_int64", DOUBLE, doubleToInt],
    ["duration_to_int64", DURATION, ({ nanoseconds }: Duration) => nanoseconds],
    ["string_to_int64", STRING, textToInt],
    ["timestamp_to_int64", TIMESTAMP, ({ nanoseconds }: Timestamp) => floorSeconds(nanoseconds)],
    ["uint64_to_int64", UINT, ({ value }: Uint) => intOf(value)],
  ),
  conversion(
    "string",
    STRING,
    ["string_to_string", STRING, keep],
    ["bool_to_string", BOOL, (value: boolean) => String(value)],
    ["bytes_to_string", BYTES, bytesToText],
    ["double_to_string", DOUBLE, (value: number) => formatDouble(value)],
    ["duration_to_string", DURATION, (value: Duration) => formatDurationSeconds(value)],
    ["int64_to_string", INT, (value: bigint) => String(value)],
    ["timestamp_to_string", TIMESTAMP, (value: Timestamp) => formatTimestamp(value)],
    ["uint64_to_string", UINT, ({ value }: Uint) => String(value)],
  ),
  conversion(
    "timestamp",
    TIMESTAMP,
    ["timestamp_to_timestamp", TIMESTAMP, keep],
    ["int64_to_timestamp", INT, (value: bigint) => timestampOfSeconds(value)],
    ["string_to_timestamp", STRING, textToTimestamp],
  ),
  conversion(
    "uint",
    UINT,
    ["uint64_to_uint64", UINT, keep],
    ["double_to_uint64", DOUBLE, doubleToUint],
    ["int64_to_uint64", INT, (value: bigint) => uintOf(value)],
    ["string_to_uint64", STRING, textToUint],
  ),
];

export const conversions: Library = { functions: FUNCTIONS };
