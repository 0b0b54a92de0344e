/** Formats a text as a TypeScript literal in single quotes: JSON then needs few escapes, and the file stays small. */
export function stringLiteral(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
  // Some editors take these two for line terminators.
  return `'${escaped.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}'`;
}
