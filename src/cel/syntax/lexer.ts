/**
 * Splits an expression into tokens. The longest token wins, as in the grammar; text that no token begins with is reported and skipped with
 * upstream's messages. Not here: the meaning of literals (literals.ts).
 */
import type { Source } from "./source.ts";
import type { Issue } from "../contract.ts";

/** Punctuation and keywords are their own names; the rest are named as in messages. */
export type TokenKind = string;

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly offset: number;
}

export const END = "<EOF>";
export const IDENTIFIER = "IDENTIFIER";
export const ESCAPED_IDENTIFIER = "ESC_IDENTIFIER";

const SPACE = /[\t \r\n\f]+|\/\/[^\n]*/y;
const OPERATOR = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const ESCAPED = /`[A-Za-z0-9_.\-/ ]+`/y;
const NUMBERS: readonly (readonly [RegExp, TokenKind])[] = [
  [/(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y, "NUM_FLOAT"],
  [/(?:0x[0-9a-fA-F]+|\d+)[uU]/y, "NUM_UINT"],
  [/0x[0-9a-fA-F]+|\d+/y, "NUM_INT"],
];
const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?${"`"}]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
const STRING = new RegExp(
  [
    String.raw`[rR]"""[^]*?"""`,
    String.raw`[rR]'''[^]*?'''`,
    String.raw`"""(?:${ESCAPE}|[^\\])*?"""`,
    String.raw`'''(?:${ESCAPE}|[^\\])*?'''`,
    String.raw`[rR]"[^"\n\r]*"`,
    String.raw`[rR]'[^'\n\r]*'`,
    String.raw`"(?:${ESCAPE}|[^\\"\n\r])*"`,
    String.raw`'(?:${ESCAPE}|[^\\'\n\r])*'`,
  ].join("|"),
  "uy",
);
const KEYWORDS = new Set(["in", "true", "false", "null"]);
/** A string that is not closed, up to and including the character that cannot continue it. */
const BROKEN_STRING = new RegExp(
  String.raw`(["'])(?:${ESCAPE}|(?!\1)[^\\\n\r])*(?:\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?)?[^]?`,
  "uy",
);

export function tokenize(source: Source, report: (issue: Issue) => void): Token[] {
  const { text } = source;
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const space = matchAt(SPACE, text, at);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const token = tokenAt(text, at);
    if (token === undefined) {
      const broken = brokenAt(text, at);
      report(source.issueAt(at, `Syntax error: token recognition error at: '${broken}'`));
      at += broken.length;
      continue;
    }
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: END, text: END, offset: text.length });
  return tokens;
}

function tokenAt(text: string, offset: number): Token | undefined {
  const string = stringAt(text, offset);
  if (string !== undefined) return string;
  for (const [pattern, kind] of NUMBERS) {
    const number = matchAt(pattern, text, offset);
    if (number !== undefined) return { kind, text: number, offset };
  }
  const word = matchAt(WORD, text, offset);
  if (word !== undefined) return { kind: KEYWORDS.has(word) ? word : IDENTIFIER, text: word, offset };
  const escaped = matchAt(ESCAPED, text, offset);
  if (escaped !== undefined) return { kind: ESCAPED_IDENTIFIER, text: escaped, offset };
  const operator = matchAt(OPERATOR, text, offset);
  return operator === undefined ? undefined : { kind: operator, text: operator, offset };
}

function stringAt(text: string, offset: number): Token | undefined {
  const isBytes = text[offset] === "b" || text[offset] === "B";
  const string = matchAt(STRING, text, isBytes ? offset + 1 : offset);
  if (string === undefined) return undefined;
  return isBytes
    ? { kind: "BYTES", text: text.slice(offset, offset + 1 + string.length), offset }
    : { kind: "STRING", text: string, offset };
}

/** What the lexer of upstream quotes: it reads until no token can match any more, and skips the character that showed it. */
function brokenAt(text: string, offset: number): string {
  const string = matchAt(BROKEN_STRING, text, offset);
  if (string !== undefined) return string;
  const first = String.fromCodePoint(text.codePointAt(offset) ?? 0);
  const mayContinue = first === "=" || first === "&" || first === "|";
  if (first === "`") return /`[A-Za-z0-9_.\-/ ]*[^]?/uy.exec(text.slice(offset))?.[0] ?? first;
  const next = text.codePointAt(offset + first.length);
  return mayContinue && next !== undefined ? first + String.fromCodePoint(next) : first;
}

function matchAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}

export function escapeForDisplay(text: string): string {
  return text.replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}
