/** Ranges of sizes and costs: uint64 that saturate instead of overflowing, as upstream's. */
import { UINT_MAX } from "../syntax/literals.ts";

export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

export const UNKNOWN: Range = { min: 0n, max: UINT_MAX };
export const ZERO: Range = { min: 0n, max: 0n };
/** Its union with a range is the range. */
export const NOTHING: Range = { min: UINT_MAX, max: 0n };

export function exactly(value: number | bigint): Range {
  const exact = BigInt(value);
  return { min: exact, max: exact };
}

export function saturated(value: bigint): bigint {
  return value > UINT_MAX ? UINT_MAX : value;
}

export function add(a: Range, b: Range): Range {
  return { min: saturated(a.min + b.min), max: saturated(a.max + b.max) };
}

export function multiply(a: Range, b: Range): Range {
  return { min: saturated(a.min * b.min), max: saturated(a.max * b.max) };
}

/** By a factor with a fraction; rounded up, in doubles as upstream computes it. */
export function scale({ min, max }: Range, factor: number): Range {
  return { min: scaleOne(min, factor), max: scaleOne(max, factor) };
}

const TWO_TO_64 = 2 ** 64;

function scaleOne(value: bigint, factor: number): bigint {
  const number = Number(value);
  if (number > 0 && factor > 0 && number > TWO_TO_64 / factor) return UINT_MAX;
  const scaled = Math.ceil(number * factor);
  return scaled >= TWO_TO_64 ? UINT_MAX : BigInt(scaled);
}

export function union(a: Range, b: Range): Range {
  return { min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max };
}
