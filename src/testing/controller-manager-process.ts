/**
 * `k8ts controller-manager` as a user starts it, in a process of its own, which can be stopped, frozen and killed. It says when it acts
 * and when it stands by; that is waited for here. Not here: the API server that it speaks to (api-server.ts, api-server-process.ts).
 */
import { join } from "node:path";
import { startProgram, type Program } from "../host/child-process.ts";

export interface ControllerManagerProcessOptions {
  readonly kubeconfig: string;
  /** Whatever else is to be said on the command line. */
  readonly flags: readonly string[];
}

const LAUNCHER = join(import.meta.dirname, "..", "main", "launcher.js");

export class ControllerManagerProcess implements AsyncDisposable {
  readonly program: Program;
  readonly #lines: string[];
  readonly #waiting: Waiting;

  private constructor(program: Program, lines: string[], waiting: Waiting) {
    this.program = program;
    this.#lines = lines;
    this.#waiting = waiting;
  }

  /** Resolves when it runs, which is before it stands in the election. */
  static async start({ kubeconfig, flags }: ControllerManagerProcessOptions): Promise<ControllerManagerProcess> {
    const lines: string[] = [];
    const waiting: Waiting = new Set();
    const onLine = (line: string): void => {
      lines.push(line);
      for (const look of waiting) look();
    };
    const words = [LAUNCHER, "controller-manager", `--kubeconfig=${kubeconfig}`, ...flags];
    return new ControllerManagerProcess(await startProgram({ command: process.execPath, arguments: words, onLine }), lines, waiting);
  }

  /** Resolves when it has begun to act, be it before this call; once for each time that it does. */
  acts(): Promise<void> {
    return this.#says("acting as ");
  }

  /** Resolves when it acted and does no more; once for each time. */
  standsBy(): Promise<void> {
    return this.#says("standing by");
  }

  /** Resolves when it stands in the election. */
  stands(): Promise<void> {
    return this.#says("controllers for ");
  }

  /** Each line is found once. */
  #says(beginning: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.#lines.findIndex((line) => line.startsWith(beginning));
        if (found === -1) return;
        this.#lines.splice(0, found + 1);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
      void this.program.exited.then(() =>
        reject(new Error(`Expected the controller manager to say "${beginning}", it ended: ${this.program.output.slice(-5).join("\n")}`)),
      );
    });
  }

  /** Ends it with SIGKILL. */
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.program[Symbol.asyncDispose]());
  }
}

type Waiting = Set<() => void>;
