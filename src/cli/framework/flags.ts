/**
 * Flags as declarations: name, type, default and doc define the parser, the type of the values and the help text (help.ts). The parser
 * reads all of argv and returns all problems, each a message that names the flag and what is expected. Pure. Syntax: `--name value`,
 * `--name=value`, `--switch`, `--switch=false`; lists may be repeated or comma-separated; everything after `--` is an argument. A value
 * with a leading dash needs `--name=-value`, except for a negative number.
 */
import { nearest } from "./suggestion.ts";
import { redactPassword } from "./redact-password.ts";

interface FlagBase {
  /** One or several sentences for the help text; default and choices are appended. */
  readonly doc: string;
  /** Placeholder of the value in the help text. Default: the type. */
  readonly placeholder?: string;
}

interface ValueFlagBase<Value> extends FlagBase {
  readonly default?: Value;
  /** True if the flag is required. */
  readonly required?: true;
}

export interface StringFlag extends ValueFlagBase<string> {
  readonly type: "string";
  /** Describes the expected value ("a directory", "an https:// URL") if this one is invalid; undefined if it is valid. */
  readonly expects?: (value: string) => string | undefined;
}

/** An integer. */
export interface NumberFlag extends ValueFlagBase<number> {
  readonly type: "number";
  readonly min?: number;
  readonly max?: number;
}

export interface ChoiceFlag extends ValueFlagBase<string> {
  readonly type: "choice";
  readonly of: readonly string[];
}

/** False unless set, if there is no other default; `--name=false` turns it off. */
export interface BooleanFlag extends FlagBase {
  readonly type: "boolean";
  readonly default?: true;
}

/** Any number of strings, none by default. */
export interface ListFlag extends FlagBase {
  readonly type: "list";
  /** Like StringFlag.expects, for each element. */
  readonly expects?: (value: string) => string | undefined;
}

export type Flag = StringFlag | NumberFlag | ChoiceFlag | BooleanFlag | ListFlag;

/** By name without the dashes: "data-dir". In the order of the help text. */
export type FlagSet = Readonly<Record<string, Flag>>;

export interface Argument {
  readonly doc: string;
  readonly optional?: true;
}

/** By name in lower case; the help text shows it in upper case. In positional order; optional ones come last. */
export type ArgumentSet = Readonly<Record<string, Argument>>;

type Given<F, Value> = F extends { readonly required: true } | { readonly default: unknown } ? Value : Value | undefined;

export type FlagValue<F extends Flag> = F extends BooleanFlag
  ? boolean
  : F extends ListFlag
    ? readonly string[]
    : F extends NumberFlag
      ? Given<F, number>
      : F extends ChoiceFlag
        ? Given<F, F["of"][number]>
        : Given<F, string>;

export type FlagValues<Flags extends FlagSet> = { readonly [Name in keyof Flags]: FlagValue<Flags[Name]> };

export type ArgumentValues<Arguments extends ArgumentSet> = {
  readonly [Name in keyof Arguments]: Arguments[Name] extends { readonly optional: true } ? string | undefined : string;
};

/** Options, or all problems of the command line. */
export type Parsed<Options> =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface ParsedArguments<Flags extends FlagSet, Arguments extends ArgumentSet> {
  /** Complete only if there are no problems; a rejected flag has its default, a missing argument is the empty string. */
  readonly values: FlagValues<Flags> & ArgumentValues<Arguments>;
  /** Names of the flags on the command line; the others have their defaults. */
  readonly given: ReadonlySet<string>;
  readonly problems: readonly string[];
  /** Subjects of the problems, as typed: "--store", "FILE". */
  readonly refused: readonly string[];
}

type AnyValue = string | number | boolean | readonly string[] | undefined;

/** Parser state. */
interface Reading {
  readonly flags: FlagSet;
  readonly values: Map<string, AnyValue>;
  readonly words: string[];
  readonly problems: string[];
  readonly refused: Set<string>;
}

export function parseArguments<Flags extends FlagSet, Arguments extends ArgumentSet>(
  declared: { readonly flags: Flags; readonly arguments: Arguments },
  argv: readonly string[],
): ParsedArguments<Flags, Arguments> {
  const reading: Reading = { flags: declared.flags, values: new Map(), words: [], problems: [], refused: new Set() };
  readAll(reading, argv);
  const given = new Set(reading.values.keys());
  fillIn(reading);
  nameArguments(reading, declared.arguments);
  return {
    // Cast: the values were parsed flag by flag, each by the declaration that also determines its type.
    values: Object.fromEntries(reading.values) as FlagValues<Flags> & ArgumentValues<Arguments>,
    given,
    problems: reading.problems,
    refused: [...reading.refused],
  };
}

function readAll(reading: Reading, argv: readonly string[]): void {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word === "--") {
      reading.words.push(...argv.slice(index + 1));
      return;
    }
    if (!word.startsWith("-") || word === "-") {
      reading.words.push(word);
      continue;
    }
    if (readFlag(reading, word, argv[index + 1]) === "took the next word") index++;
  }
}

