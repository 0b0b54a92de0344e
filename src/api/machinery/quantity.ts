/**
 * Quantities of a resource ("100m", "1.5Gi", "1e3") as exact numbers. Every amount is an integer times a power of ten of at least 10^-9;
 * smaller fractions are rounded up, so that a positive request never becomes zero. The canonical text is what upstream writes, including
 * its habit of keeping the client's spelling where that looks canonical ("+1", "1.500"). One difference: an amount too large for the
 * largest suffix keeps its value ("1000E"), upstream writes "1".
 */
import { withoutTrailing } from "../../base/text.ts";
import { Lru } from "../../base/lru.ts";

/** Suffix family of the canonical form: "1e3", "1k" or "1Ki". */
export type QuantityFormat = "DecimalExponent" | "DecimalSI" | "BinarySI";

export interface Quantity {
  /** The amount is `unscaled` × 10^`exponent`. */
  readonly unscaled: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** The original spelling, if the canonical form keeps it. */
  readonly text?: string;
}

/** The message is upstream's: clients see it as part of others. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

const NANO = -9;
const MILLI = -3;
const INT64_MAX = 2n ** 63n - 1n;
/** Maximum digits that upstream computes with an int64. The limit is lower with a binary suffix. */
const INT64_SAFE_DIGITS = 18;
const INT64_SAFE_BINARY_DIGITS = 14;
/** Longer texts and larger exponents are meaningless and expensive to compute with. Upstream has no such limit. */
const TEXT_LENGTH_MAX = 1_000;
const EXPONENT_MAX = 1_000;
/** Size of the cache: cluster objects use few different amounts, and a client that invents amounts cannot fill the memory. */
const CANONICAL_TEXTS_MAX = 10_000;

const GRAMMAR = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_NUMBER = "unable to parse numeric part of quantity";
const WRONG_SUFFIX = "unable to parse quantity's suffix";

const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const DECIMAL_EXPONENTS = new Map(DECIMAL_SUFFIXES.map((suffix, index) => [suffix, NANO + 3 * index]));
const DECIMAL_EXPONENT_MAX = 18;
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

export function parseQuantity(text: string): Quantity {
  const { sign, digits, exponent, suffix, isQuick, isBare } = readNumber(text);
  // Upstream accepts a bare suffix as zero, but only here.
  if (isBare && !isQuick) throw new QuantityError(WRONG_NUMBER);
  const kept = isQuick && looksCanonical(digits, exponent, suffix) ? { text } : {};
  const magnitude = BigInt(digits);
  const amount = limited(suffix.base === 2 ? magnitude << BigInt(suffix.exponent) : magnitude, exponent, suffix.format);
  return { ...amount, ...kept, unscaled: sign === "-" ? -amount.unscaled : amount.unscaled };
}

/** True if upstream computes with an int64 after it parsed this text, instead of an arbitrarily large number. */
export function isInt64Quantity(text: string): boolean {
  return readNumber(text).isQuick;
}

function readNumber(text: string) {
  if (text.length > TEXT_LENGTH_MAX) throw new QuantityError(WRONG_NUMBER);
  const match = text === "" ? null : GRAMMAR.exec(text);
  if (match === null) throw new QuantityError(WRONG_FORMAT);
  const [, sign = "", whole = "", fraction = "", suffixText = ""] = match;
  const suffix = readSuffix(suffixText);
  if (suffix === undefined) throw new QuantityError(WRONG_SUFFIX);
  const digits = (whole.replace(/^0+/, "") || "0") + fraction;
  const exponent = (suffix.base === 10 ? suffix.exponent : 0) - fraction.length;
  const isQuick = takesQuickPath({ digits, fraction, exponent, suffix });
  return { sign, digits, exponent, suffix, isQuick, isBare: whole === "" && fraction === "" };
}

function readSuffix(text: string): Suffix | undefined {
  const decimal = DECIMAL_EXPONENTS.get(text);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: "DecimalSI" };
  const binary = BINARY_SUFFIXES.indexOf(text);
  if (binary > 0) return { base: 2, exponent: 10 * binary, format: "BinarySI" };
  if (!/^[eE][-+]?[0-9]+$/.test(text)) return undefined;
  const exponent = Number(text.slice(1));
  // A number with more fraction digits is rounded up to 1n anyway.
  if (exponent < -EXPONENT_MAX) return { base: 10, exponent: -EXPONENT_MAX - TEXT_LENGTH_MAX, format: "DecimalExponent" };
  return exponent > EXPONENT_MAX ? undefined : { base: 10, exponent, format: "DecimalExponent" };
}

/** True if upstream parses it as an int64. Observable: only then the spelling is kept. */
function takesQuickPath(read: { digits: string; fraction: string; exponent: number; suffix: Suffix }): boolean {
  const { digits, fraction, exponent, suffix } = read;
  if (suffix.base === 10) return digits.length <= INT64_SAFE_DIGITS && exponent >= NANO;
  // Ten bits take three digits.
  return fraction === "" && digits.length + (suffix.exponent / 10) * 3 <= INT64_SAFE_BINARY_DIGITS;
}

