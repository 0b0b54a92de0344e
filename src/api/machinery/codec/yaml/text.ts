/**
 * YAML scalars: plain, quoted and block, with lines folded as go-yaml does. Each is scanned in one pass; a text of one line, as nearly all
 * are, is one slice of the document. The meaning of plain scalars is resolved in scalar.ts.
 */
import { COLON, HASH, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, SPACE, TAB, TextBuilder, type YamlCursor } from "./cursor.ts";

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const PLUS = 0x2b;
const MINUS = 0x2d;
const ZERO = 0x30;
const BACKSLASH = 0x5c;

/** White space between two words of a text: either blanks within a line or line breaks, whose folding depends on their number. */
interface Gap {
  readonly text: string;
  readonly hasBreak: boolean;
}

/** `plainIndent`: the column below which a tab is an error (plain scalars). */
function readGap(cursor: YamlCursor, { broken, plainIndent = 0 }: { readonly broken: boolean; readonly plainIndent?: number }): Gap {
  const start = cursor.at;
  let blanksEnd = start;
  let hasBreak = broken;
  // An escaped line break is not folded and yields nothing.
  let first = broken ? undefined : "";
  const breaks = new TextBuilder();
  for (;;) {
    const code = cursor.code();
    if (isBlank(code)) {
      if (hasBreak && code === TAB && cursor.column < plainIndent) throw cursor.fail("found a tab character that violates indentation");
      cursor.at++;
      if (!hasBreak) blanksEnd = cursor.at;
    } else if (isBreak(code)) {
      const text = cursor.readBreak();
      if (hasBreak) breaks.add(text);
      else first = text;
      hasBreak = true;
    } else {
      break;
    }
  }
  if (!hasBreak) return { text: cursor.text.slice(start, blanksEnd), hasBreak };
  if (first === "\n") return { text: breaks.isEmpty ? " " : breaks.build(), hasBreak };
  return { text: (first ?? "") + breaks.build(), hasBreak };
}

export interface PlainText {
  readonly text: string;
  /** The text ended at a line break, after which a key may begin. */
  readonly endsLine: boolean;
}

export function readPlain(cursor: YamlCursor, { indent, inFlow }: { readonly indent: number; readonly inFlow: boolean }): PlainText {
  const text = new TextBuilder();
  let gap: Gap | undefined;
  for (;;) {
    if (cursor.isAtDocumentMark("---") || cursor.isAtDocumentMark("...") || cursor.code() === HASH) break;
    const start = cursor.at;
    skipPlainWord(cursor, inFlow);
    if (cursor.at > start) {
      if (gap !== undefined) text.add(gap.text);
      gap = undefined;
      text.add(cursor.text.slice(start, cursor.at));
    }
    const code = cursor.code();
    if (!isBlank(code) && !isBreak(code)) break;
    gap = readGap(cursor, { broken: false, plainIndent: indent });
    if (!inFlow && cursor.column < indent) break;
  }
  return { text: text.build(), endsLine: gap?.hasBreak === true };
}

function skipPlainWord(cursor: YamlCursor, inFlow: boolean): void {
  const { text } = cursor;
  let at = cursor.at;
  for (;;) {
    const code = text.charCodeAt(at);
    if (isBlankOrEnd(code)) break;
    if (code === COLON ? isBlankOrEnd(text.charCodeAt(at + 1)) : inFlow && isFlowIndicator(code)) break;
    at++;
  }
  cursor.at = at;
}

/** `,` `?` `[` `]` `{` `}` */
function isFlowIndicator(code: number): boolean {
  return code === 0x2c || code === 0x3f || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d;
}

/** The cursor is at the opening quote, and afterwards after the closing one. */
export function readQuoted(cursor: YamlCursor): string {
  const quote = cursor.code();
  const startLine = cursor.line;
  const text = new TextBuilder();
  cursor.at++;
  for (;;) {
    if (cursor.isAtDocumentMark("---") || cursor.isAtDocumentMark("..."))
      throw cursor.fail("found unexpected document indicator", startLine);
    if (cursor.isAtEnd) throw cursor.fail("found unexpected end of stream", startLine);
    const broken = quote === APOSTROPHE ? readSingleQuoted(cursor, text) : readDoubleQuoted(cursor, text);
    if (cursor.code() === quote) break;
    text.add(readGap(cursor, { broken }).text);
  }
  cursor.at++;
  return text.build();
}

/** Up to white space or the end. Returns false, as no line break can be escaped. */
function readSingleQuoted(cursor: YamlCursor, text: TextBuilder): false {
  let start = cursor.at;
  for (;;) {
    const code = cursor.code();
    if (isBlankOrEnd(code)) break;
    if (code === APOSTROPHE) {
      if (cursor.code(1) !== APOSTROPHE) break;
      cursor.at++;
      text.add(cursor.text.slice(start, cursor.at));
      start = cursor.at + 1;
    }
    cursor.at++;
  }
  text.add(cursor.text.slice(start, cursor.at));
  return false;
}

