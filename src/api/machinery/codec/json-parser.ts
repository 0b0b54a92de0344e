/**
 * JSON, exactly: finds what `JSON.parse` passes over in silence (members named twice, digits lost beyond 2^53, numbers too large
 * to be one) and says what is wrong with broken text in the words of Go's encoding/json, which clients of Kubernetes get to see.
 * It is several times slower than `JSON.parse`; json.ts uses it only where that would not do.
 *
 * Given a schema it follows it, as upstream's decoder does: it also finds unknown fields, and looks neither into those nor into
 * values of any shape. The list of both kinds of mistakes is then in upstream's order, which is that of the document.
 */
import type { Json } from "../object.ts";
import type { Schema } from "../schema.ts";
import { detached } from "./detached.ts";
import { setMember } from "./set-member.ts";
import { quoteByte } from "./go-text.ts";

/** How deeply objects and lists may be nested. The deepest real objects (schemas of custom resources) have about 60 levels. */
export const DEPTH_MAX = 1_000;

/** The text is not JSON. The message is Go's. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

/** Upstream keeps no more of them from one body either. */
export const MISTAKES_MAX = 100;

/** What strict decoding complains about. */
export interface FieldMistake {
  readonly what: "unknown" | "duplicate";
  /** "spec.containers[0].foo". */
  readonly path: string;
}

/**
 * Numbers whose spelling says more than their value, by their path: "1.0" and "1e2" are no whole numbers upstream. Only the first
 * LITERALS_MAX of a body are kept; absent: there are none.
 */
export type NumberLiterals = ReadonlyMap<string, string>;

/** Whoever has so many where whole numbers belong gets to hear of the first. */
const LITERALS_MAX = 1_000;

export interface ExactJson {
  readonly value: Json;
  readonly literals?: NumberLiterals;
  /** In the order of the document, each once. */
  readonly mistakes: readonly FieldMistake[];
}

/** Without a schema there are no unknown fields, and every member that is named twice is a mistake, wherever it is. */
export function parseExactly(text: string, schema?: Schema): ExactJson {
  const reader = new JsonReader(text, schema);
  reader.advance(Infinity);
  return reader.result();
}

/** Stands for "any shape, but look for duplicates in it". */
const EVERYTHING = Symbol("everything");
/** Stands for a part that is not kept: the value of an unknown field. */
const NOTHING = Symbol("nothing");
/** `undefined`: upstream does not look into this part. */
type Guide = Schema | typeof EVERYTHING | typeof NOTHING | undefined;

/** An object or list that is not complete yet. */
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

/** Reads a text step by step: it keeps a stack of its own, so that it can stop after any value. */
export class JsonReader {
  readonly #mistakes: FieldMistake[] = [];
  readonly #literals = new Map<string, string>();
  readonly #seen = new Set<string>();
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  readonly #stack: Open[] = [];
  #at = 0;
  #expects: "value" | "first key" | "key" | "first item" | "next" | "end" = "value";
  /** Of the next value. */
  #guide: Guide;
  #root: Json = null;

  constructor(text: string, schema?: Schema) {
    this.#text = text;
    this.#guide = schema ?? EVERYTHING;
  }

  /** Reads about so many characters. Returns whether the text is read. Throws a JsonSyntaxError. */
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

  /** The member that is complete next is unknown. What is unknown inside of it is not looked at, so one at a time is. */
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

  /** Notes what is wrong with the member's name, and says how its value is to be looked at. */
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
    // The quoted text is known to be well formed; JSON.parse is the quickest way to undo its escapes.
    const value = plain ? detached(text.slice(start + 1, this.#at - 1)) : (JSON.parse(text.slice(start, this.#at)) as string);
    return value.toWellFormed();
  }

  /** Checks the escape whose letter is at `at`; returns the position of its last character. */
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

  /** One at least. */
  #digits(where: string): void {
    if (!isDigit(this.#code())) throw this.#unexpected(where);
    while (isDigit(this.#code())) this.#at++;
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  /** The next character that is not space; undefined at the end. */
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

/** NaN, which stands for the end of the text, is no digit. */
function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** A bigint only where a number would lose digits. It may be beyond 64 bits: what that means depends on where it is (decode.ts). */
function numberOf(literal: string, isWhole: boolean): number | bigint {
  const value = Number(literal);
  if (!Number.isFinite(value)) throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`);
  if (!isWhole || Number.isSafeInteger(value)) return value;
  return BigInt(literal);
}

/** The first byte of a character in UTF-8: Go's scanner complains about bytes, not about characters. */
function firstByteOf(point: number): number {
  if (point < 0x80) return point;
  if (point < 0x800) return 0xc0 | (point >> 6);
  return point < 0x1_0000 ? 0xe0 | (point >> 12) : 0xf0 | (point >> 18);
}

/** "spec.containers[0].name": how upstream names a place in a document. */
export function pathText(path: readonly (string | number)[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}
