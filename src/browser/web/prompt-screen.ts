/**
 * What a prompt shows, kept outside of the elements so that lessons can enter commands, too. Bounded: a watch that runs for hours must not
 * fill the page.
 */
import type { Prompt } from "../prompt/prompt.ts";

export interface ScreenLine {
  readonly id: number;
  readonly kind: "command" | "output" | "problem";
  readonly text: string;
}

const LINES_MAX = 1_000;
export const INPUT_HISTORY_MAX = 200;

export class PromptScreen {
  lines: readonly ScreenLine[] = [];
  history: readonly string[] = [];
  readonly #prompt: Prompt;
  readonly #listeners = new Set<() => void>();
  /** Lines of a command that continues. */
  #pending = "";
  #running: AbortController | undefined;
  #last: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(prompt: Prompt) {
    this.#prompt = prompt;
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  get isContinued(): boolean {
    return this.#pending !== "";
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** One line of input. Resolves when its command has ended. */
  enter(line: string): Promise<void> {
    if (line.trim() !== "") this.history = [...this.history.filter((old) => old !== line), line].slice(-INPUT_HISTORY_MAX);
    const text = this.#pending === "" ? line : `${this.#pending}\n${line}`;
    this.#add("command", line);
    this.#last = this.#last.then(() => this.#run(text));
    return this.#last;
  }

  /** Several lines, as in a lesson: each command with its output. */
  enterAll(text: string): Promise<void> {
    this.#pending = "";
    this.#add("command", text);
    this.history = [...this.history, ...text.split("\n").filter((line) => line.trim() !== "")].slice(-INPUT_HISTORY_MAX);
    this.#last = this.#last.then(() => this.#run(text));
    return this.#last;
  }

  interrupt(): void {
    this.#running?.abort(new Error("Interrupted"));
  }

  /** The line, continued; what is possible is shown. */
  async complete(line: string): Promise<string> {
    const { line: completed, choices } = await this.#prompt.complete(line);
    if (choices.length > 0 && completed === line) this.#add("output", choices.join("  "));
    return completed;
  }

  async #run(text: string): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    this.#changed();
    const output = { out: (line: string) => this.#add("output", line), warn: (line: string) => this.#add("problem", line) };
    const outcome = await this.#prompt.run(text, output, running.signal);
    this.#pending = outcome === "incomplete" ? text : "";
    if (outcome === "clear") this.lines = [];
    this.#running = undefined;
    this.#changed();
  }

  #add(kind: ScreenLine["kind"], text: string): void {
    this.lines = [...this.lines, { id: ++this.#count, kind, text }].slice(-LINES_MAX);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
