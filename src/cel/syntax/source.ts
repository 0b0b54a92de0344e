/** The text of an expression: positions, and issues printed with their source line as upstream prints them. */
import type { Issue } from "../contract.ts";
import { utf8Length } from "../../base/utf8.ts";

/** Upstream reports this many issues and counts the rest. */
const ISSUES_MAX = 100;
/** Longer lines are not printed. */
const SNIPPET_BYTES_MAX = 16_384;
/** Line and column of issues without a position. */
export const NO_LINE = -1;

export class Source {
  readonly text: string;
  /** Offset of each line's first character. */
  readonly #lineStarts: readonly number[];
  /** The last position. Issues mostly ascend, so that the text before them is counted once, however many there are. */
  #last = { offset: 0, line: 0, column: 0 };

  constructor(text: string) {
    this.text = text;
    const starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
  }

  issueAt(offset: number, message: string): Issue {
    const last = offset < this.#last.offset ? { offset: 0, line: 0, column: 0 } : this.#last;
    let { line } = last;
    while ((this.#lineStarts[line + 1] ?? Infinity) <= offset) line++;
    const isSameLine = line === last.line;
    const before = this.text.slice(isSameLine ? last.offset : this.#lineStarts[line], offset);
    const column = (isSameLine ? last.column : 0) + codePoints(before);
    this.#last = { offset, line, column };
    // Upstream's position of an error in an empty text.
    return { message, line: line + 1, column: this.text === "" ? -1 : column };
  }

  format(issues: readonly Issue[]): string {
    const sorted = issues.slice(0, ISSUES_MAX).sort((a, b) => a.line - b.line || a.column - b.column);
    const texts = sorted.map((issue) => this.#formatOne(issue));
    if (issues.length > ISSUES_MAX) texts.push(`${issues.length - ISSUES_MAX} more errors were truncated`);
    return texts.join("\n");
  }

  #formatOne({ message, line, column }: Issue): string {
    const heading = `ERROR: <input>:${line}:${column + 1}: ${message}`;
    const snippet = this.#snippet(line);
    return snippet === undefined ? heading : `${heading}\n | ${snippet}\n | ${pointer(snippet, column)}`;
  }

  #snippet(line: number): string | undefined {
    const start = this.#lineStarts[line - 1];
    if (start === undefined || this.text === "") return undefined;
    const next = this.#lineStarts[line];
    const text = this.text.slice(start, next === undefined ? undefined : next - 1);
    return utf8Length(text) > SNIPPET_BYTES_MAX ? undefined : text.replaceAll("\t", " ");
  }
}

/** Dots up to the column, then "^"; full-width ones under characters of several bytes. */
function pointer(snippet: string, column: number): string {
  if (utf8Length(snippet) === snippet.length) return `${".".repeat(Math.max(0, column))}^`;
  const characters = Array.from(snippet);
  const isWide = (character: string | undefined): boolean => character !== undefined && (character.codePointAt(0) ?? 0) > 0x7f;
  const dots = characters.slice(0, Math.max(0, column)).map((character) => (isWide(character) ? "．" : "."));
  return `${dots.join("")}${isWide(characters[Math.max(0, column)]) ? "＾" : "^"}`;
}

/** Characters of a text as Unicode counts them. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      count--;
      index++;
    }
  }
  return count;
}
