/**
 * Parses Go's regular expressions to a tree, with Go's error messages: the `pattern` of a schema is one, and people read the messages. Only
 * whether and where a text matches is needed, so groups have no numbers. Throws ExpressionError.
 */
import {
  anyButNewLine,
  anyCharacter,
  anyOf,
  foldingCase,
  negated,
  perlCharacters,
  posixCharacters,
  range,
  unicodeCharacters,
  type Characters,
} from "./characters.ts";

export class ExpressionError extends Error {
  override readonly name = "ExpressionError";

  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
  }
}

export type Position = "text start" | "text end" | "line start" | "line end" | "word boundary" | "no word boundary";

export type Expression =
  /** `steps`: cost of evaluating the class for a character, higher for one of many parts. */
  | { readonly is: "characters"; readonly set: Characters; readonly steps: number }
  | { readonly is: "position"; readonly position: Position }
  | { readonly is: "sequence"; readonly parts: readonly Expression[] }
  | { readonly is: "choice"; readonly parts: readonly Expression[] }
  /** `max` undefined: unbounded. Lazy: as few as possible. */
  | {
      readonly is: "repeat";
      readonly part: Expression;
      readonly min: number;
      readonly max: number | undefined;
      readonly isLazy: boolean;
    };

interface Flags {
  readonly foldCase: boolean;
  readonly multiLine: boolean;
  readonly dotMatchesNewLine: boolean;
  readonly swapsGreed: boolean;
}

/** Go's, as are the limits below: what upstream rejects is rejected here. */
const REPEAT_MAX = 1_000;
const NESTING_MAX = 1_000;
const POINT_MAX = 0x10_ffff;
const FOLDING_STEPS = 10;

const FLAGS: ReadonlyMap<string, keyof Flags> = new Map([
  ["i", "foldCase"],
  ["m", "multiLine"],
  ["s", "dotMatchesNewLine"],
  ["U", "swapsGreed"],
]);

