/**
 * Validates JSONPath as kubectl reads it ("{.spec.containers[0].name}"), with the same error messages. Nothing is evaluated here: the
 * server only validates the fields that hold such a path.
 */
import { withoutLeading, withoutTrailing } from "../../../base/text.ts";

class JsonPathError extends Error {
  override readonly name = "JsonPathError";
}

/** Maximum nesting of unions and filters, which contain paths of their own; protects the stack. */
const DEPTH_MAX = 100;

/** Undefined if the path is valid. */
export function jsonPathProblem(text: string): string | undefined {
  try {
    checkTemplate(text, 0);
    return undefined;
  } catch (error) {
    if (error instanceof JsonPathError) return error.message;
    throw error;
  }
}

/** Text with paths in braces. */
function checkTemplate(text: string, depth: number): void {
  if (depth > DEPTH_MAX) throw new JsonPathError(`too deep: more than ${DEPTH_MAX} paths within each other`);
  const reader = new ActionReader(text, depth);
  while (reader.skipTo("{")) reader.checkAction();
}

/** The part of a path between braces, inside of a list or of a filter. */
function checkAction(text: string, depth: number): void {
  checkTemplate(`{${text}}`, depth + 1);
}

const TERMINATOR = /^[ \t\r\n.,[\]$@{}]$/;
const SLICE = /^(-?[0-9]*)(?::(-?[0-9]*))?(?::(-?[0-9]*))?$/;
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+?)$/;
const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)$/;
const ESCAPED = "[abfnrtv\\\\]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}";
const QUOTED = {
  '"': new RegExp(`^(?:[^\\\\"]|\\\\(?:"|${ESCAPED}))*$`),
  "'": new RegExp(`^(?:[^\\\\']|\\\\(?:'|${ESCAPED}))*$`),
} as const;

class ActionReader {
  readonly #characters: readonly string[];
  readonly #depth: number;
  #at = 0;
  /** True if the last segment was "..": two in a row are invalid. */
  #afterRecursion = false;

  constructor(text: string, depth: number) {
    this.#characters = Array.from(text);
    this.#depth = depth;
  }

  /** Moves after the next one; false if none exists. */
  skipTo(character: string): boolean {
    const found = this.#characters.indexOf(character, this.#at);
    this.#at = found + 1;
    return found >= 0;
  }

  checkAction(): void {
    this.#afterRecursion = false;
    while (!this.#take("}")) this.#checkStep();
  }

  #checkStep(): void {
    if (this.#take("[?(")) return this.#checkFilter();
    if (this.#take("..")) return this.#checkRecursion();
    const character = this.#next();
    if (character === undefined || character === "\n" || character === "\r") throw new JsonPathError("unclosed action");
    if (character === " " || character === "@" || character === "$") return;
    this.#afterRecursion = false;
    if (character === "[") this.#checkList();
    else if (character === '"' || character === "'") this.#checkQuoted(character);
    else if (character === ".") this.#skipField();
    else if (/^[+\-\p{Nd}]$/u.test(character)) this.#checkNumber(character);
    else if (/^[_\p{L}]$/u.test(character)) this.#skipWhile((next) => !TERMINATOR.test(next));
    else throw new JsonPathError(`unrecognized character in action: ${describeCharacter(character)}`);
  }

  #checkRecursion(): void {
    if (this.#afterRecursion) throw new JsonPathError("invalid multiple recursive descent");
    this.#afterRecursion = true;
    if (!/^[_\p{L}\p{Nd}]$/u.test(this.#characters[this.#at] ?? "")) return;
    this.#skipField();
    this.#afterRecursion = false;
  }

  #skipField(): void {
    this.#skipWhile((next) => {
      if (next === "\\") this.#at++;
      return next === "\\" || !TERMINATOR.test(next);
    });
  }

  #checkNumber(first: string): void {
    const number = first + this.#skipWhile((next) => /^[.\p{Nd}]$/u.test(next));
    if (!NUMBER.test(number)) throw new JsonPathError(`cannot parse number ${number}`);
  }

  #checkList(): void {
    const inside = this.#upTo("]", "unterminated array");
    const parts = inside.split(",");
    if (parts.length > 1) {
      for (const part of parts) checkAction(`[${withoutLeading(withoutTrailing(part, " "), " ")}]`, this.#depth);
      return;
    }
    const key = /^'([^']*)'$/.exec(inside)?.[1];
    if (key !== undefined) return checkAction(`.${key}`, this.#depth);
    const indexes = SLICE.exec(inside === "*" ? ":" : inside);
    if (indexes === null) throw new JsonPathError(`invalid array index ${inside}`);
    const wrong = indexes.slice(1).find((index: string | undefined) => index === "-");
    if (wrong !== undefined) throw new JsonPathError(`array index ${wrong} is not a number`);
  }

  /** Up to a bracket outside of quotes; there is at most one quoted text, on the right. */
  #checkFilter(): void {
    this.#afterRecursion = false;
    const start = this.#at;
    let quote: string | undefined;
    let isClosed = false;
    for (;;) {
      const character = this.#next();
      if (character === undefined || character === "\n") throw new JsonPathError("unterminated filter");
      if (character === ")" && (quote === undefined || isClosed)) break;
      if (character !== '"' && character !== "'") continue;
      if (quote === undefined) quote = character;
      else if (character === quote && this.#characters[this.#at - 2] !== "\\") isClosed = true;
    }
    const text = this.#characters.slice(start, this.#at - 1).join("");
    if (!this.#take("]")) throw new JsonPathError("unclosed array expect ]");
    const [, left, , right] = COMPARISON.exec(text) ?? [];
    for (const side of left === undefined || right === undefined ? [text] : [left, right]) checkAction(side, this.#depth);
  }

  #checkQuoted(quote: '"' | "'"): void {
    const start = this.#at - 1;
    do this.#upTo(quote, "unterminated quoted string");
    while (this.#characters[this.#at - 2] === "\\");
    const text = this.#characters.slice(start, this.#at).join("");
    if (!QUOTED[quote].test(text.slice(1, -1))) throw new JsonPathError(`unquote string ${text} error invalid syntax`);
  }

  #next(): string | undefined {
    return this.#characters[this.#at++];
  }

  #take(text: string): boolean {
    const isHere = Array.from(text).every((character, offset) => this.#characters[this.#at + offset] === character);
    if (isHere) this.#at += text.length;
    return isHere;
  }

  #skipWhile(test: (character: string) => boolean): string {
    const start = this.#at;
    for (; this.#at < this.#characters.length; this.#at++) if (!test(this.#characters[this.#at] ?? "")) break;
    return this.#characters.slice(start, this.#at).join("");
  }

  /** The text before the next such character, which is skipped; it must be on this line. */
  #upTo(end: string, otherwise: string): string {
    const text = this.#skipWhile((character) => character !== end && character !== "\n");
    if (this.#next() !== end) throw new JsonPathError(otherwise);
    return text;
  }
}

/** "U+0021 '!'": Go's format. */
function describeCharacter(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")} '${character}'`;
}
