/** Checks bearer tokens before they are sent: Node would only report an invalid header. */

/** Characters that a header cannot contain: line breaks, other control characters, and non-Latin-1 characters. */
const NO_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

/** Names the position and the character, and shows nothing else: it is a secret. */
export function tokenProblem(token: string): string | undefined {
  const at = token.search(NO_HEADER);
  if (at < 0) return undefined;
  const code = (token.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `the token must be one line of letters, digits and signs, and character ${at + 1} is another (U+${code})`;
}
