/** Numbers as upstream's schemas see them: 64-bit integers and floats are two types there, and messages format them as Go does. */
import type { Json } from "../../../machinery/object.ts";

export type JsonNumber = number | bigint;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** The first number that rounds to infinity in 32 bits. */
const FLOAT32_LIMIT = 2 ** 128 - 2 ** 103;
/** Relative tolerance within which a quotient counts as an integer. */
const WHOLE_TOLERANCE = 1e-9;

export function isNumber(value: Json): value is JsonNumber {
  return typeof value === "number" || typeof value === "bigint";
}

/** True if upstream holds it as an integer. */
export function isInt64(value: JsonNumber): boolean {
  return isWhole(value) && BigInt(value) >= INT64_MIN && BigInt(value) <= INT64_MAX;
}

function isWhole(value: JsonNumber): boolean {
  return typeof value === "bigint" || Number.isInteger(value);
}

/** True if it fits the type and the format. Only integers and float are limited. */
export function fitsFormat(value: JsonNumber, type: string, format: string): boolean {
  if (type === "integer") return format === "int32" ? isWhole(value) && Number(value) === (Number(value) | 0) : isInt64(value);
  return format !== "float" || Math.abs(Number(value)) < FLOAT32_LIMIT;
}

/** True if it is a safe integer, within the tolerance. */
export function isNearlyWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  return whole !== 0 && Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < WHOLE_TOLERANCE;
}

/** As Go's %v prints a float64: 0.25, 100000, 1e+06. */
export function formatFloat(value: number): string {
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (value === 0 || (exponent >= -4 && exponent < 6)) return value.toString();
  return `${digits}e${exponent < 0 ? "-" : "+"}${Math.abs(exponent).toString().padStart(2, "0")}`;
}
