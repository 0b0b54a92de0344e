/**
 * Splits YAML text into tokens as go-yaml's scanner does: indentation becomes block starts and ends, and a text, list or map becomes a key
 * when a colon follows on the same line. The lookahead for that is at most 1,024 characters, so the scanner needs little memory for any
 * document and runs in linear time.
 */
import { BYTE_ORDER_MARK, COLON, HASH, isBlank, isBlankOrEnd, isBreak, SPACE, TAB, YamlCursor } from "./cursor.ts";
import { readBlockText, readPlain, readQuoted } from "./text.ts";

export type TokenKind =
  | "end of stream"
  | "directive"
  | "document start"
  | "document end"
  | "block sequence"
  | "block mapping"
  | "block end"
  | "["
  | "]"
  | "{"
  | "}"
  | "-"
  | ","
  | "key"
  | "value"
  | "alias"
  | "anchor"
  | "tag"
  | "scalar";

export interface Token {
  readonly kind: TokenKind;
  /** Its start, from 0. */
  readonly line: number;
  /** The name of an alias or anchor, the handle of a tag, the text of a scalar, the line of a directive. */
  readonly text: string;
  /** Suffix of a tag. */
  readonly suffix?: string;
  /** A plain scalar: neither quoted nor a block. */
  readonly isPlain?: boolean;
}

/** A possible simple key: it is one if a colon follows. */
interface PossibleKey {
  /** Number of its first token, from the beginning of the document. */
  readonly token: number;
  readonly at: number;
  readonly line: number;
  readonly column: number;
  /** It begins in the column of the block's keys, so it must be one. */
  readonly required: boolean;
}

/** YAML's own limit. */
const KEY_LENGTH_MAX = 1_024;

const FLOW_BRACKETS: ReadonlyMap<number, "[" | "]" | "{" | "}"> = new Map([
  [0x5b, "["],
  [0x5d, "]"],
  [0x7b, "{"],
  [0x7d, "}"],
]);

const COMMA = 0x2c;
const DASH = 0x2d;
const QUESTION = 0x3f;
const PERCENT = 0x25;
const STAR = 0x2a;
const AMPERSAND = 0x26;
const EXCLAMATION = 0x21;
const PIPE = 0x7c;
const GREATER = 0x3e;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;

export class YamlScanner {
  readonly #cursor: YamlCursor;
  readonly #queue: Token[] = [];
  /** Number of tokens taken from the queue. */
  #taken = 0;
  #isEnded = false;
  #flowLevel = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  #keyAllowed = true;
  /** One per flow level, and one for the block around them. */
  readonly #possibleKeys: (PossibleKey | undefined)[] = [undefined];
  /** The same by their tokens. */
  readonly #keyTokens = new Map<number, PossibleKey>();

  constructor(text: string) {
    this.#cursor = new YamlCursor(text);
  }

  /** Peeks at the next token. Throws a YamlError. */
  peek(): Token {
    while (!this.#isEnded && this.#needsMore()) this.#fetch();
    return this.#queue[0] as Token;
  }

  /** Consumes the peeked token. After the end of the stream there is no other. */
  take(): Token {
    const token = this.peek();
    if (token.kind !== "end of stream") {
      this.#queue.shift();
      this.#taken++;
    }
    return token;
  }

  /** The token at the head may turn out to be the start of a key, whose token precedes it. */
  #needsMore(): boolean {
    if (this.#queue.length === 0) return true;
    const key = this.#keyTokens.get(this.#taken);
    return key !== undefined && this.#isStillPossible(key);
  }

  #isStillPossible(key: PossibleKey): boolean {
    const { line, at } = this.#cursor;
    if (key.line === line && at <= key.at + KEY_LENGTH_MAX) return true;
    if (key.required) throw this.#cursor.fail("could not find expected ':'", key.line);
    return false;
  }