/** Up to white space or the end. Returns true after an escaped line break, which is consumed. */
function readDoubleQuoted(cursor: YamlCursor, text: TextBuilder): boolean {
  let start = cursor.at;
  for (;;) {
    const code = cursor.code();
    if (isBlankOrEnd(code) || code === QUOTE) break;
    if (code === BACKSLASH) {
      text.add(cursor.text.slice(start, cursor.at));
      cursor.at++;
      if (isBreak(cursor.code())) {
        cursor.readBreak();
        return true;
      }
      text.add(readEscape(cursor));
      start = cursor.at;
    } else {
      cursor.at++;
    }
  }
  text.add(cursor.text.slice(start, cursor.at));
  return false;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["a", "\u0007"],
  ["b", "\b"],
  ["t", "\t"],
  ["\t", "\t"],
  ["n", "\n"],
  ["v", "\v"],
  ["f", "\f"],
  ["r", "\r"],
  ["e", "\u001B"],
  [" ", " "],
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
  // Not part of YAML 1.1, but of JSON.
  ["/", "/"],
  ["N", "\u0085"],
  ["_", "\u00A0"],
  ["L", "\u2028"],
  ["P", "\u2029"],
]);
const CODE_LENGTHS: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

/** The second half of a JSON surrogate pair. */
const SURROGATE_PAIR = /^u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}$/;
const SURROGATE_PAIR_LENGTH = 11;

/** The cursor is after the backslash. */
function readEscape(cursor: YamlCursor): string {
  const letter = cursor.text[cursor.at] ?? "";
  const simple = ESCAPES.get(letter);
  if (simple !== undefined) {
    cursor.at++;
    return simple;
  }
  const length = CODE_LENGTHS.get(letter);
  if (length === undefined) throw cursor.fail("found unknown escape character");
  const digits = cursor.text.slice(cursor.at + 1, cursor.at + 1 + length);
  if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length < length) throw cursor.fail("did not find expected hexdecimal number");
  const pair = SURROGATE_PAIR.exec(cursor.text.slice(cursor.at, cursor.at + SURROGATE_PAIR_LENGTH));
  if (pair !== null) {
    cursor.at += SURROGATE_PAIR_LENGTH;
    return JSON.parse(`"\\${pair[0]}"`) as string;
  }
  const point = Number.parseInt(digits, 16);
  if ((point >= 0xd8_00 && point <= 0xdf_ff) || point > 0x10_ff_ff) throw cursor.fail("found invalid Unicode character escape code");
  cursor.at += 1 + length;
  return String.fromCodePoint(point);
}

interface BlockHeader {
  readonly chomping: "clip" | "strip" | "keep";
  /** 0: that of the first line. */
  readonly increment: number;
}

/** `|` and `>`. The cursor is at the indicator; `parentIndent` is -1 outside of all collections. */
export function readBlockText(
  cursor: YamlCursor,
  { folded, parentIndent }: { readonly folded: boolean; readonly parentIndent: number },
): string {
  const { chomping, increment } = readBlockHeader(cursor);
  let indent = increment === 0 ? 0 : Math.max(parentIndent, 0) + increment;
  const text = new TextBuilder();
  let leadingBreak = "";
  let wasBlank = false;
  let gap = readIndentation(cursor, { indent, parentIndent });
  indent = gap.indent;
  while (cursor.column === indent && !cursor.isAtEnd) {
    const isBlankLine = isBlank(cursor.code());
    const joins = folded && !wasBlank && !isBlankLine && leadingBreak === "\n";
    if (!joins) text.add(leadingBreak);
    else if (gap.breaks === "") text.add(" ");
    text.add(gap.breaks);
    wasBlank = isBlankLine;
    const start = cursor.at;
    cursor.skipLine();
    text.add(cursor.text.slice(start, cursor.at));
    leadingBreak = cursor.isAtEnd ? "" : cursor.readBreak();
    gap = readIndentation(cursor, { indent, parentIndent });
  }
  if (chomping !== "strip") text.add(leadingBreak);
  if (chomping === "keep") text.add(gap.breaks);
  return text.build();
}

function readBlockHeader(cursor: YamlCursor): BlockHeader {
  cursor.at++;
  let chomping: BlockHeader["chomping"] = "clip";
  let increment = 0;
  for (let indicator = 0; indicator < 2; indicator++) {
    const code = cursor.code();
    if (chomping === "clip" && (code === PLUS || code === MINUS)) {
      chomping = code === PLUS ? "keep" : "strip";
    } else if (increment === 0 && code >= ZERO && code <= ZERO + 9) {
      if (code === ZERO) throw cursor.fail("found an indentation indicator equal to 0");
      increment = code - ZERO;
    } else {
      break;
    }
    cursor.at++;
  }
  cursor.skipBlanks();
  if (cursor.code() === HASH) cursor.skipLine();
  if (!isBreakOrEnd(cursor.code())) throw cursor.fail("did not find expected comment or line break");
  if (!cursor.isAtEnd) cursor.readBreak();
  return { chomping, increment };
}

/** Skips empty lines, and the indentation of the next one that is not empty. */
function readIndentation(
  cursor: YamlCursor,
  { indent, parentIndent }: { readonly indent: number; readonly parentIndent: number },
): { readonly breaks: string; readonly indent: number } {
  const breaks = new TextBuilder();
  let deepest = 0;
  for (;;) {
    while ((indent === 0 || cursor.column < indent) && cursor.code() === SPACE) cursor.at++;
    if (cursor.column > deepest) deepest = cursor.column;
    if ((indent === 0 || cursor.column < indent) && cursor.code() === TAB) {
      throw cursor.fail("found a tab character where an indentation space is expected");
    }
    if (!isBreak(cursor.code())) break;
    breaks.add(cursor.readBreak());
  }
  return { breaks: breaks.build(), indent: indent === 0 ? Math.max(deepest, parentIndent + 1, 1) : indent };
}
