/** Files of the prompt, which live as long as the page: cat, ls, rm, and `sed -i 's/…/…/'`. */
import type { Command, CommandContext } from "../command.ts";
import { UsageError } from "../flags.ts";

function fileOf({ files }: CommandContext, name: string, program: string): string {
  const text = files.get(name);
  if (text === undefined) throw new UsageError(`${program}: ${name}: No such file or directory`);
  return text;
}

export const cat: Command = {
  program: "cat",
  name: [],
  usage: "FILE …",
  summary: "Print files of the prompt; with a here-document, write one: cat > FILE <<EOF",
  async run(words, context) {
    if (words.length === 0 && context.input !== undefined) return context.out(context.input.replace(/\n$/, ""));
    for (const name of words) context.out(fileOf(context, name, "cat").replace(/\n$/, ""));
  },
};

export const ls: Command = {
  program: "ls",
  name: [],
  usage: "",
  summary: "List the files of the prompt",
  async run(_words, { files, out }) {
    for (const name of [...files.keys()].sort()) out(name);
  },
};

export const rm: Command = {
  program: "rm",
  name: [],
  usage: "FILE …",
  summary: "Remove files of the prompt",
  async run(words, context) {
    for (const name of words) {
      fileOf(context, name, "rm");
      context.files.delete(name);
    }
  },
};

export const sed: Command = {
  program: "sed",
  name: [],
  usage: "-i 's/TEXT/REPLACEMENT/' FILE",
  summary: "Replace text in a file of the prompt",
  async run(words, context) {
    const [flag, script = "", name = ""] = words;
    if (flag !== "-i") throw new UsageError("sed: only -i 's/TEXT/REPLACEMENT/' FILE is supported");
    context.files.set(name, substituted(fileOf(context, name, "sed"), script));
  },
};

/** The first occurrence in each line, or all with "g". TEXT is literal, but for "\/". Pure. */
export function substituted(text: string, script: string): string {
  const [, from, to = "", flags] = /^s\/((?:[^/\\]|\\.)+)\/((?:[^/\\]|\\.)*)\/(g?)$/.exec(script) ?? [];
  if (from === undefined) throw new UsageError(`sed: unknown command: ${script}`);
  const plain = (part: string) => part.replaceAll(/\\(.)/g, "$1");
  return text
    .split("\n")
    .map((line) => (flags === "g" ? line.replaceAll(plain(from), () => plain(to)) : line.replace(plain(from), () => plain(to))))
    .join("\n");
}
