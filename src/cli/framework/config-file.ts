/**
 * A configuration file whose keys are flag names without the dashes: `secure-port: 7443`. All problems are reported at once, each with its
 * line. A value is validated by the declaration of its flag, so that file and command line accept the same.
 */
import { readYamlMembers, type YamlMember } from "../../api/machinery/codec/yaml/members.ts";
import { parseArguments, type Flag, type FlagSet } from "./flags.ts";
import { nearest } from "./suggestion.ts";

export type ConfigValue = string | number | boolean | readonly string[];

export interface ConfigFile {
  /** Values by flag name. */
  readonly values: ReadonlyMap<string, ConfigValue>;
  /** Each starts with "FILE:LINE: ". */
  readonly problems: readonly string[];
  /** Returns "FILE:LINE: " of a key. */
  readonly placeOf: (name: string) => string;
}

/** `file` is used in messages only. `excluded`: flags that are allowed only on the command line. */
export function readConfigFile(file: string, text: string, flags: FlagSet, excluded: readonly string[] = []): ConfigFile {
  const { members, problems: broken } = readYamlMembers(text);
  const problems = broken.map(({ line, problem }) => ({ line, problem }));
  const values = new Map<string, ConfigValue>();
  const lines = new Map<string, number>();
  for (const member of members) {
    const { name, line } = member;
    const first = lines.get(name);
    if (first !== undefined) problems.push({ line, problem: `"${name}" is set twice, first in line ${first}` });
    else {
      lines.set(name, line);
      const read = readMember(member, flags, excluded);
      if ("value" in read) values.set(name, read.value);
      else problems.push(...read.problems.map((problem) => ({ line, problem })));
    }
  }
  const place = (line: number): string => `${file}:${line}: `;
  return {
    values,
    problems: problems.toSorted((a, b) => a.line - b.line).map(({ line, problem }) => place(line) + problem),
    placeOf: (name) => place(lines.get(name) ?? 1),
  };
}

type Read = { readonly value: ConfigValue } | { readonly problems: readonly string[] };

function readMember({ name, value }: YamlMember, flags: FlagSet, excluded: readonly string[]): Read {
  const flag = Object.hasOwn(flags, name) && !excluded.includes(name) ? flags[name] : undefined;
  if (flag === undefined) return { problems: [unknownName(name, Object.keys(flags), excluded)] };
  const typeProblem = wrongType(flag, value);
  if (typeProblem !== undefined) return { problems: [`"${name}" must be ${typeProblem}, ${whatItIs(flag, value)}`] };
  if (typeof value === "boolean") return { value };
  const words = Array.isArray(value) ? value.map(String) : [String(value)];
  // An empty list counts as unset.
  if (words.length === 0) return { value: [] };
  const parsed = parseArguments(
    { flags: { [name]: flag }, arguments: {} },
    words.map((word) => `--${name}=${word}`),
  );
  if (parsed.problems.length > 0) return { problems: parsed.problems.map((problem) => problem.replace(`--${name}`, `"${name}"`)) };
  return { value: parsed.values[name] as ConfigValue };
}

function unknownName(name: string, known: readonly string[], excluded: readonly string[]): string {
  if (excluded.includes(name)) return `"${name}" can only be set on the command line`;
  const meant = nearest(
    name,
    known.filter((other) => !excluded.includes(other)),
  );
  return `Unknown flag ${JSON.stringify(name)}${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
}

/** Describes the expected type; undefined if the value has it. */
function wrongType(flag: Flag, value: YamlMember["value"]): string | undefined {
  switch (flag.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "number":
      return typeof value === "number" ? undefined : "a number";
    case "list":
      return typeof value === "string" || (Array.isArray(value) && value.every((item) => typeof item === "string"))
        ? undefined
        : "a list of strings";
    default:
      return typeof value === "string" ? undefined : "a string (quote it if it looks like another type)";
  }
}

/** For a list, names the invalid item. */
function whatItIs(flag: Flag, value: YamlMember["value"]): string {
  if (flag.type !== "list" || !Array.isArray(value)) return `is ${described(value)}`;
  const index = value.findIndex((item) => typeof item !== "string");
  return `but item ${index + 1} is ${described(value[index] as YamlMember["value"])}`;
}

function described(value: YamlMember["value"]): string {
  if (value === null) return "empty";
  if (value === undefined) return "a map";
  if (Array.isArray(value)) return "a list";
  return typeof value === "string" ? JSON.stringify(value) : `the ${typeof value} ${String(value)}`;
}
