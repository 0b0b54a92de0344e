/**
 * Position in a YAML text, and go-yaml's character classes. The end of the text reads as NaN, which is in no class but `isBreakOrEnd` and
 * `isBlankOrEnd`.
 */
import { detached } from "../detached.ts";
import { YamlError } from "./scalar.ts";

export const BYTE_ORDER_MARK = 0xfe_ff;
export const TAB = 0x09;
export const SPACE = 0x20;
export const HASH = 0x23;
export const COLON = 0x3a;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NEXT_LINE = 0x85;
const LINE_SEPARATOR = 0x20_28;
const PARAGRAPH_SEPARATOR = 0x20_29;

/** Characters that are not allowed in YAML. */
const CONTROL_CHARACTER = /[^\t\n\r\u0020-\u007E\u0085\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

export class YamlCursor {
  readonly text: string;
  at = 0;
  /** From 0. */
  line = 0;
  #lineStart = 0;

  constructor(text: string) {
    if (CONTROL_CHARACTER.test(text)) throw new YamlError("yaml: control characters are not allowed");
    this.text = text;
    if (text.charCodeAt(0) === BYTE_ORDER_MARK) this.at = this.#lineStart = 1;
  }

  get column(): number {
    return this.at - this.#lineStart;
  }

  code(ahead = 0): number {
    return this.text.charCodeAt(this.at + ahead);
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  skipBlanks(): void {
    while (isBlank(this.code())) this.at++;
  }

  /** To the end of the line or text. */
  skipLine(): void {
    while (!isBreakOrEnd(this.code())) this.at++;
  }

  /** Consumes a line break. Returns its value in a scalar: all but two are a line feed. */
  readBreak(): string {
    const code = this.code();
    this.at += code === CARRIAGE_RETURN && this.code(1) === LINE_FEED ? 2 : 1;
    this.line++;
    this.#lineStart = this.at;
    return code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR ? String.fromCharCode(code) : "\n";
  }

  /** The end of the text counts as the beginning of another line, if it is not one. */
  endLastLine(): void {
    if (this.column === 0) return;
    this.line++;
    this.#lineStart = this.at;
  }

  /** True if "---" or "..." is here, at the beginning of a line. */
  isAtDocumentMark(mark: "---" | "..."): boolean {
    return this.column === 0 && this.text.startsWith(mark, this.at) && isBlankOrEnd(this.code(3));
  }

  fail(problem: string, contextLine = 0): YamlError {
    // go-yaml omits the number of the first line.
    const line = this.line !== 0 ? this.line + 1 : contextLine;
    return new YamlError(line === 0 ? `yaml: ${problem}` : `yaml: line ${line}: ${problem}`);
  }
}

export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

export function isBreak(code: number): boolean {
  if (code < 0x80) return code === LINE_FEED || code === CARRIAGE_RETURN;
  return code === NEXT_LINE || code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR;
}

export function isBreakOrEnd(code: number): boolean {
  return isBreak(code) || Number.isNaN(code);
}

export function isBlankOrEnd(code: number): boolean {
  return isBlank(code) || isBreakOrEnd(code);
}

/** Joins many small pieces without keeping a string per piece alive. */
export class TextBuilder {
  #text = "";
  #pieces: string[] = [];

  add(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    if (this.#pieces.length < PIECES_MAX) return;
    this.#text += this.#pieces.join("");
    this.#pieces = [];
  }

  get isEmpty(): boolean {
    return this.#text === "" && this.#pieces.length === 0;
  }

  build(): string {
    if (this.#text !== "") return this.#text + this.#pieces.join("");
    const [only = ""] = this.#pieces;
    return this.#pieces.length <= 1 ? detached(only) : this.#pieces.join("");
  }
}

/** Pieces to be joined. */
const PIECES_MAX = 4_096;
