/** Functions of strings: those of the language, and of the extension that Kubernetes has (version 2: no reverse). */
import { ArrayList, elementsOf } from "../values/containers.ts";
import { describe } from "../values/describe.ts";
import { codePoints } from "../syntax/source.ts";
import { encodeUtf8 } from "../../base/utf8.ts";
import { spend, STEPS_MAX, SYNCHRONOUS_STEPS_MAX } from "../values/meter.ts";
import { textOf } from "../values/text.ts";
import { CelError, type CelResult, type CelValue, type ListValue } from "../values/value.ts";
import { BOOL, DYN, INT, listOf, STRING, type CelType } from "../types/type.ts";
import { formatText } from "./format-text.ts";
import { member, overload, type Implementation, type Library, type LibraryFunction } from "./library.ts";

const TEXTS = listOf(STRING);

function outOfRange(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`);
}

/** Steps of each unit of a text with surrogates, and of each piece of a text that is split. */
const SURROGATE_STEPS = 16;
const PIECE_STEPS = 20;

/** A text by its characters: the text itself if each is one unit, which is much faster for long ones. */
function characters(value: CelValue | undefined): string | readonly string[] {
  const text = textOf(value);
  spend(text.length);
  if (!/[\ud800-\udfff]/.test(text)) return text;
  spend(text.length * SURROGATE_STEPS);
  return Array.from(text);
}

function between(all: string | readonly string[], start: number, end?: number): string {
  return typeof all === "string" ? all.slice(start, end) : all.slice(start, end).join("");
}

/** Characters as a list. */
function singles(value: CelValue | undefined): readonly string[] {
  const all = characters(value);
  spend(all.length * PIECE_STEPS);
  return Array.from(all);
}

/** An element of a text as an index; the range of int64 is larger than any. */
function position(value: CelValue | undefined): number {
  return Number(value);
}

/** JavaScript's search skips at most so many characters at a time, so a long part may be compared at every such place. */
const SEARCH_SKIP_MAX = 250;

function spendSearch(value: string, part: string): void {
  spend((value.length >> 3) + Math.floor((value.length * part.length) / SEARCH_SKIP_MAX));
}

const charAt: Implementation = ([value, index]) => {
  const all = characters(value);
  const at = position(index);
  return at < 0 || at > all.length ? outOfRange(index as bigint) : (all[at] ?? "");
};

const indexOf: Implementation = ([value, part, offset = 0n]) => {
  if (part === "") return offset;
  const all = characters(value);
  const at = position(offset);
  if (at < 0) return outOfRange(offset as bigint);
  if (at >= all.length) return -1n;
  spendSearch(textOf(value), textOf(part));
  const skipped = between(all, 0, at).length;
  const found = textOf(value).indexOf(textOf(part), skipped);
  return found < 0 ? -1n : BigInt(codePoints(textOf(value).slice(0, found)));
};

const lastIndexOf: Implementation = ([value, part, offset]) => {
  const all = characters(value);
  if (part === "") return offset ?? BigInt(all.length);
  if (offset === undefined && all.length < codePoints(textOf(part))) return -1n;
  const at = offset === undefined ? all.length - 1 : position(offset);
  if (at < 0) return outOfRange(BigInt(at));
  if (at >= all.length) return -1n;
  spendSearch(textOf(value), textOf(part));
  const found = textOf(value).lastIndexOf(textOf(part), between(all, 0, at).length);
  return found < 0 ? -1n : BigInt(codePoints(textOf(value).slice(0, found)));
};

/** More pieces than any call may make: splitting stops here, since a text of 3 MB in single characters takes 40 ms. */
const PIECES_MAX = Math.floor(SYNCHRONOUS_STEPS_MAX / PIECE_STEPS) + 1;

function piecesOf(text: string, separator: string): readonly string[] {
  const pieces = text.split(separator, PIECES_MAX);
  if (pieces.length === PIECES_MAX) spend(STEPS_MAX);
  return pieces;
}

const replace: Implementation = ([value, old, replacement, limit = -1n]) => {
  const max = position(limit);
  spendSearch(textOf(value), textOf(old));
  const pieces = old === "" ? ["", ...singles(value), ""] : piecesOf(textOf(value), textOf(old));
  const count = max < 0 ? pieces.length - 1 : Math.min(max, pieces.length - 1);
  spend(textOf(value).length + pieces.length * PIECE_STEPS + count * textOf(replacement).length);
  const head = pieces.slice(0, count + 1).join(textOf(replacement));
  const tail = pieces.slice(count + 1);
  return tail.length === 0 ? head : `${head}${tail.map((piece) => textOf(old) + piece).join("")}`;
};

const split: Implementation = ([value, separator, limit = -1n]) => {
  const max = position(limit);
  if (max === 0) return new ArrayList([]);
  spendSearch(textOf(value), textOf(separator));
  const pieces = separator === "" ? singles(value) : piecesOf(textOf(value), textOf(separator));
  spend(textOf(value).length + pieces.length * PIECE_STEPS);
  if (max < 0 || pieces.length <= max) return new ArrayList(pieces);
  return new ArrayList([...pieces.slice(0, max - 1), pieces.slice(max - 1).join(textOf(separator))]);
};

const substring: Implementation = ([value, start, end]) => {
  const all = characters(value);
  if (end !== undefined && position(start) > position(end)) {
    return new CelError(`invalid substring range. start: ${position(start)}, end: ${position(end)}`);
  }
  for (const bound of [start, end]) {
    if (bound !== undefined && (position(bound) < 0 || position(bound) > all.length)) return outOfRange(bound as bigint);
  }
  return between(all, position(start), end === undefined ? undefined : position(end));
};

/** Go's white space: JavaScript's trim() also removes the byte-order mark. */
const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const LEADING = new RegExp(`^${SPACE}+`, "u");
const IS_SPACE = new RegExp(`^${SPACE}$`, "u");
/** Steps of trimming a character. */
const TRIM_STEPS = 30;

function trim(value: string): string {
  const start = LEADING.exec(value)?.[0].length ?? 0;
  spend(start);
  let end = value.length;
  while (end > start && IS_SPACE.test(value[end - 1] ?? "")) {
    end--;
    spend(TRIM_STEPS);
  }
  return value.slice(start, end);
}

function join(list: ListValue, separator: string): CelResult {
  const elements = elementsOf(list);
  if (elements instanceof CelError) return elements;
  const wrong = elements.find((element) => typeof element !== "string");
  spend(elements.reduce<number>((sum, element) => sum + textOf(element).length + separator.length, 0) >> 2);
  return wrong === undefined ? elements.map(textOf).join(separator) : new CelError(`join: invalid input: ${describe(wrong)}`);
}

const QUOTED: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** Steps of replacing a character. */
const QUOTE_STEPS = 40;

function quote(value: string): string {
  spend(value.length);
  // oxlint-disable-next-line no-control-regex
  const special = /[\u0007\b\f\n\r\t\v\\"]/g;
  // One by one: replaceAll() finds all of them before it replaces the first.
  let quoted = '"';
  let from = 0;
  for (let match = special.exec(value); match !== null; match = special.exec(value)) {
    spend(QUOTE_STEPS);
    quoted += value.slice(from, match.index) + (QUOTED[match[0]] ?? match[0]);
    from = special.lastIndex;
  }
  return `${quoted}${value.slice(from)}"`;
}

