/** Tab completion: the words that can continue the last one. Pure; names come from the caller. */
import { kindId, type Kind } from "../../dashboard/data/kinds.ts";
import type { Command } from "./command.ts";
import { findResource } from "./resources.ts";

export interface CompletionSource {
  readonly commands: readonly Command[];
  readonly kinds: readonly Kind[];
  readonly files: readonly string[];
  /** Names of all objects of a kind. */
  namesOf(kind: Kind): Promise<readonly string[]>;
}

export interface Completion {
  /** The line, continued as far as it is unambiguous. */
  readonly line: string;
  /** More than one: what is possible. */
  readonly choices: readonly string[];
}

export async function complete(line: string, source: CompletionSource): Promise<Completion> {
  const words = line.split(" ");
  const last = words.at(-1) ?? "";
  const before = words.slice(0, -1).filter((word) => word !== "");
  const candidates = await candidatesOf(before, last, source);
  const matching = [...new Set(candidates)].filter((word) => word.startsWith(last)).sort();
  const stem = line.slice(0, line.length - last.length);
  const [only, ...more] = matching;
  if (only === undefined) return { line, choices: [] };
  if (more.length === 0) return { line: `${stem}${only}${only.endsWith("/") ? "" : " "}`, choices: [] };
  return { line: `${stem}${commonStart(matching)}`, choices: matching };
}

async function candidatesOf(before: readonly string[], last: string, source: CompletionSource): Promise<readonly string[]> {
  const { commands, kinds, files } = source;
  const [first, ...rest] = before;
  const isProgram = first !== undefined && (first === "kubectl" || first === "k" || commands.some(({ program }) => program === first));
  const program = isProgram ? (first === "k" ? "kubectl" : first) : "kubectl";
  const words = isProgram ? rest : before;
  const own = commands.filter((command) => (command.program ?? "kubectl") === program);
  const isFile = before.at(-1) === "-f" || ["cat", "rm", "sed"].includes(program);
  if (isFile) return files;
  const verbs = own.flatMap(({ name }) => (words.every((word, index) => name[index] === word) ? (name[words.length] ?? []) : []));
  const programs = before.length === 0 ? ["kubectl", ...commands.flatMap((command) => command.program ?? []), "help", "clear"] : [];
  if (verbs.length > 0) return [...verbs, ...programs];
  const slash = last.indexOf("/");
  if (slash > 0) {
    const kind = findResource(kinds, last.slice(0, slash));
    return kind === undefined ? [] : (await source.namesOf(kind)).map((name) => `${last.slice(0, slash)}/${name}`);
  }
  const typed = words.map((word) => findResource(kinds, word)).find((kind) => kind !== undefined);
  if (typed !== undefined) return source.namesOf(typed);
  return kinds
    .filter(({ verbs: served }) => served.includes("get"))
    .flatMap((kind) => [kindId(kind).split(".")[0] ?? "", ...kind.shortNames]);
}

function commonStart(words: readonly string[]): string {
  const [first = "", ...others] = words;
  let length = first.length;
  for (const word of others) while (!word.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}
