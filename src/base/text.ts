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

/**
 * What a terminal would interpret instead of show: C0, DEL and C1 controls (ESC and CSI among them), line separators, and bidirectional
 * marks, which can make a line read as another.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const OBEYED_BY_TERMINALS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The same for text of several lines in a page: line breaks and tabs stay. Otherwise a value could read backwards, as another one. */
export function escapeInvisible(text: string): string {
  return text
    .split(/([\n\t])/)
    .map((part) => (part === "\n" || part === "\t" ? part : escapeControls(part)))
    .join("");
}

/** Makes text of others (objects, requests, programs) safe to print on a terminal. Line breaks are controls, too: the result is one line. */
export function escapeControls(text: string): string {
  return text.replace(OBEYED_BY_TERMINALS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