function readFlag(reading: Reading, word: string, next: string | undefined): "took the next word" | "is complete" {
  const equals = word.indexOf("=");
  const shown = equals === -1 ? word : word.slice(0, equals);
  const name = shown.slice(2);
  const inline = equals === -1 ? undefined : word.slice(equals + 1);
  const flag = shown.startsWith("--") && Object.hasOwn(reading.flags, name) ? reading.flags[name] : undefined;
  if (flag === undefined) {
    reading.problems.push(`Unknown flag ${quoted(shown)}${suggestion(shown, reading.flags)}`);
    return "is complete";
  }
  if (flag.type === "boolean") {
    readSwitch(reading, name, inline);
    return "is complete";
  }
  const text = inline ?? (next === undefined || !mayBeValue(flag, next) ? undefined : next);
  if (text === undefined) refuse(reading, shown, `${shown} requires a value: ${placeholderOf(flag)}`);
  else readValue(reading, name, flag, text);
  return inline === undefined && text !== undefined ? "took the next word" : "is complete";
}

/** True if the argument after a flag is its value and not the next flag. A negative number is never a flag. */
function mayBeValue(flag: Flag, word: string): boolean {
  return !word.startsWith("-") || word === "-" || (flag.type === "number" && /^-\d/.test(word));
}

function readSwitch(reading: Reading, name: string, inline: string | undefined): void {
  if (inline === undefined || inline === "true") reading.values.set(name, true);
  else if (inline === "false") reading.values.set(name, false);
  else refuse(reading, `--${name}`, `--${name} must be true or false, is ${quoted(inline)}`);
}

function readValue(reading: Reading, name: string, flag: Exclude<Flag, BooleanFlag>, text: string): void {
  const shown = `--${name}`;
  if (flag.type === "list") {
    const elements = text.split(",");
    for (const element of elements) complainUnless(reading, shown, flag.expects, element);
    reading.values.set(name, [...((reading.values.get(name) as readonly string[] | undefined) ?? []), ...elements]);
    return;
  }
  if (reading.values.has(name)) {
    refuse(
      reading,
      shown,
      `${shown} is set twice: ${quoted(redactPassword(String(reading.values.get(name))))} and ${quoted(redactPassword(text))}`,
    );
    return;
  }
  if (flag.type === "number") {
    const problem = numberProblem(flag, text);
    if (problem === undefined) reading.values.set(name, Number(text));
    else refuse(reading, shown, `${shown} must be ${problem}, is ${quoted(redactPassword(text))}`);
    return;
  }
  const expects = flag.type === "choice" ? (value: string) => (flag.of.includes(value) ? undefined : oneOf(flag.of)) : flag.expects;
  if (complainUnless(reading, shown, expects, text)) reading.values.set(name, text);
}

/** Validates a value and reports a problem if it is invalid. An empty value is always invalid: it is an unset variable. */
function complainUnless(
  reading: Reading,
  shown: string,
  expects: ((value: string) => string | undefined) | undefined,
  text: string,
): boolean {
  const expected = text === "" ? undefined : expects?.(text);
  if (text === "") refuse(reading, shown, `${shown} must not be empty`);
  else if (expected !== undefined) refuse(reading, shown, `${shown} must be ${expected}, is ${quoted(redactPassword(text))}`);
  return text !== "" && expected === undefined;
}

function numberProblem(flag: NumberFlag, text: string): string | undefined {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = flag;
  const value = Number(text);
  if (/^-?\d+$/.test(text) && value >= min && value <= max) return undefined;
  if (flag.min !== undefined && flag.max !== undefined) return `an integer from ${min} to ${max}`;
  if (flag.min !== undefined) return `an integer of ${min} or more`;
  if (flag.max !== undefined) return `an integer of ${max} or less`;
  return "an integer";
}

/** Applies defaults and reports missing required values. */
function fillIn(reading: Reading): void {
  for (const [name, flag] of Object.entries(reading.flags)) {
    if (reading.values.has(name)) continue;
    const shown = `--${name}`;
    if ("required" in flag && flag.required === true && !reading.refused.has(shown)) {
      refuse(reading, shown, `${shown} is missing: ${placeholderOf(flag)}`);
    }
    reading.values.set(name, defaultOf(flag));
  }
}

function defaultOf(flag: Flag): AnyValue {
  if (flag.type === "boolean") return flag.default ?? false;
  if (flag.type === "list") return [];
  return flag.default;
}

function nameArguments(reading: Reading, declared: ArgumentSet): void {
  const names = Object.keys(declared);
  for (const [index, name] of names.entries()) {
    const word = reading.words[index];
    const shown = name.toUpperCase();
    if (declared[name]?.optional === true) {
      reading.values.set(name, word);
    } else {
      reading.values.set(name, word ?? "");
      if (word === undefined || word === "") refuse(reading, shown, `${shown} is missing: ${declared[name]?.doc}`);
    }
  }
  for (const word of reading.words.slice(names.length)) reading.problems.push(`Unexpected argument ${quoted(word)}`);
}

function refuse(reading: Reading, shown: string, problem: string): void {
  reading.problems.push(problem);
  reading.refused.add(shown);
}

function suggestion(shown: string, flags: FlagSet): string {
  const flag = nearest(
    shown,
    Object.keys(flags).map((name) => `--${name}`),
  );
  return flag === undefined ? "" : `; did you mean ${flag}?`;
}

/** Placeholder of a flag's value. */
export function placeholderOf(flag: Flag): string {
  if (flag.placeholder !== undefined) return flag.placeholder;
  if (flag.type === "choice") return "NAME";
  return flag.type === "number" ? "NUMBER" : "VALUE";
}

/** "a, b or c" */
export function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words[words.length - 1]}`;
}

/** Escapes control characters, which could manipulate the terminal. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
