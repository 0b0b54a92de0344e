/**
 * The machine as the set-up sees it, as an argument, so that "not root", "not Debian" and "apt fails" can be tested on any machine.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

export interface Outcome {
  /** null: a signal ended it, or it could not be started. */
  readonly exitCode: number | null;
  /** Standard output and standard error, in the order in which they came. */
  readonly output: string;
}

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly isRoot: boolean;
  readonly isDebian: boolean;
  /** Where what was downloaded is kept. */
  readonly cache: string;
  /** Does `work` and prints one line: what, how long. */
  step<T>(what: string, work: () => Promise<T>): Promise<T>;
  /** The path of a program, undefined if there is none of that name. A path is itself, if it is a program. */
  which(command: string): string | undefined;
  /** Runs a program to its end, or for so long, and never rejects. */
  run(command: string, args: readonly string[], options: RunOptions): Promise<Outcome>;
  /** Runs npm, likewise. */
  npm(args: readonly string[], options: RunOptions): Promise<Outcome>;
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** What the set-up, which is plain JavaScript, gives to what is compiled. */
export type Given = Pick<Surroundings, "cache" | "step" | "run" | "npm">;

export function realSurroundings(given: Given): Surroundings {
  return {
    ...given,
    platform: process.platform,
    architecture: process.arch,
    isRoot: process.getuid?.() === 0,
    isDebian: existsSync("/etc/debian_version") && which("apt-get") !== undefined,
    which,
  };
}

/** A user's path often lacks these, though mount and others live there. */
const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

function which(command: string): string | undefined {
  if (command.startsWith("/")) return isExecutable(command) ? command : undefined;
  const folders = [...(process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== ""), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, command)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
