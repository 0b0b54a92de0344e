/**
 * Exact JSON parser: finds what `JSON.parse` ignores (duplicate members, digits lost beyond 2^53, numbers out of range) and reports
 * malformed text with the messages of Go's encoding/json, which clients of Kubernetes see. It is several times slower than `JSON.parse`;
 * json.ts uses it only where that does not suffice.
 *
 * With a schema it follows upstream's decoder: it also finds unknown fields, and does not look into those or into free-form values. Both
 * kinds of mistakes are then listed in document order, as upstream does.
 */
import type { Json } from "../object.ts";
import type { Schema } from "../schema.ts";
import { detached } from "./detached.ts";
import { setMember } from "./set-member.ts";
import { quoteByte } from "./go-text.ts";

/** Maximum nesting of objects and lists. The deepest real objects (schemas of custom resources) have about 60 levels. */
export const DEPTH_MAX = 1_000;

/** The text is not JSON. The message is Go's. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

/** Maximum number of reported mistakes per body, as upstream. */
export const MISTAKES_MAX = 100;

/** A mistake that strict decoding reports. */
export interface FieldMistake {
  readonly what: "unknown" | "duplicate";
  /** "spec.containers[0].foo". */
  readonly path: string;
}

/**
 * Numbers with a non-canonical spelling, by their path: "1.0" and "1e2" are no integers upstream. Only the first LITERALS_MAX of a body are
 * kept; absent: none exist.
 */
export type NumberLiterals = ReadonlyMap<string, string>;

/** A body with more of them in integer fields is rejected at the first anyway. */
const LITERALS_MAX = 1_000;

export interface ExactJson {
  readonly value: Json;
  readonly literals?: NumberLiterals;
  /** In document order, each once. */
  readonly mistakes: readonly FieldMistake[];
}

/** Without a schema there are no unknown fields, and every duplicate member is a mistake. */
export function parseExactly(text: string, schema?: Schema): ExactJson {
  const reader = new JsonReader(text, schema);
  reader.advance(Infinity);
  return reader.result();
}

/** Free-form value in which duplicates are reported. */
const EVERYTHING = Symbol("everything");
/** The value of an unknown field, which is dropped. */
const NOTHING = Symbol("nothing");
/** `undefined`: upstream does not look into this part. */
type Guide = Schema | typeof EVERYTHING | typeof NOTHING | undefined;

/** An incomplete object or list. */
interface Open {
  readonly members: Record<string, Json> | undefined;
  readonly items: Json[] | undefined;
  readonly guide: Guide;
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;

/** Incremental parser with an explicit stack, so that it can pause after any value. */
export class JsonReader {
  readonly #mistakes: FieldMistake[] = [];
  readonly #literals = new Map<string, string>();
  readonly #seen = new Set<string>();
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  readonly #stack: Open[] = [];
  #at = 0;
  #expects: "value" | "first key" | "key" | "first item" | "next" | "end" = "value";
  /** Schema of the next value. */
  #guide: Guide;
  #root: Json = null;

  constructor(text: string, schema?: Schema) {
    this.#text = text;
    this.#guide = schema ?? EVERYTHING;
  }

  /** Parses about this many characters. Returns true at the end of the text. Throws a JsonSyntaxError. */
  advance(charactersMax: number): boolean {
    const end = this.#at + charactersMax;
    do {
      this.#step();
    } while (this.#expects !== "end" && this.#at < end);
    return this.#expects === "end";
  }

  /** After the end. */
  result(): ExactJson {
    return { value: this.#root, mistakes: this.#mistakes, ...(this.#literals.size === 0 ? {} : { literals: this.#literals }) };
  }

  #step(): void {
    const next = this.#skipSpace();
    switch (this.#expects) {
      case "first key":
        return next === "}" ? this.#close() : this.#key(next);
      case "key":
        return this.#key(next);
      case "first item":
        return next === "]" ? this.#close() : this.#item(0);
      case "next":
        return this.#next(next);
      default:
        return this.#value(next);
    }
  }

  #value(first: string | undefined): void {
    switch (first) {
      case "{":
        return this.#open({ members: {}, items: undefined, guide: this.#guide }, "first key");
      case "[":
        return this.#open({ members: undefined, items: [], guide: this.#guide }, "first item");
      case '"':
        return this.#complete(this.#string());
      case "t":
        return this.#complete(this.#word("true", true));
      case "f":
        return this.#complete(this.#word("false", false));
      case "n":
        return this.#complete(this.#word("null", null));
      default:
        if (first === "-" || (first !== undefined && isDigit(first.charCodeAt(0)))) return this.#complete(this.#number());
        throw this.#unexpected("looking for beginning of value");
    }
  }

