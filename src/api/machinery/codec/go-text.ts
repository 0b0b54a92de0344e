/** Quotes text as Go does in error messages. JSON.stringify is close, but differs for non-printable characters. */

const SHORT: Readonly<Record<number, string>> = { 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r" };

/** Go's `%q`: in double quotes, non-printable characters escaped. */
export function quoteGo(text: string): string {
  // Fast path of nearly every text; long ones must not be walked character by character.
  if (/^[ -~]*$/.test(text)) return JSON.stringify(text);
  let quoted = "";
  for (const character of text) quoted += character === '"' ? '\\"' : escape(character.codePointAt(0) ?? 0);
  return `"${quoted}"`;
}

/** One byte of malformed JSON as Go's scanner shows it, without the single quotes around it. */
export function quoteByte(byte: number): string {
  return byte === 0x27 ? "\\'" : escape(byte);
}

function escape(point: number): string {
  if (point === 0x5c) return "\\\\";
  const short = SHORT[point];
  if (short !== undefined) return short;
  if (point < 0x20 || point === 0x7f) return `\\x${hex(point, 2)}`;
  const character = String.fromCodePoint(point);
  if (point < 0x7f || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character)) return character;
  return point < 0x1_0000 ? `\\u${hex(point, 4)}` : `\\U${hex(point, 8)}`;
}

function hex(point: number, digits: number): string {
  return point.toString(16).padStart(digits, "0");
}