function looksCanonical(digits: string, exponent: number, { base }: Suffix): boolean {
  if (base === 2) return (BigInt(digits) & 7n) !== 0n;
  return exponent % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

/** Limits the amount to what a quantity can hold: no finer than nano, and binary ones within an int64. */
function limited(magnitude: bigint, exponent: number, format: QuantityFormat): Quantity {
  if (exponent < NANO) return limited(divideUp(magnitude, powerOfTen(NANO - exponent)), NANO, format);
  if (format !== "BinarySI" || magnitude === 0n) return { unscaled: magnitude, exponent, format };
  const one = powerOfTen(-exponent);
  if (magnitude > INT64_MAX * one) return { unscaled: INT64_MAX, exponent: 0, format };
  return { unscaled: magnitude, exponent, format: magnitude < one ? "DecimalSI" : format };
}

/** A quantity of an integer amount in the given format. */
export function quantityOf(amount: number | bigint, format: QuantityFormat = "DecimalSI"): Quantity {
  return { unscaled: BigInt(amount), exponent: 0, format };
}

/** A quantity of thousandths. */
export function milliQuantityOf(amount: number | bigint, format: QuantityFormat = "DecimalSI"): Quantity {
  return { unscaled: BigInt(amount), exponent: MILLI, format };
}

const canonicalTexts = new Lru<string, string>({ max: CANONICAL_TEXTS_MAX });

/** Returns the canonical form; white space around the text is accepted, as in JSON. */
export function canonicalQuantity(text: string): string {
  const known = canonicalTexts.get(text);
  if (known !== undefined) return known;
  const canonical = formatQuantity(parseQuantity(text.trim()));
  canonicalTexts.set(text, canonical);
  return canonical;
}

export function formatQuantity(quantity: Quantity): string {
  return quantity.text ?? (isBinary(quantity) ? formatBinary(scaledValue(quantity, 0)) : formatDecimal(quantity));
}

/** Small and fractional amounts have decimal suffixes in every format, so that nothing is rounded. */
function isBinary({ unscaled, exponent, format }: Quantity): boolean {
  if (format !== "BinarySI") return false;
  const one = powerOfTen(-exponent);
  const magnitude = absolute(unscaled);
  return magnitude >= 1024n * one && magnitude % one === 0n;
}

function formatBinary(value: bigint): string {
  let amount = value;
  let index = 0;
  for (; index < BINARY_SUFFIXES.length - 1 && amount % 1024n === 0n; index++) amount /= 1024n;
  return `${amount}${BINARY_SUFFIXES[index]}`;
}

/** No trailing zeros that a suffix can express, and no decimal point. */
function formatDecimal({ unscaled, exponent, format }: Quantity): string {
  if (unscaled === 0n) return "0";
  const all = unscaled.toString();
  const digits = withoutTrailing(all, "0");
  const total = exponent + all.length - digits.length;
  const steps = Math.floor(total / 3) * 3;
  const written = format === "DecimalSI" || format === "BinarySI" ? Math.min(steps, DECIMAL_EXPONENT_MAX) : steps;
  const number = digits + "0".repeat(total - written);
  if (format === "DecimalExponent") return written === 0 ? number : `${number}e${written}`;
  return `${number}${DECIMAL_SUFFIXES[(written - NANO) / 3]}`;
}

/** Negative, zero or positive. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const [left, right] = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The sum has the format of `a`, unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const [left, right, exponent] = aligned(a, b);
  return { unscaled: left + right, exponent, format: isZero(a) ? b.format : a.format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, negateQuantity(b));
}

export function negateQuantity({ unscaled, exponent, format }: Quantity): Quantity {
  return { unscaled: -unscaled, exponent, format };
}

export function multiplyQuantity({ unscaled, exponent, format }: Quantity, factor: number | bigint): Quantity {
  return { unscaled: unscaled * BigInt(factor), exponent, format };
}

export function isZero({ unscaled }: Quantity): boolean {
  return unscaled === 0n;
}

export function signOf({ unscaled }: Quantity): -1 | 0 | 1 {
  return unscaled === 0n ? 0 : unscaled < 0n ? -1 : 1;
}

/** The amount in units of 10^`exponent`, rounded away from zero: 0 for integers, -3 for thousandths. */
export function scaledValue(quantity: Quantity, exponent: number): bigint {
  const difference = quantity.exponent - exponent;
  if (difference >= 0) return quantity.unscaled * powerOfTen(difference);
  const magnitude = divideUp(absolute(quantity.unscaled), powerOfTen(-difference));
  return quantity.unscaled < 0n ? -magnitude : magnitude;
}

/** The integer value, rounded away from zero. Beyond 2^53 it is the nearest number. */
export function quantityToNumber(quantity: Quantity): number {
  return Number(scaledValue(quantity, 0));
}

/** The value in thousandths, rounded away from zero. Beyond 2^53 it is the nearest number. */
export function quantityMilliValue(quantity: Quantity): number {
  return Number(scaledValue(quantity, MILLI));
}

function aligned(a: Quantity, b: Quantity): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.unscaled * powerOfTen(a.exponent - exponent), b.unscaled * powerOfTen(b.exponent - exponent), exponent];
}

function powerOfTen(exponent: number): bigint {
  return exponent <= 0 ? 1n : 10n ** BigInt(exponent);
}

function divideUp(magnitude: bigint, divisor: bigint): bigint {
  return (magnitude + divisor - 1n) / divisor;
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
