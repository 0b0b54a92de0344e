/**
 * Numbers as upstream's schemas see them: whole numbers of 64 bits and others are two types there, and messages show them as Go does.
 */
import type { Json } from "../../../machinery/object.ts";

export type JsonNumber = number | bigint;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** The first number that rounds to infinity in 32 bits. */
const FLOAT32_LIMIT = 2 ** 128 - 2 ** 103;
/** How far a quotient may be from a whole number, as a share of it, to count as one. */
const WHOLE_TOLERANCE = 1e-9;

export function isNumber(value: Json): value is JsonNumber {
  return typeof value === "number" || typeof value === "bigint";
}

/** Whether upstream holds it as a whole number. */
export function isInt64(value: JsonNumber): boolean {
  return isWhole(value) && BigInt(value) >= INT64_MIN && BigInt(value) <= INT64_MAX;
}

function isWhole(value: JsonNumber): boolean {
  return typeof value === "bigint" || Number.isInteger(value);
}

/** Whether it fits the type and the format. Only whole numbers and float are limited. */
export function fitsFormat(value: JsonNumber, type: string, format: string): boolean {
  if (type === "integer") return format === "int32" ? isWhole(value) && Number(value) === (Number(value) | 0) : isInt64(value);
  return format !== "float" || Math.abs(Number(value)) < FLOAT32_LIMIT;
}

/** Whether it is a whole number that JSON can be trusted with, or as good as one. */
export function isNearlyWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  return whole !== 0 && Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < WHOLE_TOLERANCE;
}

/** As Go's %v shows a float64: 0.25, 100000, 1e+06. */
export function formatFloat(value: number): string {
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (value === 0 || (exponent >= -4 && exponent < 6)) return value.toString();
  return `${digits}e${exponent < 0 ? "-" : "+"}${Math.abs(exponent).toString().padStart(2, "0")}`;
}
