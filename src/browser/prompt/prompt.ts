/**
 * The prompt: runs what is typed, one command after the other, and prints like kubectl. It keeps the files of the prompt and the commands
 * in the background. Not here: the element in which one types (web/prompt).
 */
import { ClusterApi } from "../../dashboard/data/cluster-api.ts";
import type { ClusterConnection } from "../../dashboard/data/connection.ts";
import { fetchKinds, pathOf, type Kind } from "../../dashboard/data/kinds.ts";
import type { Command, CommandContext, PromptCluster } from "./command.ts";
import { all } from "./commands/all.ts";
import { complete, type Completion } from "./complete.ts";
import { findCommand, helpLines, usageLine } from "./find-command.ts";
import { errorText } from "./messages.ts";
import { parseShellLines, type ShellCommand } from "./shell-line.ts";

export interface PromptOutput {
  out(text: string): void;
  /** Standard error. */
  warn(text: string): void;
}

export interface PromptOptions extends Omit<PromptCluster, "api"> {
  readonly connection: ClusterConnection;
}

/** Watches that were forgotten in the background. */
const BACKGROUND_MAX = 10;
/** Of completion: more would not help a reader. */
const NAMES_MAX = 500;

/** "incomplete": the text continues on the next line. */
export type Outcome = "done" | "failed" | "incomplete" | "clear";

export class Prompt {
  readonly files = new Map<string, string>();
  readonly #cluster: PromptCluster;
  readonly #background = new Set<AbortController>();
  #kinds: readonly Kind[] | undefined;

  constructor({ connection, ...cluster }: PromptOptions) {
    this.#cluster = { ...cluster, api: new ClusterApi(connection) };
  }

  /** Runs all commands of the text; ends with the first that fails. Never rejects. */
  async run(text: string, output: PromptOutput, signal: AbortSignal): Promise<Outcome> {
    const lines = parseShellLines(text);
    if (lines.is === "incomplete") return "incomplete";
    if (lines.is === "wrong") {
      output.warn(`error: ${lines.problem}`);
      return "failed";
    }
    for (const command of lines.commands) {
      if (command.words.length === 1 && command.words[0] === "clear") return "clear";
      if (!(await this.#runOne(command, output, signal))) return "failed";
    }
    return "done";
  }

  async complete(line: string): Promise<Completion> {
    const { api } = this.#cluster;
    const namesOf = async (kind: Kind) => {
      const { items } = await api.get<{ readonly items: readonly { readonly metadata: { readonly name: string } }[] }>(
        `${pathOf(kind)}?limit=${NAMES_MAX}`,
      );
      return items.map(({ metadata }) => metadata.name);
    };
    return complete(line, { commands: all, kinds: await this.#kindsNow(), files: [...this.files.keys()], namesOf });
  }

  /** Number of commands in the background. */
  get backgroundCount(): number {
    return this.#background.size;
  }

  /** Ends all of them. */
  stopBackground(): void {
    for (const job of this.#background) job.abort(new Error("Ended by kill"));
  }

  /** False if it failed. */
  async #runOne(command: ShellCommand, output: PromptOutput, signal: AbortSignal): Promise<boolean> {
    const { words } = command;
    try {
      if (words[0] === "help") return this.#print(output, helpLines(all));
      if (words[0] === "kill") {
        this.stopBackground();
        return true;
      }
      const found = findCommand(all, words);
      if (found.words.includes("--help") || found.words.includes("-h")) return this.#print(output, [usageLine(found.command)]);
      if (command.isBackground) this.#start(found.command, found.words, command, output);
      else await this.#execute(found.command, found.words, command, output, signal);
      return true;
    } catch (error) {
      // Ctrl+C ends a command; that is no failure.
      if (signal.aborted) return true;
      output.warn(errorText(error));
      return false;
    }
  }

  #print(output: PromptOutput, lines: readonly string[]): true {
    for (const line of lines) output.out(line);
    return true;
  }

  #start(command: Command, words: readonly string[], shell: ShellCommand, output: PromptOutput): void {
    if (this.#background.size >= BACKGROUND_MAX)
      throw new Error(`There are ${BACKGROUND_MAX} commands in the background: enter kill to end them`);
    const job = new AbortController();
    this.#background.add(job);
    this.#execute(command, words, shell, output, job.signal)
      .catch((error: unknown) => {
        if (!job.signal.aborted) output.warn(errorText(error));
      })
      .finally(() => this.#background.delete(job));
  }

  async #execute(
    command: Command,
    words: readonly string[],
    shell: ShellCommand,
    output: PromptOutput,
    signal: AbortSignal,
  ): Promise<void> {
    const written: string[] = [];
    const context: CommandContext = {
      ...this.#cluster,
      kinds: () => this.#kindsNow(),
      namespace: "default",
      files: this.files,
      input: shell.input,
      out: shell.output === undefined ? (text) => output.out(text) : (text) => void written.push(text),
      warn: (text) => output.warn(text),
      signal,
    };
    await command.run(words, context);
    if (shell.output !== undefined) this.files.set(shell.output, written.map((text) => `${text}\n`).join(""));
    // A definition of a custom kind may have been applied.
    if (["apply", "create", "delete", "replace"].includes(command.name[0] ?? "")) this.#kinds = undefined;
  }

  async #kindsNow(): Promise<readonly Kind[]> {
    return (this.#kinds ??= await fetchKinds(this.#cluster.api));
  }
}
