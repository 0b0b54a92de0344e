/** Formats flag values as command-line arguments, to pass them to another process. Pure. */
import type { Flag, FlagSet } from "./flags.ts";

type Value = string | number | boolean | readonly string[] | undefined;
type Values = Readonly<Record<string, Value>>;

/** Only values that are not defaults, in the order of the declarations; unknown names are ignored. */
export function formatFlagArguments(flags: FlagSet, values: Values): readonly string[] {
  return Object.entries(flags).flatMap(([name, flag]) => wordsOf(name, flag, values[name]));
}

function wordsOf(name: string, flag: Flag, value: Value): readonly string[] {
  if (value === undefined) return [];
  if (typeof value === "object") return value.map((element) => `--${name}=${element}`);
  const standard = flag.type === "list" ? undefined : flag.default;
  const isDefault = flag.type === "boolean" ? value === (standard ?? false) : value === standard;
  return isDefault ? [] : [`--${name}=${String(value)}`];
}
