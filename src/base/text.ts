/** String operations in linear time on input of untrusted length, which regular expressions such as /0+$/ do not guarantee. */

/** An equal string that retains no other. A slice of a long string may be a view of it: retaining the slice would retain the whole. */
export function detachedText(text: string): string {
  return text.length < VIEW_LENGTH_MIN ? text : (JSON.parse(JSON.stringify(text)) as string);
}

/** Shorter ones are always copied. */
const VIEW_LENGTH_MIN = 13;

/** `text` without trailing `characters`. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** `text` without leading `characters`. */
export function withoutLeading(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start++;
  return text.slice(start);
}