  #open(open: Open, expects: "first key" | "first item"): void {
    if (this.#stack.length >= DEPTH_MAX) throw this.#unexpected("exceeded max depth");
    this.#stack.push(open);
    this.#at++;
    this.#expects = expects;
  }

  #close(): void {
    const { members, items } = this.#stack.pop() as Open;
    this.#at++;
    this.#complete(members ?? (items as Json));
  }

  #complete(value: Json): void {
    const parent = this.#stack.at(-1);
    if (parent === undefined) {
      this.#root = value;
      if (this.#skipSpace() !== undefined) throw this.#unexpected("after top-level value");
      this.#expects = "end";
      return;
    }
    const at = this.#path.pop();
    this.#expects = "next";
    if (parent.guide === NOTHING) return;
    if (parent.items !== undefined) parent.items.push(value);
    else if (!this.#isDropped) setMember(parent.members as Record<string, Json>, at as string, value);
    this.#isDropped = false;
  }

  /** The next complete member is unknown. Unknown members inside of it are not inspected, so there is one at a time. */
  #isDropped = false;

  #key(next: string | undefined): void {
    if (next !== '"') throw this.#unexpected("looking for beginning of object key string");
    const key = this.#string();
    if (this.#skipSpace() !== ":") throw this.#unexpected("after object key");
    this.#at++;
    const { guide, members } = this.#stack.at(-1) as Open;
    this.#guide = this.#guideOfMember(key, guide, members as Record<string, Json>);
    this.#isDropped ||= this.#guide === NOTHING;
    this.#path.push(key);
    this.#expects = "value";
  }

  #item(index: number): void {
    const { guide } = this.#stack.at(-1) as Open;
    this.#guide = isSchema(guide) ? (guide.type === "list" ? guide.items : undefined) : guide;
    this.#path.push(index);
    this.#expects = "value";
  }

