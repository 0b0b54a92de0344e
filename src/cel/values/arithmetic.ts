/** Arithmetic with the ranges of int64 and uint64: what exceeds them is an error, never wrapped. */
import { INT_MAX, INT_MIN, UINT_MAX } from "../syntax/literals.ts";
import { NO_SUCH_OVERLOAD } from "./compare.ts";
import { spend } from "./meter.ts";
import { durationOf, timestampOf } from "./time.ts";
import { CelError, Duration, ListValue, Timestamp, Uint, type CelResult, type CelValue } from "./value.ts";

export const INT_OVERFLOW = new CelError("integer overflow");
export const UINT_OVERFLOW = new CelError("unsigned integer overflow");
const DIVISION_BY_ZERO = new CelError("division by zero");
const MODULUS_BY_ZERO = new CelError("modulus by zero");

export type Operator = "_+_" | "_-_" | "_*_" | "_/_" | "_%_";

export function intOf(value: bigint): CelResult {
  return value < INT_MIN || value > INT_MAX ? INT_OVERFLOW : value;
}

export function uintOf(value: bigint): CelResult {
  return value < 0n || value > UINT_MAX ? UINT_OVERFLOW : new Uint(value);
}

export function calculate(operator: Operator, a: CelValue, b: CelValue): CelResult {
  if (typeof a === "bigint") return typeof b === "bigint" ? integers(operator, a, b, intOf) : unsupported(operator, a);
  if (a instanceof Uint) return b instanceof Uint ? integers(operator, a.value, b.value, uintOf) : unsupported(operator, a);
  if (typeof a === "number") return typeof b === "number" ? doubles(operator, a, b) : unsupported(operator, a);
  if (operator === "_+_") return add(a, b);
  return operator === "_-_" ? subtract(a, b) : unsupported(operator, a);
}

function integers(operator: Operator, a: bigint, b: bigint, checked: (value: bigint) => CelResult): CelResult {
  switch (operator) {
    case "_+_":
      return checked(a + b);
    case "_-_":
      return checked(a - b);
    case "_*_":
      return checked(a * b);
    case "_/_":
      return b === 0n ? DIVISION_BY_ZERO : checked(a / b);
    case "_%_":
      if (b === 0n) return MODULUS_BY_ZERO;
      // The quotient overflows, so upstream refuses the remainder too.
      return a === INT_MIN && b === -1n ? INT_OVERFLOW : checked(a % b);
  }
}

function doubles(operator: Operator, a: number, b: number): CelResult {
  switch (operator) {
    case "_+_":
      return a + b;
    case "_-_":
      return a - b;
    case "_*_":
      return a * b;
    case "_/_":
      return a / b;
    case "_%_":
      return unsupported(operator, a);
  }
}

/** Whether any overload of the operator begins with such a value; the message differs. */
function unsupported(operator: Operator, a: CelValue): CelError {
  const isNumber = typeof a === "bigint" || a instanceof Uint || (typeof a === "number" && operator !== "_%_");
  const isSupported =
    isNumber ||
    ((operator === "_+_" || operator === "_-_") && (a instanceof Duration || a instanceof Timestamp)) ||
    (operator === "_+_" && (typeof a === "string" || a instanceof Uint8Array || a instanceof ListValue));
  return isSupported ? NO_SUCH_OVERLOAD : new CelError(`no such overload: ${operator}`);
}

function add(a: CelValue, b: CelValue): CelResult {
  if (typeof a === "string" && typeof b === "string") {
    // A quarter: joining is fast, but the text could double without end.
    spend((a.length + b.length) >> 2);
    return a + b;
  }
  if (a instanceof ListValue && b instanceof ListValue) return a.concat(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    spend(a.length + b.length);
    const joined = new Uint8Array(a.length + b.length);
    joined.set(a);
    joined.set(b, a.length);
    return joined;
  }
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.nanoseconds + b.nanoseconds);
  if (a instanceof Duration && b instanceof Timestamp) return timestampOf(a.nanoseconds + b.nanoseconds, b.offsetMinutes);
  if (a instanceof Timestamp && b instanceof Duration) return timestampOf(a.nanoseconds + b.nanoseconds, a.offsetMinutes);
  return unsupported("_+_", a);
}

function subtract(a: CelValue, b: CelValue): CelResult {
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.nanoseconds - b.nanoseconds);
  if (a instanceof Timestamp && b instanceof Timestamp) return durationOf(a.nanoseconds - b.nanoseconds);
  if (a instanceof Timestamp && b instanceof Duration) return timestampOf(a.nanoseconds - b.nanoseconds, a.offsetMinutes);
  return unsupported("_-_", a);
}

export function negate(value: CelValue): CelResult {
  if (typeof value === "bigint") return intOf(-value);
  if (typeof value === "number") return -value;
  if (value instanceof Duration) return durationOf(-value.nanoseconds);
  return typeof value === "boolean" ? NO_SUCH_OVERLOAD : new CelError("no such overload: -_");
}
