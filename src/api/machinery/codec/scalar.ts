/**
 * String formats of the API: validates one and returns its canonical form, which is the argument itself if it is canonical already. Throws
 * a DecodeError with upstream's message if the text is malformed; the caller has checked its JSON type.
 */
import { DurationError, formatDuration, parseDuration } from "../duration.ts";
import { canonicalQuantity, QuantityError } from "../quantity.ts";
import { canonicalMicroTime, canonicalTime } from "../time.ts";
import { Base64Error, canonicalBase64 } from "./base64.ts";
import { DecodeError } from "./decode-error.ts";
import { timeProblem } from "./time-problem.ts";

export const INT32_MAX = 2 ** 31 - 1;
const INT64_MAX = 2n ** 63n - 1n;

export function isInt32(value: unknown): boolean {
  return typeof value === "number" && (value | 0) === value;
}

export function isInt64(value: unknown): boolean {
  return typeof value === "bigint" ? value <= INT64_MAX && value >= -INT64_MAX - 1n : Number.isSafeInteger(value);
}

/** Fast path of times: UTC, whole seconds, and a day that every month has. */
const PLAIN_TIME = /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$/;

export function normaliseTime(text: string): string {
  if (PLAIN_TIME.test(text)) return text;
  const canonical = canonicalTime(text);
  if (canonical === undefined) throw new DecodeError(timeProblem(text, "seconds"));
  return canonical;
}

const MICRO_FORM = /[.,][0-9]{6}(?:Z|[+-][0-9]{2}:[0-9]{2})$/;

/** Unlike a Time it requires a fraction of six digits. */
export function normaliseMicroTime(text: string): string {
  const canonical = MICRO_FORM.test(text) ? canonicalMicroTime(text) : undefined;
  if (canonical === undefined) throw new DecodeError(timeProblem(text, "micro"));
  return canonical;
}

export function normaliseDuration(text: string): string {
  return inUpstreamsWords(() => formatDuration(parseDuration(text)), DurationError);
}

/** Cache size: a cluster uses a few dozen. A full cache is cleared, which costs less than maintaining an LRU order. */
const CANONICAL_QUANTITIES_MAX = 1_000;
const canonicalQuantities = new Set<string>();

/** Nearly all quantities are canonical and cached. */
export function normaliseQuantity(text: string): string {
  if (canonicalQuantities.has(text)) return text;
  const canonical = inUpstreamsWords(() => canonicalQuantity(text), QuantityError);
  if (canonicalQuantities.size >= CANONICAL_QUANTITIES_MAX) canonicalQuantities.clear();
  canonicalQuantities.add(canonical);
  return canonical;
}

export function normaliseBytes(text: string): string {
  return inUpstreamsWords(() => canonicalBase64(text), Base64Error);
}

function inUpstreamsWords<T>(read: () => T, expected: new (message: string) => Error): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof expected) throw new DecodeError(error.message, { cause: error });
    throw error;
  }
}
