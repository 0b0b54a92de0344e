/**
 * Character classes of Go's regular expressions: \d, [[:alpha:]], \p{Greek}. A class is evaluated for one code point at a time, so it is a
 * function; Unicode classes are those of the JavaScript engine, whose Unicode version differs from Go's by a few letters.
 */

/** True if a code point belongs to it. */
export type Characters = (point: number) => boolean;

export const NEW_LINE = 10;

export const anyCharacter: Characters = () => true;
export const anyButNewLine: Characters = (point) => point !== NEW_LINE;

export function range(low: number, high: number): Characters {
  return (point) => point >= low && point <= high;
}

export function anyOf(sets: readonly Characters[]): Characters {
  return (point) => sets.some((set) => set(point));
}

export function negated(set: Characters): Characters {
  return (point) => !set(point);
}

/** Case-insensitive. */
export function foldingCase(set: Characters): Characters {
  return (point) => {
    if (set(point)) return true;
    const text = String.fromCodePoint(point);
    return variants(text).some((variant) => set(variant));
  };
}

/** The other cases of a character that are a single character. "ß" has none: its upper case is two. */
function variants(text: string): readonly number[] {
  const lower = text.toLowerCase();
  const upper = text.toUpperCase();
  const others = [lower, upper, upper.toLowerCase(), lower.toUpperCase()];
  // The Kelvin sign and the long s are further cases of ASCII letters that the functions above do not find.
  const further = { k: "\u212a", s: "\u017f" }[lower];
  return [...others, ...(further === undefined ? [] : [further])].filter(isOneCharacter).map((other) => other.codePointAt(0) ?? 0);
}

function isOneCharacter(text: string): boolean {
  return text !== "" && text.length === String.fromCodePoint(text.codePointAt(0) ?? 0).length;
}

const DIGITS = "0-9";
const WORD = "0-9A-Za-z_";

/** \d, \s, \w. The sets of the upper case letters are their complements; the caller negates, since Go folds case before it does. */
const PERL: ReadonlyMap<string, Characters> = new Map([
  ["d", ascii(DIGITS)],
  ["s", ascii("\\t\\n\\f\\r ")],
  ["w", ascii(WORD)],
]);

export const isWordCharacter: Characters = ascii(WORD);

export function perlCharacters(letter: string): Characters | undefined {
  return PERL.get(letter);
}

const POSIX: ReadonlyMap<string, Characters> = new Map([
  ["alnum", ascii("0-9A-Za-z")],
  ["alpha", ascii("A-Za-z")],
  ["ascii", ascii("\\x00-\\x7f")],
  ["blank", ascii("\\t ")],
  ["cntrl", ascii("\\x00-\\x1f\\x7f")],
  ["digit", ascii(DIGITS)],
  ["graph", ascii("!-~")],
  ["lower", ascii("a-z")],
  ["print", ascii(" -~")],
  ["punct", ascii("!-/:-@[-`{-~")],
  ["space", ascii("\\t-\\r ")],
  ["upper", ascii("A-Z")],
  ["word", ascii(WORD)],
  ["xdigit", ascii("0-9A-Fa-f")],
]);

/** "alpha" of "[:alpha:]" and "[:^alpha:]"; the caller negates. */
export function posixCharacters(name: string): Characters | undefined {
  return POSIX.get(name);
}

/** A general category ("L", "Lu") or a script ("Greek"). */
export function unicodeCharacters(name: string): Characters | undefined {
  // Go accepts any case, and spaces and dashes for underscores.
  const words = name.split(/[_ -]/).map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`);
  const property = words.join("_");
  if (property === "Any") return anyCharacter;
  if (property === "Ascii") return range(0, 127);
  if (property === "Assigned") return negated(unicodeCharacters("Cn") ?? anyCharacter);
  if (!/^[A-Za-z_]+$/.test(property)) return undefined;
  return unicodeSets.get(property) ?? unicodeSet(property);
}

/** Cached, since each is expensive to create. There are a few hundred. */
const unicodeSets = new Map<string, Characters>();

function unicodeSet(property: string): Characters | undefined {
  const expression = unicodeExpression(`gc=${property === "Lc" ? "LC" : property}`) ?? unicodeExpression(`sc=${property}`);
  if (expression === undefined) return undefined;
  const set: Characters = (point) => expression.test(String.fromCodePoint(point));
  unicodeSets.set(property, set);
  return set;
}

function unicodeExpression(property: string): RegExp | undefined {
  try {
    return new RegExp(`^\\p{${property}}$`, "u");
  } catch {
    return undefined;
  }
}

function ascii(members: string): Characters {
  const expression = new RegExp(`^[${members.replace("[-`", "\\[-`")}]$`);
  const table = Array.from({ length: 128 }, (_, point) => expression.test(String.fromCharCode(point)));
  return (point) => table[point] === true;
}