/** Steps of a byte of a text that is not ASCII. */
const CASE_STEPS = 6;

/** Adds `offset` to the ASCII letters from `first` to the 25th after it. */
function asciiCase(value: string, first: number, offset: number, convert: (text: string) => string): string {
  spend(value.length);
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0000-\u007f]*$/.test(value)) return convert(value);
  const bytes = encodeUtf8(value);
  spend(bytes.length * CASE_STEPS);
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte >= first && byte < first + 26) bytes[index] = byte + offset;
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function predicate(name: string, id: string, test: (value: string, part: string) => boolean): LibraryFunction {
  const call: Implementation = ([value, part]) => {
    if (typeof value !== "string" || typeof part !== "string") return new CelError("no such overload");
    spendSearch(value, part);
    return test(value, part);
  };
  return { name, overloads: [member(id, [STRING, STRING], BOOL)], call };
}

function unary(name: string, id: string, call: (value: string) => CelResult): LibraryFunction {
  return { name, overloads: [member(id, [STRING], STRING, ([value]) => call(textOf(value)))] };
}

/** A member function with an optional last argument. */
function withOption(
  name: string,
  ids: readonly [string, string],
  types: readonly CelType[],
  option: CelType,
  result: CelType,
  call: Implementation,
): LibraryFunction {
  return { name, overloads: [member(ids[0], types, result, call), member(ids[1], [...types, option], result, call)] };
}

export const texts: Library = {
  functions: [
    predicate("contains", "contains_string", (value, part) => value.includes(part)),
    predicate("endsWith", "ends_with_string", (value, part) => value.endsWith(part)),
    predicate("startsWith", "starts_with_string", (value, part) => value.startsWith(part)),
    { name: "charAt", overloads: [member("string_char_at_int", [STRING, INT], STRING, charAt)] },
    withOption("indexOf", ["string_index_of_string", "string_index_of_string_int"], [STRING, STRING], INT, INT, indexOf),
    withOption("lastIndexOf", ["string_last_index_of_string", "string_last_index_of_string_int"], [STRING, STRING], INT, INT, lastIndexOf),
    unary("lowerAscii", "string_lower_ascii", (value) => asciiCase(value, 0x41, 0x20, (text) => text.toLowerCase())),
    withOption(
      "replace",
      ["string_replace_string_string", "string_replace_string_string_int"],
      [STRING, STRING, STRING],
      INT,
      STRING,
      replace,
    ),
    withOption("split", ["string_split_string", "string_split_string_int"], [STRING, STRING], INT, TEXTS, split),
    withOption("substring", ["string_substring_int", "string_substring_int_int"], [STRING, INT], INT, STRING, substring),
    unary("trim", "string_trim", trim),
    unary("upperAscii", "string_upper_ascii", (value) => asciiCase(value, 0x61, -0x20, (text) => text.toUpperCase())),
    {
      name: "format",
      overloads: [member("string_format", [STRING, listOf(DYN)], STRING, ([value, args]) => formatText(textOf(value), args as ListValue))],
    },
    { name: "strings.quote", overloads: [overload("strings_quote", [STRING], STRING, ([value]) => quote(textOf(value)))] },
    withOption("join", ["list_join", "list_join_string"], [TEXTS], STRING, STRING, ([list, separator = ""]) =>
      join(list as ListValue, textOf(separator)),
    ),
  ],
};
