/** Parses the arguments of a command with kubectl's rules and messages for flags. Pure. */

export interface FlagSpec {
  /** True: it has no value. */
  readonly isSwitch?: true;
  /** One letter. */
  readonly short?: string;
}

export type FlagSpecs = Readonly<Record<string, FlagSpec>>;

export interface ParsedArguments {
  readonly positional: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
}

/** A mistake in the command line; the message is kubectl's. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function parseArguments(words: readonly string[], specs: FlagSpecs): ParsedArguments {
  const positional: string[] = [];
  const flags: Record<string, string> = {};
  const queue = [...words];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === "--") positional.push(...queue.splice(0));
    else if (word.startsWith("--")) takeLong(word.slice(2), queue, specs, flags);
    else if (word.startsWith("-") && word !== "-") takeShort(word, queue, specs, flags);
    else positional.push(word);
  }
  return { positional, flags };
}

function takeLong(text: string, queue: string[], specs: FlagSpecs, flags: Record<string, string>): void {
  const equals = text.indexOf("=");
  const name = equals < 0 ? text : text.slice(0, equals);
  const spec = specs[name];
  if (spec === undefined) throw new UsageError(`unknown flag: --${name}`);
  const value = equals < 0 ? (spec.isSwitch === true ? "true" : queue.shift()) : text.slice(equals + 1);
  if (value === undefined) throw new UsageError(`flag needs an argument: --${name}`);
  flags[name] = value;
}

/** "-n shop", "-nshop", "-n=shop", "-A". */
function takeShort(word: string, queue: string[], specs: FlagSpecs, flags: Record<string, string>): void {
  const letter = word[1] ?? "";
  const found = Object.entries(specs).find(([, { short }]) => short === letter);
  if (found === undefined) throw new UsageError(`unknown shorthand flag: '${letter}' in ${word}`);
  const [name, { isSwitch }] = found;
  const rest = word.slice(2);
  if (isSwitch === true) {
    flags[name] = "true";
    if (rest !== "") takeShort(`-${rest}`, queue, specs, flags);
    return;
  }
  const value = rest === "" ? queue.shift() : rest.replace(/^=/, "");
  if (value === undefined) throw new UsageError(`flag needs an argument: '${letter}' in ${word}`);
  flags[name] = value;
}

export const NAMESPACE_FLAG = { namespace: { short: "n" } } as const satisfies FlagSpecs;
export const ALL_NAMESPACES_FLAG = { "all-namespaces": { isSwitch: true, short: "A" } } as const satisfies FlagSpecs;
export const SELECTOR_FLAG = { selector: { short: "l" } } as const satisfies FlagSpecs;
export const FILE_FLAG = { filename: { short: "f" } } as const satisfies FlagSpecs;

export function wholeNumber(flag: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError(
    `invalid argument ${JSON.stringify(text)} for "--${flag}" flag: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}
