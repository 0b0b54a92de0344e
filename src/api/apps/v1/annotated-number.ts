/**
 * Numbers that were fields in removed API versions, and that apps/v1 keeps as annotations. Upstream parses them on write, so malformed ones
 * are never stored.
 */
const INT64_MAX = 2n ** 63n - 1n;
/** Longer than any number that fits; bounds the time spent on hostile texts. */
const DIGITS_MAX = 30;
const WHOLE_NUMBER = /^[-+]?[0-9]+$/;

/** Undefined if it is malformed, or does not fit an int64. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > DIGITS_MAX || !WHOLE_NUMBER.test(text)) return undefined;
  const number = BigInt(text.replace(/^\+/, ""));
  return number >= -INT64_MAX - 1n && number <= INT64_MAX ? number : undefined;
}

/** `refuse` creates the error to throw from Go's message. */
export function readInt64(text: string, refuse: (parsing: string) => Error): bigint {
  const number = parseInt64(text);
  if (number !== undefined) return number;
  const why = WHOLE_NUMBER.test(text) ? "value out of range" : "invalid syntax";
  throw refuse(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
}
