/** Help texts: the overview of all commands, of a group, and of one command. Pure; all texts come from the declarations. */
import type { Command, CommandEntry } from "./command.ts";
import { oneOf, placeholderOf, type Flag, type FlagSet } from "./flags.ts";

/** Fits a terminal of this width. */
const WIDTH = 100;
const INDENT = 2;
const GAP = 2;

/** Global flags, handled by the launcher. */
const COMMON_FLAGS: FlagSet = {
  help: { type: "boolean", doc: "Print this help and exit." },
  verbose: { type: "boolean", doc: "Enable debug logging and print stack traces of errors. Same as K8TS_DEBUG=1." },
};

/** Commands handled by the launcher. */
const BUILT_IN = [
  { name: "help", summary: "Print this overview, or the help of a command: k8ts help COMMAND" },
  { name: "version", summary: "Print the version" },
];

export function overview(entries: readonly CommandEntry[]): string[] {
  return [
    "k8ts is a complete Kubernetes in one program.",
    "",
    "Usage: k8ts COMMAND [FLAGS]",
    "",
    "Commands:",
    ...describeEntries([...entries, ...BUILT_IN]),
    "",
    'Use "k8ts COMMAND --help" for the flags and examples of a command.',
  ];
}

/** Overview of the commands in a group. */
export function groupOverview(group: string, entries: readonly CommandEntry[]): string[] {
  return [`Usage: k8ts ${group} COMMAND [FLAGS]`, "", "Commands:", ...describeEntries(entries)];
}

export function commandHelp(name: string, command: Command): string[] {
  const words = Object.entries(command.arguments).map(([word, { optional }]) => (optional === true ? `[${shown(word)}]` : shown(word)));
  const rows = Object.entries(command.arguments).map(([word, { doc }]) => ({ left: shown(word), right: doc }));
  return [
    ...wrap(command.description, WIDTH),
    "",
    `Usage: ${["k8ts", name, ...words, "[FLAGS]"].join(" ")}`,
    ...(rows.length === 0 ? [] : ["", "Arguments:", ...twoColumns(rows)]),
    "",
    "Flags:",
    ...twoColumns(Object.entries({ ...command.flags, ...COMMON_FLAGS }).map(describeFlag)),
    ...(command.examples.length === 0 ? [] : ["", "Examples:", ...command.examples.map((example) => " ".repeat(INDENT) + example)]),
  ];
}

function describeEntries(entries: readonly Pick<CommandEntry, "name" | "summary">[]): string[] {
  return twoColumns(entries.map(({ name, summary }) => ({ left: name, right: summary })));
}

function describeFlag([name, flag]: readonly [string, Flag]): Row {
  return { left: flag.type === "boolean" ? `--${name}` : `--${name} ${placeholderOf(flag)}`, right: flag.doc + notesOn(flag) };
}

function notesOn(flag: Flag): string {
  const notes: string[] = [];
  if (flag.type === "choice") notes.push(oneOf(flag.of));
  if (flag.type === "list") notes.push("may be repeated");
  if ("default" in flag && flag.default !== undefined && flag.default !== "") notes.push(`default ${flag.default}`);
  if ("required" in flag && flag.required === true) notes.push("required");
  return notes.length === 0 ? "" : ` (${notes.join("; ")})`;
}

interface Row {
  readonly left: string;
  readonly right: string;
}

/** The left column has the width of the widest entry up to this limit; longer entries push their text to the next line. */
const LEFT_WIDTH = 30;

function twoColumns(rows: readonly Row[]): string[] {
  const margin = INDENT + Math.min(LEFT_WIDTH, Math.max(0, ...rows.map(({ left }) => left.length))) + GAP;
  return rows.flatMap(({ left, right }) => {
    const text = wrap(right, WIDTH - margin).map((line) => " ".repeat(margin) + line);
    const head = " ".repeat(INDENT) + left;
    return head.length + GAP > margin ? [head, ...text] : [head.padEnd(margin) + (text[0] ?? "").trimStart(), ...text.slice(1)];
  });
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1] ?? "";
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

function shown(argument: string): string {
  return argument.toUpperCase();
}
