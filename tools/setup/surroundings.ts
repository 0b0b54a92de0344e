/** The machine as an argument of the set-up, so that "not root", "not Debian" and "apt fails" can be tested on any machine. */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

export interface Outcome {
  /** null: terminated by a signal, or not started. */
  readonly exitCode: number | null;
  /** Standard output and standard error, in order of arrival. */
  readonly output: string;
}

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly isRoot: boolean;
  readonly isDebian: boolean;
  /** Directory of downloads. */
  readonly cache: string;
  /** Runs `work` and prints one line with its name and duration. */
  step<T>(what: string, work: () => Promise<T>): Promise<T>;
  /** Resolves a program on the PATH; undefined if not found. A path to a program resolves to itself. */
  which(command: string): string | undefined;
  /** Runs a program until it exits or the timeout expires. Never rejects. */
  run(command: string, args: readonly string[], options: RunOptions): Promise<Outcome>;
  /** Runs npm in the same way. */
  npm(args: readonly string[], options: RunOptions): Promise<Outcome>;
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** Passed from the set-up, which is plain JavaScript, to the compiled part. */
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

/** Often missing from a user's PATH, although mount and others are there. */
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
