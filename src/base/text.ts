/** Work on texts whose length somebody else decides: in time that grows with the length, which an expression such as /0+$/ does not. */

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
