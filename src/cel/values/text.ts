/** Texts of strings and numbers as Go has them: code points instead of UTF-16 units, and the shortest form of a double. */
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { codePoints } from "../syntax/source.ts";
import { spend } from "./meter.ts";

/** An argument that is a string, as the overload demands. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Steps of quoting a character, if the text has others than printable ASCII. */
const QUOTE_STEPS = 40;
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Go's `%q`. Charged, since error messages quote texts of any length. */
export function quoted(text: string): string {
  spend(PRINTABLE_ASCII.test(text) ? text.length : text.length * QUOTE_STEPS);
  return quoteGo(text);
}

/** Characters of a string. Charged, since it is scanned. */
export function characterCount(text: string): number {
  if (text.length > 64) spend(text.length);
  return codePoints(text);
}

/** The smaller of two counts, scanning little more than the shorter string. */
export function smallerCharacterCount(a: string, b: string): number {
  const [shorter, longer] = a.length <= b.length ? [a, b] : [b, a];
  const count = characterCount(shorter);
  return count * 2 <= longer.length ? count : Math.min(count, characterCount(longer));
}

/** Order of code points, which is that of UTF-8. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    spend(index);
    // Surrogates stand for the highest code points.
    if (isSurrogate(left) !== isSurrogate(right)) return isSurrogate(left) ? 1 : -1;
    return left < right ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** From this exponent on, strconv's format 'g' writes one; fmt's %v writes one later. */
const EXPONENT_FROM = 6;
export const PRINTED_EXPONENT_FROM = 21;

/** Go's format 'g' with the shortest precision that reads back: "1e+06", "0.1". */
export function formatDouble(value: number, exponentFrom = EXPONENT_FROM): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < exponentFrom) return formatFixed(value);
  const sign = exponent < 0 ? "-" : "+";
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** Go's format 'f' with the shortest precision: never an exponent. */
export function formatFixed(value: number): string {
  if (!Number.isFinite(value)) return formatDouble(value);
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return Object.is(value, -0) ? "-0" : text;
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = match;
  const exponent = Number(exponentText);
  const digits = whole + fraction;
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.padEnd(exponent + 1, "0")}`;
}