  #next(next: string | undefined): void {
    const { items } = this.#stack.at(-1) as Open;
    if (next === (items === undefined ? "}" : "]")) return this.#close();
    if (next !== ",") throw this.#unexpected(items === undefined ? "after object key:value pair" : "after array element");
    this.#at++;
    if (items === undefined) this.#expects = "key";
    else this.#item(items.length);
  }

  /** Records mistakes of the member's name, and returns the schema of its value. */
  #guideOfMember(key: string, guide: Guide, members: Readonly<Record<string, Json>>): Guide {
    if (guide === undefined || guide === NOTHING) return guide;
    if (isSchema(guide)) {
      if (guide.type !== "object" && guide.type !== "map") return undefined;
      if (guide.type === "object" && !guide.fields.has(key) && guide.preserveUnknownFields !== true) {
        this.#note("unknown", key);
        return NOTHING;
      }
    }
    if (Object.hasOwn(members, key)) this.#note("duplicate", key);
    if (guide === EVERYTHING) return EVERYTHING;
    return guide.type === "map" ? guide.values : guide.type === "object" ? (guide.fields.get(key)?.schema ?? EVERYTHING) : undefined;
  }

  #note(what: FieldMistake["what"], key: string): void {
    if (this.#mistakes.length >= MISTAKES_MAX) return;
    const path = pathText([...this.#path, key]);
    const once = `${what} ${path}`;
    if (this.#seen.has(once)) return;
    this.#seen.add(once);
    this.#mistakes.push({ what, path });
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let plain = true;
    for (let at = start + 1; ; at++) {
      const code = text.charCodeAt(at);
      this.#at = at;
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        plain = false;
        at = this.#escape(at + 1);
      } else if (!(code >= 0x20)) {
        throw this.#unexpected("in string literal");
      }
    }
    this.#at++;
    // The quoted text is known to be well formed; JSON.parse is the fastest way to resolve its escapes.
    const value = plain ? detached(text.slice(start + 1, this.#at - 1)) : (JSON.parse(text.slice(start, this.#at)) as string);
    return value.toWellFormed();
  }

  /** Validates the escape whose letter is at `at`; returns the index of its last character. */
  #escape(at: number): number {
    this.#at = at;
    const letter = this.#text[at];
    if (letter === undefined || !'"\\/bfnrtu'.includes(letter)) throw this.#unexpected("in string escape code");
    if (letter !== "u") return at;
    for (let digit = 1; digit <= 4; digit++) {
      this.#at = at + digit;
      if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? "")) throw this.#unexpected("in \\u hexadecimal character escape");
    }
    return at + 4;
  }

  #word<T>(word: string, value: T): T {
    for (const letter of word) {
      if (this.#text[this.#at] !== letter) throw this.#unexpected(`in literal ${word} (expecting '${letter}')`);
      this.#at++;
    }
    return value;
  }

  #number(): number | bigint {
    const start = this.#at;
    if (this.#code() === MINUS) this.#at++;
    if (this.#code() === ZERO) this.#at++;
    else this.#digits("in numeric literal");
    const wholeEnd = this.#at;
    if (this.#text[this.#at] === ".") {
      this.#at++;
      this.#digits("after decimal point in numeric literal");
    }
    if (/^[eE]$/.test(this.#text[this.#at] ?? "")) {
      this.#at++;
      if (/^[+-]$/.test(this.#text[this.#at] ?? "")) this.#at++;
      this.#digits("in exponent of numeric literal");
    }
    const literal = this.#text.slice(start, this.#at);
    const isWhole = this.#at === wholeEnd;
    const value = numberOf(literal, isWhole);
    if (!isWhole && this.#literals.size < LITERALS_MAX && String(value) !== literal) this.#literals.set(pathText(this.#path), literal);
    return value;
  }

  /** At least one digit. */
  #digits(where: string): void {
    if (!isDigit(this.#code())) throw this.#unexpected(where);
    while (isDigit(this.#code())) this.#at++;
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  /** The next character other than white space; undefined at the end. */
  #skipSpace(): string | undefined {
    for (; ; this.#at++) {
      const character = this.#text[this.#at];
      if (character !== " " && character !== "\n" && character !== "\t" && character !== "\r") return character;
    }
  }

  #unexpected(where: string): JsonSyntaxError {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) return new JsonSyntaxError("unexpected end of JSON input");
    return new JsonSyntaxError(`invalid character '${quoteByte(firstByteOf(point))}' ${where}`);
  }
}

function isSchema(guide: Guide): guide is Schema {
  return typeof guide === "object";
}

/** NaN, which marks the end of the text, is no digit. */
function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** A bigint only where a number would lose digits. It may exceed 64 bits: decode.ts checks that by type. */
function numberOf(literal: string, isWhole: boolean): number | bigint {
  const value = Number(literal);
  if (!Number.isFinite(value)) throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`);
  if (!isWhole || Number.isSafeInteger(value)) return value;
  return BigInt(literal);
}

/** The first byte of a character in UTF-8: Go's scanner reports bytes, not characters. */
function firstByteOf(point: number): number {
  if (point < 0x80) return point;
  if (point < 0x800) return 0xc0 | (point >> 6);
  return point < 0x1_0000 ? 0xe0 | (point >> 12) : 0xf0 | (point >> 18);
}

/** "spec.containers[0].name": upstream's notation of a path. */
export function pathText(path: readonly (string | number)[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}
