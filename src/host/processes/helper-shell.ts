/**
 * Runs short programs through a helper shell instead of spawning them from this process. fork() copies the process, which takes longer the
 * larger it is and blocks it: 15 ms here, 1 ms in a shell. The shell is started on first use, terminates with this process in any case, and
 * runs one program at a time. If it dies, the next use starts another.
 */
import { spawn, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { runProgram } from "./child-process.ts";
import { readLines } from "./read-lines.ts";

/** Ends the output of each program. */
const END = "\u0001";

/** Reads the number of arguments and then each on a line; runs them; writes their output and exit code. */
const SCRIPT = `
while IFS= read -r count; do
  set --
  while [ $# -lt "$count" ]; do IFS= read -r word || exit; set -- "$@" "$word"; done
  output=$("$@" 2>&1 </dev/null)
  printf '%s\\n${END}%s\\n' "$output" $?
done`;

interface Waiting {
  readonly resolve: (ended: { readonly code: number; readonly output: string }) => void;
  readonly reject: (error: Error) => void;
}

class HelperShell {
  readonly #child: ChildProcess;
  /** In order of the requests. */
  readonly #waiting: Waiting[] = [];
  #hasExited = false;

  constructor() {
    // In its own session, because Ctrl-C is for this process, which may have to run a program before it exits.
    this.#child = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "pipe", "ignore"], detached: true });
    this.#child.stdin?.on("error", () => {}); // It has exited, which is reported below.
    this.#child.once("error", (error) => this.#end(error));
    this.#child.once("close", () => this.#end(new Error("Cannot run programs: the helper shell has exited")));
    this.#read();
    this.#keepAlive(false);
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  run(words: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#keepAlive(true);
      this.#child.stdin?.write([words.length, ...words, ""].join("\n"));
    });
  }

  #read(): void {
    let lines: string[] = [];
    void readLines(this.#child.stdout as Socket, (line) => {
      if (!line.startsWith(END)) return void lines.push(line);
      const output = lines.join("\n");
      lines = [];
      this.#waiting.shift()?.resolve({ code: Number(line.slice(END.length)), output });
      if (this.#waiting.length === 0) this.#keepAlive(false);
    });
  }

  #end(error: Error): void {
    this.#hasExited = true;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  /** Decides whether it keeps this process alive. */
  #keepAlive(isNeeded: boolean): void {
    for (const each of [this.#child, this.#child.stdin as Socket, this.#child.stdout as Socket]) {
      if (isNeeded) each.ref();
      else each.unref();
    }
  }
}

let shell: HelperShell | undefined;

/** Runs a program to its end. Rejects, with its output, unless it exits with 0. */
export async function runInHelperShell(command: string, ...words: readonly string[]): Promise<void> {
  const all = [command, ...words];
  // Arguments are sent line by line.
  if (all.some((word) => word.includes("\n"))) return void (await runProgram({ command, arguments: words }));
  if (shell === undefined || shell.hasExited) shell = new HelperShell();
  const { code, output } = await shell.run(all);
  if (code !== 0) throw new Error(`Cannot run ${all.join(" ")}: it exited with code ${code}: ${output}`);
}
