/**
 * Numbers that versions of kinds long gone had as fields, and that apps/v1 keeps as annotations. Upstream reads them as numbers on the way
 * in, so what is none never gets in.
 */
const INT64_MAX = 2n ** 63n - 1n;
/** Longer than any number that fits; it keeps hostile texts from costing time. */
const DIGITS_MAX = 30;
const WHOLE_NUMBER = /^[-+]?[0-9]+$/;

/** Undefined if it is none, or does not fit into 64 bits. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > DIGITS_MAX || !WHOLE_NUMBER.test(text)) return undefined;
  const number = BigInt(text.replace(/^\+/, ""));
  return number >= -INT64_MAX - 1n && number <= INT64_MAX ? number : undefined;
}

/** `refuse` makes the error to throw of Go's words for what is wrong. */
export function readInt64(text: string, refuse: (parsing: string) => Error): bigint {
  const number = parseInt64(text);
  if (number !== undefined) return number;
  const why = WHOLE_NUMBER.test(text) ? "value out of range" : "invalid syntax";
  throw refuse(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
}
