/**
 * Walks over tokens for the parser and words its syntax errors as upstream's generated parser does: a token too many is skipped, a missing
 * one is assumed, and anything else ends the parse with "mismatched input".
 */
import type { Issue } from "../contract.ts";
import { END, escapeForDisplay, IDENTIFIER, type Token } from "./lexer.ts";
import type { Source } from "./source.ts";

/** Thrown to end the parse after an error was reported; caught by parse(). */
export class ParseAborted extends Error {
  override readonly name = "ParseAborted";
}

/** Tokens in the order in which messages list them. */
const ORDER = [
  ...["==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*", "/", "%"],
  ...["true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", IDENTIFIER, "ESC_IDENTIFIER"],
];
const NAMED = new Set(["NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", IDENTIFIER, "ESC_IDENTIFIER", END]);

/** What an operand can begin with. */
export const OPERAND: readonly string[] = [
  ...["[", "{", "(", ".", "-", "!", "true", "false", "null"],
  ...["NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", IDENTIFIER],
];
/** What can continue a finished operand. */
const CONTINUATION = new Set([".", "[", "*", "/", "%", "+", "-", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||", "?"]);

export class Cursor {
  readonly #source: Source;
  readonly #tokens: readonly Token[];
  readonly #report: (issue: Issue) => void;
  #at = 0;
  /** What may follow the expressions that are being read, outermost first. */
  readonly #followers: (readonly string[])[] = [[END]];

  constructor(source: Source, tokens: readonly Token[], report: (issue: Issue) => void) {
    this.#source = source;
    this.#tokens = tokens;
    this.#report = report;
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] as Token;
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== END) this.#at++;
    return token;
  }

  is(kind: string): boolean {
    return this.peek().kind === kind;
  }

  take(kind: string): Token | undefined {
    return this.is(kind) ? this.next() : undefined;
  }

  /** Reads with `read`, after which one of these tokens is expected. */
  within<T>(followers: readonly string[], read: () => T): T {
    this.#followers.push(followers);
    try {
      return read();
    } finally {
      this.#followers.pop();
    }
  }

  /** Consumes a token that must come. `thenOperand`: an operand follows it, rather than the rest of the enclosing expression. */
  expect(kind: string, { thenOperand = false }: { readonly thenOperand?: boolean } = {}): Token {
    const token = this.peek();
    if (token.kind === kind) return this.next();
    if (this.peek(1).kind === kind && token.kind !== END) {
      this.#syntaxError(token, `extraneous input ${quote(token)} expecting ${listed([kind])}`);
      this.#at++;
      return this.next();
    }
    if (kind !== END && (thenOperand ? OPERAND.includes(token.kind) : this.#canFollow(token.kind))) {
      this.#syntaxError(token, `missing ${listed([kind])} at ${quote(token)}`);
      return token;
    }
    return this.mismatch([kind]);
  }

  /** Checks that one of these comes next; skips a token before it. */
  expectOneOf(kinds: readonly string[]): void {
    const token = this.peek();
    if (kinds.includes(token.kind)) return;
    if (token.kind !== END && kinds.includes(this.peek(1).kind)) {
      this.#syntaxError(token, `extraneous input ${quote(token)} expecting ${listed(kinds)}`);
      this.#at++;
      return;
    }
    this.mismatch(kinds);
  }

  mismatch(kinds: readonly string[]): never {
    this.#syntaxError(this.peek(), `mismatched input ${quote(this.peek())} expecting ${listed(kinds)}`);
    throw new ParseAborted();
  }

  /** An operand must come. False: it is missing, which was reported, but an operator follows that the parse continues with. */
  expectOperand(): boolean {
    try {
      this.expectOneOf(OPERAND);
      return true;
    } catch (error) {
      if (!(error instanceof ParseAborted) || !this.isOperator()) throw error;
      return false;
    }
  }

  isOperator(): boolean {
    const { kind } = this.peek();
    return CONTINUATION.has(kind) && kind !== "." && kind !== "[";
  }

  /** A token that a repeated prefix cannot be followed by. */
  unwanted(kinds: readonly string[]): never {
    this.#syntaxError(this.peek(), `extraneous input ${quote(this.peek())} expecting ${listed(kinds)}`);
    throw new ParseAborted();
  }

  /** No rule begins with the tokens from `start` to the `ahead`th from here. */
  noAlternative(start: Token, ahead: number): never {
    const offending = this.peek(ahead);
    const end = offending.kind === END ? this.#endOf(this.peek(ahead - 1)) : this.#endOf(offending);
    const text = this.#source.text.slice(start.offset, end);
    const reserved = /^.(true|false|null)$/.exec(text)?.[1];
    this.#syntaxError(
      offending,
      reserved === undefined
        ? `no viable alternative at input '${escapeForDisplay(text)}'`
        : `mismatched input '${reserved}' expecting IDENTIFIER`,
    );
    throw new ParseAborted();
  }

  reportAt(offset: number, message: string): void {
    this.#report(this.#source.issueAt(offset, message));
  }

  #canFollow(kind: string): boolean {
    if (CONTINUATION.has(kind)) return true;
    return this.#followers.at(-1)?.includes(kind) ?? false;
  }

  #endOf(token: Token): number {
    return token.kind === END ? token.offset : token.offset + token.text.length;
  }

  #syntaxError(token: Token, message: string): void {
    this.reportAt(token.offset, `Syntax error: ${message}`);
  }
}

function quote({ text }: Token): string {
  return `'${escapeForDisplay(text)}'`;
}

function listed(kinds: readonly string[]): string {
  const names = kinds.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)).map((kind) => (NAMED.has(kind) ? kind : `'${kind}'`));
  return names.length === 1 ? String(names[0]) : `{${names.join(", ")}}`;
}