  #fetch(): void {
    this.#skipToToken();
    const cursor = this.#cursor;
    this.#unroll(cursor.column);
    if (cursor.isAtEnd) return this.#fetchEnd();
    if (cursor.column === 0) {
      if (cursor.code() === PERCENT) return this.#fetchDirective();
      if (cursor.isAtDocumentMark("---")) return this.#fetchDocumentMark("document start");
      if (cursor.isAtDocumentMark("...")) return this.#fetchDocumentMark("document end");
    }
    this.#fetchContent(cursor.code());
  }

  #fetchContent(code: number): void {
    const cursor = this.#cursor;
    const isFollowedByBlank = isBlankOrEnd(cursor.code(1));
    const bracket = FLOW_BRACKETS.get(code);
    if (bracket !== undefined) return this.#fetchBracket(bracket);
    if (code === COMMA) return this.#fetchComma();
    if (code === DASH && isFollowedByBlank) return this.#fetchDash();
    const isIndicator = this.#flowLevel > 0 || isFollowedByBlank;
    if (code === QUESTION && isIndicator) return this.#fetchQuestion();
    if (code === COLON && isIndicator) return this.#fetchColon();
    if (code === STAR || code === AMPERSAND) return this.#fetchAnchor(code === STAR ? "alias" : "anchor");
    if (code === EXCLAMATION) return this.#fetchTag();
    if ((code === PIPE || code === GREATER) && this.#flowLevel === 0) return this.#fetchBlockText(code === GREATER);
    if (code === QUOTE || code === APOSTROPHE) return this.#fetchQuoted();
    if (!this.#mayStartPlain(code)) throw cursor.fail("found character that cannot start any token");
    this.#fetchPlain();
  }

  #mayStartPlain(code: number): boolean {
    if (code === DASH) return !isBlank(this.#cursor.code(1));
    if (code === QUESTION || code === COLON) return this.#flowLevel === 0;
    return !isBlankOrEnd(code) && !NOT_PLAIN.has(code);
  }

  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      if (cursor.column === 0 && cursor.code() === BYTE_ORDER_MARK) cursor.at++;
      // A tab must not count as indentation.
      const tabsCount = this.#flowLevel > 0 || !this.#keyAllowed;
      while (cursor.code() === SPACE || (tabsCount && cursor.code() === TAB)) cursor.at++;
      if (cursor.code() === HASH) cursor.skipLine();
      if (!isBreak(cursor.code())) return;
      cursor.readBreak();
      if (this.#flowLevel === 0) this.#keyAllowed = true;
    }
  }

  // ── indentation and keys ──

  #push(kind: TokenKind, line = this.#cursor.line, text = ""): void {
    this.#queue.push({ kind, line, text });
  }

  /** Begins a block if the column is right of the enclosing block. `before`: number of the token that it precedes. */
  #roll(column: number, kind: "block sequence" | "block mapping", before?: PossibleKey): void {
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    const token = { kind, line: before?.line ?? this.#cursor.line, text: "" };
    if (before === undefined) this.#queue.push(token);
    else this.#queue.splice(before.token - this.#taken, 0, token);
  }

  /** Ends the blocks that are right of the column. */
  #unroll(column: number): void {
    if (this.#flowLevel > 0) return;
    while (this.#indent > column) {
      this.#push("block end");
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #saveKey(): void {
    if (!this.#keyAllowed) return;
    this.#dropKey();
    const { at, line, column } = this.#cursor;
    const required = this.#flowLevel === 0 && this.#indent === column;
    const key = { token: this.#taken + this.#queue.length, at, line, column, required };
    this.#possibleKeys[this.#possibleKeys.length - 1] = key;
    this.#keyTokens.set(key.token, key);
  }

  #dropKey(): void {
    const key = this.#possibleKeys.at(-1);
    if (key === undefined) return;
    if (key.required) throw this.#cursor.fail("could not find expected ':'", key.line);
    this.#forgetKey(key);
  }

  #forgetKey(key: PossibleKey): void {
    this.#possibleKeys[this.#possibleKeys.length - 1] = undefined;
    this.#keyTokens.delete(key.token);
  }

  // ── tokens ──

  #fetchEnd(): void {
    this.#cursor.endLastLine();
    this.#unroll(-1);
    this.#dropKey();
    this.#keyAllowed = false;
    this.#push("end of stream");
    this.#isEnded = true;
  }

  #fetchDirective(): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#keyAllowed = false;
    const cursor = this.#cursor;
    const start = cursor.at;
    cursor.skipLine();
    this.#push("directive", cursor.line, cursor.text.slice(start, cursor.at));
  }

  #fetchDocumentMark(kind: "document start" | "document end"): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#keyAllowed = false;
    this.#push(kind);
    this.#cursor.at += 3;
  }

  #fetchBracket(bracket: "[" | "]" | "{" | "}"): void {
    const opens = bracket === "[" || bracket === "{";
    if (opens) {
      this.#saveKey();
      this.#possibleKeys.push(undefined);
      this.#flowLevel++;
    } else {
      this.#dropKey();
      if (this.#flowLevel > 0) {
        this.#flowLevel--;
        this.#possibleKeys.pop();
      }
    }
    this.#keyAllowed = opens;
    this.#push(bracket);
    this.#cursor.at++;
  }

  #fetchComma(): void {
    this.#dropKey();
    this.#keyAllowed = true;
    this.#push(",");
    this.#cursor.at++;
  }

  #fetchDash(): void {
    if (this.#flowLevel === 0) {
      if (!this.#keyAllowed) throw this.#cursor.fail("block sequence entries are not allowed in this context");
      this.#roll(this.#cursor.column, "block sequence");
    }
    this.#dropKey();
    this.#keyAllowed = true;
    this.#push("-");
    this.#cursor.at++;
  }

  #fetchQuestion(): void {
    if (this.#flowLevel === 0) {
      if (!this.#keyAllowed) throw this.#cursor.fail("mapping keys are not allowed in this context");
      this.#roll(this.#cursor.column, "block mapping");
    }
    this.#dropKey();
    this.#keyAllowed = this.#flowLevel === 0;
    this.#push("key");
    this.#cursor.at++;
  }

  #fetchColon(): void {
    const key = this.#possibleKeys.at(-1);
    if (key !== undefined && this.#isStillPossible(key)) {
      this.#queue.splice(key.token - this.#taken, 0, { kind: "key", line: key.line, text: "" });
      this.#roll(key.column, "block mapping", key);
      this.#forgetKey(key);
      this.#keyAllowed = false;
    } else {
      if (key !== undefined) this.#forgetKey(key);
      if (this.#flowLevel === 0) {
        if (!this.#keyAllowed) throw this.#cursor.fail("mapping values are not allowed in this context");
        this.#roll(this.#cursor.column, "block mapping");
      }
      this.#keyAllowed = this.#flowLevel === 0;
    }
    this.#push("value");
    this.#cursor.at++;
  }

  #fetchAnchor(kind: "alias" | "anchor"): void {
    this.#saveKey();
    this.#keyAllowed = false;
    const cursor = this.#cursor;
    const start = ++cursor.at;
    while (isNameCharacter(cursor.code())) cursor.at++;
    const name = cursor.text.slice(start, cursor.at);
    if (name === "" || !(isBlankOrEnd(cursor.code()) || "?:,]}%@`".includes(cursor.text[cursor.at] ?? ""))) {
      throw cursor.fail("did not find expected alphabetic or numeric character");
    }
    this.#push(kind, cursor.line, name);
  }

  /** `!<tag:x>`, `!suffix`, `!!suffix` and `!handle!suffix`. */
  #fetchTag(): void {
    this.#saveKey();
    this.#keyAllowed = false;
    const cursor = this.#cursor;
    const { line } = cursor;
    TAG.lastIndex = cursor.at;
    const [whole = "!", verbatim, name, rest = ""] = TAG.exec(cursor.text) ?? [];
    cursor.at += whole.length;
    if (verbatim === undefined && rest === "" && name !== undefined) throw cursor.fail("did not find expected tag URI");
    if (!isBlankOrEnd(cursor.code())) throw cursor.fail("did not find expected whitespace or line break");
    const isWhole = verbatim !== undefined || whole === "!";
    this.#queue.push({ kind: "tag", line, text: isWhole ? "" : `!${name ?? ""}`, suffix: decoded(verbatim ?? (isWhole ? "!" : rest)) });
  }

  #fetchBlockText(folded: boolean): void {
    this.#dropKey();
    this.#keyAllowed = true;
    const { line } = this.#cursor;
    const text = readBlockText(this.#cursor, { folded, parentIndent: this.#indent });
    this.#push("scalar", line, text);
  }

  #fetchQuoted(): void {
    this.#saveKey();
    this.#keyAllowed = false;
    const { line } = this.#cursor;
    this.#push("scalar", line, readQuoted(this.#cursor));
  }

  #fetchPlain(): void {
    this.#saveKey();
    this.#keyAllowed = false;
    const { line } = this.#cursor;
    const { text, endsLine } = readPlain(this.#cursor, { indent: this.#indent + 1, inFlow: this.#flowLevel > 0 });
    this.#queue.push({ kind: "scalar", line, text, isPlain: true });
    if (endsLine) this.#keyAllowed = true;
  }
}

/** URI characters with a special meaning. */
const NOT_PLAIN: ReadonlySet<number> = new Set(Array.from(",[]{}#&*!|>'\"%@`", (character) => character.charCodeAt(0)));

const TAG = /!(?:<([\w\-;/?:@&=+$,.!~*'()[\]%]+)>|([\w-]*!)?([\w\-;/?:@&=+$,.!~*'()[\]%]*))/y;

function isNameCharacter(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code === DASH
  );
}

/** "%41" of a tag. A malformed escape is kept: it makes the tag unknown, and an unknown tag means text. */
function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
