/** A text as a TypeScript literal in single quotes: JSON in it needs few escapes, so that the file stays small. */
export function stringLiteral(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
  // Old editors take these two for the ends of lines.
  return `'${escaped.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}'`;
}
