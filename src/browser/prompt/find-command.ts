/** Finds the command of typed words, and the text of `help`. Pure. */
import type { Command } from "./command.ts";
import { UsageError } from "./flags.ts";

export interface FoundCommand {
  readonly command: Command;
  /** After its name. */
  readonly words: readonly string[];
}

const ALIASES: Readonly<Record<string, string>> = { k: "kubectl" };

/** "kubectl" may be left out. */
export function findCommand(commands: readonly Command[], typed: readonly string[]): FoundCommand {
  const [first = "", ...rest] = typed;
  const program = ALIASES[first] ?? first;
  const isProgram = program === "kubectl" || commands.some((command) => command.program === program);
  const [of, words] = isProgram ? [program, rest] : ["kubectl", typed];
  const own = commands.filter((command) => (command.program ?? "kubectl") === of);
  const command =
    own.find(({ name }) => name.every((word, index) => words[index] === word)) ?? (isProgram ? undefined : anyProgram(commands, words));
  if (command !== undefined) return { command, words: words.slice(command.name.length) };
  if (!isProgram) throw new UsageError(`unknown command ${JSON.stringify(first)}: enter "help" for a list`);
  throw new UsageError(`unknown command ${JSON.stringify(words.join(" "))} for ${JSON.stringify(of)}`);
}

/** "why pod/web": a command of k8ts without its program. */
function anyProgram(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.length > 0 && name.every((word, index) => words[index] === word));
}

export function helpLines(commands: readonly Command[]): readonly string[] {
  const lines = commands.map(({ program = "kubectl", name, summary }) => ({ left: [program, ...name].join(" "), summary }));
  const width = Math.max(...lines.map(({ left }) => left.length));
  return [
    ...lines.map(({ left, summary }) => `${left.padEnd(width)}  ${summary}`),
    "",
    "COMMAND --help shows its flags. Ctrl+C ends a command, & runs it in the background and `kill` ends those.",
    "Tab completes, arrow keys repeat. Files of the prompt: > FILE, <<EOF, cat, ls, rm, sed -i.",
  ];
}

export function usageLine({ program = "kubectl", name, usage, summary }: Command): string {
  return `${summary}\n\nUsage: ${[program, ...name, usage].join(" ").trimEnd()}`;
}
