/**
 * Numbers that versions of kinds long gone had as fields, and that apps/v1 keeps as annotations. Upstream reads them as numbers on the way
 * in, so what is none never gets in.
 */
const INT64_MAX = 2n ** 63n - 1n;
/** Longer than any number that fits; it keeps hostile texts from costing time. */
const DIGITS_MAX = 30;

/** `refuse` makes the error to throw of Go's words for what is wrong. */
export function readInt64(text: string, refuse: (parsing: string) => Error): bigint {
  const isNumber = /^[-+]?[0-9]+$/.test(text);
  const number = isNumber && text.length <= DIGITS_MAX ? BigInt(text.replace(/^\+/, "")) : undefined;
  if (number !== undefined && number >= -INT64_MAX - 1n && number <= INT64_MAX) return number;
  const why = isNumber ? "value out of range" : "invalid syntax";
  throw refuse(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
}
