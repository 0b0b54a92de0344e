/**
 * Parser of environment files that an init container wrote to a volume for `fileKeyRef`. A small subset of shell syntax: NAME='value',
 * where the value is literal and may span lines; empty lines and # comments are ignored. Error messages are upstream's.
 */

export class EnvironmentFileError extends Error {
  override readonly name = "EnvironmentFileError";
}

/** Value of the first line for this name; later lines are not parsed. Undefined if none exists. */
export function environmentFileValue(text: string, key: string): string | undefined {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  for (let index = 0; index < lines.length; index++) {
    const line = withoutIndent(lines[index] ?? "");
    if (line === "" || line.startsWith("#")) continue;
    const { name, rest } = assignmentOf(line, index + 1);
    // As in a shell, NAME= 'value' sets an empty value.
    if (/^[ \t]/.test(rest)) {
      if (name === key) return "";
      continue;
    }
    const { value, lastIndex } = quotedValue(lines, index, rest);
    if (name === key) return value;
    index = lastIndex;
  }
  return undefined;
}

function assignmentOf(line: string, number: number): { readonly name: string; readonly rest: string } {
  const at = line.indexOf("=");
  if (at === -1) throw wrongAt(number, "missing '='");
  const name = line.slice(0, at);
  if (withoutIndent(name) === "") throw wrongAt(number, "empty variable name");
  if (/[ \t]$/.test(name)) throw wrongAt(number, "whitespace before '=' is not allowed");
  return { name, rest: line.slice(at + 1) };
}

function quotedValue(lines: readonly string[], start: number, first: string): { readonly value: string; readonly lastIndex: number } {
  if (!first.startsWith("'")) throw wrongAt(start + 1, "value must be enclosed in single quotes");
  const parts: string[] = [];
  for (let index = start; index < lines.length; index++) {
    const line = index === start ? first.slice(1) : (lines[index] ?? "");
    const closer = line.indexOf("'");
    if (closer === -1) {
      parts.push(line);
      continue;
    }
    const after = withoutIndent(line.slice(closer + 1));
    if (after !== "" && !after.startsWith("#")) throw wrongAt(index + 1, "unexpected content after closing quote");
    return { value: [...parts, line.slice(0, closer)].join("\n"), lastIndex: index };
  }
  throw new EnvironmentFileError(`invalid environment variable format starting at line ${start + 1}: unclosed single quote`);
}

function withoutIndent(text: string): string {
  return text.replace(/^[ \t]+/, "");
}

function wrongAt(line: number, what: string): EnvironmentFileError {
  return new EnvironmentFileError(`invalid environment variable format at line ${line}: ${what}`);
}
