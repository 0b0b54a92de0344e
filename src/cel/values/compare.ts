/** Equality and order of values. Numbers of different types are equal if their values are; everything else of different types is not. */
import { spend } from "./meter.ts";
import { compareText } from "./text.ts";
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type CelResult,
  type CelValue,
} from "./value.ts";
import { isSameType } from "../types/type.ts";

/** Steps of comparing two elements, beside what their own comparison takes. */
export const ELEMENT_STEPS = 25;
/** Steps of finding an entry in two maps. */
const ENTRY_STEPS = 150;
export const NO_SUCH_OVERLOAD = new CelError("no such overload");
const NAN_ORDER = new CelError("NaN values cannot be ordered");

/** A number of any type. */
export function numberOf(value: CelValue): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof Uint ? value.value : undefined;
}

export function equal(a: CelValue, b: CelValue): boolean | CelError {
  if (a === null || b === null) return a === b;
  switch (typeof a) {
    case "string":
      if (typeof b === "string" && a.length === b.length) spend(a.length >> 3);
      return a === b;
    case "boolean":
      return a === b;
    case "bigint":
    case "number":
      return sameNumber(a, b);
    default:
      return equalObjects(a, b);
  }
}

function sameNumber(a: bigint | number, b: CelValue): boolean {
  const other = numberOf(b);
  if (other === undefined) return false;
  return typeof a === typeof other ? a === other : Number(a) === Number(other);
}

function equalObjects(a: Exclude<CelValue, null | boolean | string | bigint | number>, b: CelValue): boolean | CelError {
  if (a instanceof Uint) return sameNumber(a.value, b);
  if (a instanceof ListValue) return b instanceof ListValue ? equalLists(a, b) : a.mismatch();
  if (a instanceof MapValue) return b instanceof MapValue ? equalMaps(a, b) : a.mismatch();
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof Duration) return b instanceof Duration && a.nanoseconds === b.nanoseconds;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds;
  if (a instanceof TypeValue) return b instanceof TypeValue && (a.type.name === b.type.name || isSameType(a.type, b.type));
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equal(a.value, b.value);
  }
  return b instanceof OpaqueValue && a.equals(b);
}

function equalLists(a: ListValue, b: ListValue): boolean | CelError {
  if (a.size !== b.size) return false;
  const own = a.equalTo(b);
  if (own !== undefined) return own;
  spend(a.size * ELEMENT_STEPS);
  for (let index = 0; index < a.size; index++) {
    const left = a.at(index);
    const right = b.at(index);
    if (left instanceof CelError) return left;
    if (right instanceof CelError) return right;
    const same = equal(left, right);
    if (same !== true) return same;
  }
  return true;
}

function equalMaps(a: MapValue, b: MapValue): boolean | CelError {
  if (a.size !== b.size) return false;
  spend(a.size * ENTRY_STEPS);
  for (const key of a.keys()) {
    const left = a.find(key);
    const right = b.find(key);
    if (left instanceof CelError) return left;
    if (right instanceof CelError) return right;
    if (left === undefined || right === undefined) return false;
    const same = equal(left, right);
    if (same !== true) return same;
  }
  return a.hasSameRest(b);
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  spend(length >> 2);
  for (let index = 0; index < length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Whether `<` is defined for the value at all. */
export function isComparable(value: CelValue): boolean {
  return (
    typeof value === "boolean" ||
    typeof value === "string" ||
    numberOf(value) !== undefined ||
    value instanceof Uint8Array ||
    value instanceof Duration ||
    value instanceof Timestamp
  );
}

function order(left: bigint | number, right: bigint | number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Negative, 0 or positive. Integers compare with doubles as doubles. */
export function compare(a: CelValue, b: CelValue): number | CelError {
  const left = numberOf(a);
  if (left !== undefined) {
    const right = numberOf(b);
    if (right === undefined) return NO_SUCH_OVERLOAD;
    if (Number.isNaN(left) || Number.isNaN(right)) return NAN_ORDER;
    return typeof left === typeof right ? order(left, right) : order(Number(left), Number(right));
  }
  if (typeof a === "string") return typeof b === "string" ? compareText(a, b) : NO_SUCH_OVERLOAD;
  if (typeof a === "boolean") return typeof b === "boolean" ? Number(a) - Number(b) : NO_SUCH_OVERLOAD;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : NO_SUCH_OVERLOAD;
  if ((a instanceof Duration && b instanceof Duration) || (a instanceof Timestamp && b instanceof Timestamp)) {
    return a.nanoseconds < b.nanoseconds ? -1 : a.nanoseconds > b.nanoseconds ? 1 : 0;
  }
  return NO_SUCH_OVERLOAD;
}

/** Whether the list has an element that equals the value. */
export function listContains(list: ListValue, value: CelValue): CelResult {
  let problem: CelError | undefined;
  for (let index = 0; index < list.size; index++) {
    spend(ELEMENT_STEPS);
    const element = list.at(index);
    const same = element instanceof CelError ? element : equal(element, value);
    if (same === true) return true;
    if (same instanceof CelError) problem ??= same;
  }
  return problem ?? false;
}