export function parseExpression(text: string): Expression {
  return new Parser(text).whole();
}

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  /** Position of the next ":]", so that a pattern full of "[:" is not searched to its end for each. */
  #nextPosixEnd = -1;
  #flags: Flags = { foldCase: false, multiLine: false, dotMatchesNewLine: false, swapsGreed: false };

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Expression {
    const expression = this.#choice();
    if (this.#at < this.#text.length) throw new ExpressionError("unexpected )", this.#text);
    return expression;
  }

  /** Up to the closing parenthesis or the end. */
  #choice(): Expression {
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] as Expression) : { is: "choice", parts };
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    /** Start of the last repetition: two in a row are not allowed. */
    let lastRepeat: number | undefined;
    while (this.#at < this.#text.length && !this.#isNext("|") && !this.#isNext(")")) {
      const start = this.#at;
      const times = this.#repetition();
      if (times === undefined) {
        this.#atoms(parts);
        lastRepeat = undefined;
        continue;
      }
      const isLazy = this.#take("?") !== this.#flags.swapsGreed;
      if (lastRepeat !== undefined) throw new ExpressionError("invalid nested repetition operator", this.#since(lastRepeat));
      const part = parts.pop();
      if (part === undefined) throw new ExpressionError("missing argument to repetition operator", this.#since(start));
      const repeat: Expression = { is: "repeat", part, ...times, isLazy };
      if ((times.max ?? times.min) >= 2 && !isRepeatable(repeat, REPEAT_MAX)) {
        throw new ExpressionError("invalid repeat count", this.#since(start));
      }
      parts.push(repeat);
      lastRepeat = start;
    }
    return parts.length === 1 ? (parts[0] as Expression) : { is: "sequence", parts };
  }

  /** The bounds, if a repetition is next. A brace that is none is literal. */
  #repetition(): { readonly min: number; readonly max: number | undefined } | undefined {
    if (this.#take("*")) return { min: 0, max: undefined };
    if (this.#take("+")) return { min: 1, max: undefined };
    if (this.#take("?")) return { min: 0, max: 1 };
    if (!this.#isNext("{")) return undefined;
    const [braces, low = "", comma, high = ""] = /^\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/.exec(this.#rest().slice(0, 100)) ?? [];
    if (braces === undefined) return undefined;
    this.#at += braces.length;
    const min = Number(low);
    const max = comma === undefined ? min : high === "" ? undefined : Number(high);
    if (min > REPEAT_MAX || (max ?? 0) > REPEAT_MAX || (max ?? min) < min) throw new ExpressionError("invalid repeat count", braces);
    return { min, max };
  }

  /** The next element; none for flags, and several parts for a quotation. */
  #atoms(parts: Expression[]): void {
    if (this.#isNext("(")) {
      const group = this.#group();
      if (group !== undefined) parts.push(group);
    } else if (this.#take("\\Q")) this.#quotation(parts);
    else parts.push(this.#atom());
  }

  #atom(): Expression {
    if (this.#take("^")) return { is: "position", position: this.#flags.multiLine ? "line start" : "text start" };
    if (this.#take("$")) return { is: "position", position: this.#flags.multiLine ? "line end" : "text end" };
    if (this.#take(".")) return { is: "characters", set: this.#flags.dotMatchesNewLine ? anyCharacter : anyButNewLine, steps: 1 };
    if (this.#isNext("[")) return this.#class();
    if (this.#take("\\A")) return { is: "position", position: "text start" };
    if (this.#take("\\z")) return { is: "position", position: "text end" };
    if (this.#take("\\b")) return { is: "position", position: "word boundary" };
    if (this.#take("\\B")) return { is: "position", position: "no word boundary" };
    const set = this.#namedSet() ?? this.#exactly(this.#character());
    return { is: "characters", set, steps: this.#stepsOf(1) };
  }

  #quotation(parts: Expression[]): void {
    const end = this.#text.indexOf("\\E", this.#at);
    const quoted = this.#text.slice(this.#at, end < 0 ? undefined : end);
    for (const character of quoted) {
      parts.push({ is: "characters", set: this.#exactly(character.codePointAt(0) ?? 0), steps: this.#stepsOf(1) });
    }
    this.#at = end < 0 ? this.#text.length : end + 2;
  }

  /** Undefined for a group that only sets flags, which apply until the enclosing group ends. */
  #group(): Expression | undefined {
    const outer = this.#flags;
    if (this.#rest().startsWith("(?")) {
      if (!this.#named() && !this.#flagged()) return undefined;
    } else this.#at++;
    if (++this.#depth > NESTING_MAX) throw new ExpressionError("expression nests too deeply", this.#text);
    const group = this.#choice();
    this.#depth--;
    if (!this.#take(")")) throw new ExpressionError("missing closing )", this.#text);
    this.#flags = outer;
    return { is: "sequence", parts: [group] };
  }

  /** (?P<name> or (?<name> */
  #named(): boolean {
    const rest = this.#rest();
    const opening = rest.length > 4 && rest.startsWith("(?P<") ? 4 : rest.length > 3 && rest.startsWith("(?<") ? 3 : 0;
    if (opening === 0) return false;
    const end = rest.indexOf(">");
    if (end < 0) throw new ExpressionError("invalid named capture", rest);
    if (!/^\w+$/.test(rest.slice(opening, end))) throw new ExpressionError("invalid named capture", rest.slice(0, end + 1));
    this.#at += end + 1;
    return true;
  }

  /** (?i: or (?i); true if a group begins. */
  #flagged(): boolean {
    const start = this.#at;
    this.#at += 2;
    const flags: { -readonly [Name in keyof Flags]: boolean } = { ...this.#flags };
    let value = true;
    let sawFlag = true;
    while (this.#at < this.#text.length) {
      const letter = this.#next();
      if (FLAGS.has(letter)) {
        const name = FLAGS.get(letter);
        if (name !== undefined) flags[name] = value;
        sawFlag = true;
      } else if (letter === "-" && value) {
        value = false;
        sawFlag = false;
      } else if ((letter === ":" || letter === ")") && sawFlag) {
        this.#flags = flags;
        return letter === ":";
      } else break;
    }
    throw new ExpressionError("invalid or unsupported Perl syntax", this.#since(start));
  }

  /** [a-z], [^[:alpha:]\d] */
  #class(): Expression {
    const start = this.#at;
    this.#at++;
    const isNegated = this.#take("^");
    const sets: Characters[] = [];
    while (sets.length === 0 || !this.#isNext("]")) {
      if (this.#at >= this.#text.length) throw new ExpressionError("missing closing ]", this.#text.slice(start));
      sets.push(this.#posix() ?? this.#namedSet() ?? this.#range(start));
    }
    this.#at++;
    const set = anyOf(sets);
    return { is: "characters", set: isNegated ? negated(set) : set, steps: this.#stepsOf(sets.length) };
  }

  #posix(): Characters | undefined {
    const end = this.#isNext("[:") ? this.#posixEnd() : Infinity;
    if (end === Infinity) return undefined;
    const name = this.#text.slice(this.#at, end + 2);
    const isNegated = name.startsWith("[:^");
    const set = posixCharacters(name.slice(isNegated ? "[:^".length : "[:".length, -":]".length));
    if (set === undefined) throw new ExpressionError("invalid character class range", name);
    this.#at = end + 2;
    return isNegated ? negated(this.#folded(set)) : this.#folded(set);
  }

  /** Infinity: none exists. */
  #posixEnd(): number {
    if (this.#nextPosixEnd < this.#at + 2) {
      const found = this.#text.indexOf(":]", this.#at + 2);
      this.#nextPosixEnd = found < 0 ? Infinity : found;
    }
    return this.#nextPosixEnd;
  }

  /** \pL, \p{Greek}, \P{^Greek}, \d */
  #namedSet(): Characters | undefined {
    const rest = this.#rest();
    if (!rest.startsWith("\\")) return undefined;
    if (rest[1] === "p" || rest[1] === "P") return this.#unicodeSet(rest);
    const letter = rest[1] ?? "";
    const set = perlCharacters(letter.toLowerCase());
    if (set === undefined) return undefined;
    this.#at += 2;
    return letter === letter.toLowerCase() ? this.#folded(set) : negated(this.#folded(set));
  }

  #unicodeSet(rest: string): Characters {
    const end = rest[2] === "{" ? rest.indexOf("}") : 1 + String.fromCodePoint(rest.codePointAt(2) ?? 0).length;
    if (end < 0) throw new ExpressionError("invalid character class range", rest);
    const written = rest.slice(0, end + 1);
    const name = rest[2] === "{" ? rest.slice(3, end) : written.slice(2);
    const set = unicodeCharacters(name.replace("^", ""));
    if (set === undefined || name === "") throw new ExpressionError("invalid character class range", written);
    this.#at += written.length;
    const folded = this.#folded(set);
    return (rest[1] === "P") === name.startsWith("^") ? folded : negated(folded);
  }

  #range(classStart: number): Characters {
    const start = this.#at;
    const low = this.#character();
    if (!this.#isNext("-") || this.#isNext("-]") || this.#rest().length < 2) return this.#folded(range(low, low));
    this.#at++;
    if (this.#at >= this.#text.length) throw new ExpressionError("missing closing ]", this.#text.slice(classStart));
    const high = this.#character();
    if (high < low) throw new ExpressionError("invalid character class range", this.#since(start));
    return this.#folded(range(low, high));
  }

  #character(): number {
    return this.#isNext("\\") ? this.#escape() : (this.#next().codePointAt(0) ?? 0);
  }

  #escape(): number {
    const start = this.#at;
    this.#at++;
    if (this.#at >= this.#text.length) throw new ExpressionError("trailing backslash at end of expression", "");
    const rest = this.#rest();
    for (const [form, read] of ESCAPES) {
      const [written, digits = ""] = form.exec(rest) ?? [];
      const point = written === undefined ? undefined : read(digits);
      if (written === undefined || point === undefined || point > POINT_MAX) continue;
      this.#at += written.length;
      return point;
    }
    this.#at += escapeLength(rest);
    throw new ExpressionError("invalid escape sequence", this.#since(start));
  }

  #exactly(point: number): Characters {
    return this.#folded(range(point, point));
  }

  #folded(set: Characters): Characters {
    return this.#flags.foldCase ? foldingCase(set) : set;
  }

  /** Other cases of a character are searched one by one. */
  #stepsOf(sets: number): number {
    return this.#flags.foldCase ? sets * FOLDING_STEPS : sets;
  }

  #rest(): string {
    return this.#text.slice(this.#at);
  }

  #since(start: number): string {
    return this.#text.slice(start, this.#at);
  }

  #isNext(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#isNext(text)) return false;
    this.#at += text.length;
    return true;
  }

  #next(): string {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }
}

const LETTERS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

const ESCAPES: readonly (readonly [RegExp, (digits: string) => number | undefined])[] = [
  [/^([1-7][0-7]{1,2}|0[0-7]{0,2})/, (digits) => Number.parseInt(digits, 8)],
  [/^x([0-9a-fA-F]{2})/, (digits) => Number.parseInt(digits, 16)],
  [/^x\{([0-9a-fA-F]+)\}/, (digits) => Number.parseInt(digits, 16)],
  [/^([afnrtv])/, (letter) => LETTERS[letter]],
  // An escaped character other than a letter or digit is literal.
  // oxlint-disable-next-line no-control-regex
  [/^([\u0000-\u007f])/, (character) => (/[0-9A-Za-z]/.test(character) ? undefined : character.charCodeAt(0))],
];

/** How much of a malformed escape Go quotes. */
function escapeLength(rest: string): number {
  const digits = /^x\{([0-9a-fA-F]*)/.exec(rest)?.[1];
  if (digits === undefined) return (/^x.?.?/su.exec(rest)?.[0] ?? String.fromCodePoint(rest.codePointAt(0) ?? 0)).length;
  const tooLarge = Array.from(digits, (_, index) => index + 1).find((length) => Number.parseInt(digits.slice(0, length), 16) > POINT_MAX);
  return tooLarge === undefined ? (/^x\{[0-9a-fA-F]*.?/su.exec(rest)?.[0].length ?? 0) : "x{".length + tooLarge;
}

/** True if nested repetitions make at most `copies` of the innermost element. */
function isRepeatable(expression: Expression, copies: number): boolean {
  switch (expression.is) {
    case "repeat": {
      const { min, max = min, part } = expression;
      if (max === 0 || isSimple(expression)) return max === 0 || isRepeatable(part, copies);
      return max <= copies && isRepeatable(part, Math.floor(copies / Math.max(max, 1)));
    }
    case "sequence":
    case "choice":
      return expression.parts.every((part) => isRepeatable(part, copies));
    default:
      return true;
  }
}

/** `*`, `+` and `?` count as one copy. */
function isSimple({ min, max }: { readonly min: number; readonly max: number | undefined }): boolean {
  return min <= 1 && (max === undefined || max === 1);
}
