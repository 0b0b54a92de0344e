/** Work on texts whose length somebody else decides: in time that grows with the length, which an expression such as /0+$/ does not. */

/**
 * The same text, which keeps no other alive. What is cut out of a long text may be only a view of it: whoever remembers the short one
 * would remember the long one, too.
 */
export function ownText(text: string): string {
  return text.length < VIEW_LENGTH_MIN ? text : (JSON.parse(JSON.stringify(text)) as string);
}

/** Shorter ones are always copied. */
const VIEW_LENGTH_MIN = 13;

/** The text without those of `characters` that stand at its end. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** The text without those of `characters` that stand at its beginning. */
export function withoutLeading(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start++;
  return text.slice(start);
}
