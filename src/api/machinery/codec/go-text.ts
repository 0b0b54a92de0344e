/**
 * Text as Go quotes it in error messages. What JSON.stringify does is close, but not the same for characters that cannot be seen.
 */

const SHORT: Readonly<Record<number, string>> = { 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r" };

/** As `%q` shows it: in double quotes, what cannot be printed escaped. */
export function quoteGo(text: string): string {
  // Nearly every text; a long one must not be gone through one by one.
  if (/^[ -~]*$/.test(text)) return JSON.stringify(text);
  let quoted = "";
  for (const character of text) quoted += character === '"' ? '\\"' : escape(character.codePointAt(0) ?? 0);
  return `"${quoted}"`;
}

/** One byte of broken JSON as Go's scanner shows it, without the single quotes around it. */
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
