/**
 * Starts this program again in its own session, with its output in a file: it survives this process, its terminal and its shell. While both
 * live, the child reports its progress through a pipe; a parent that exits neither stops nor blocks it.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { PRIVATE_FILE_MODE } from "../files/files.ts";
import { readLines } from "./read-lines.ts";

/** Marks the child, and has the file descriptor of the pipe to its parent. */
const REPORT_VARIABLE = "K8TS_REPORT_DESCRIPTOR";
const REPORT_DESCRIPTOR = 3;

export interface DetachedSelfOptions {
  /** Its output is appended to this file. */
  readonly logFile: string;
  /** Each report, as a line of text. */
  onReport(line: string): void;
  readonly secret?: SecretInput;
}

/** What must not be in the child's command line, which all users of the machine can read: it gets it as standard input instead. */
export interface SecretInput {
  readonly text: string;
  /** The child's arguments, from those of this process. */
  withoutSecret(words: readonly string[]): readonly string[];
}

export interface DetachedSelf {
  readonly pid: number;
  /** Fulfilled if it exits while the parent is attached: the exit code, or 1 if it was killed. */
  readonly ended: Promise<number>;
  /** The child continues; the parent need not wait for it. */
  letGo(): void;
}

/** With the same command line and environment, except for the secret. */
export async function startSelfDetached({ logFile, onReport, secret }: DetachedSelfOptions): Promise<DetachedSelf> {
  const log = openSync(logFile, "a", PRIVATE_FILE_MODE);
  try {
    const [script = "", ...words] = process.argv.slice(1);
    const child = spawn(process.execPath, [...process.execArgv, script, ...(secret?.withoutSecret(words) ?? words)], {
      stdio: [secret === undefined ? "ignore" : "pipe", log, log, "pipe"],
      detached: true,
      env: { ...process.env, [REPORT_VARIABLE]: String(REPORT_DESCRIPTOR) },
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(new Error(`Cannot start k8ts in the background: ${error.message}`, { cause: error })));
    });
    child.stdin?.on("error", () => {}); // It exited before it read the secret, and has reported why.
    child.stdin?.end(secret?.text);
    const pipe = child.stdio[REPORT_DESCRIPTOR] as Socket;
    // Both, since its last report may still be in the pipe when it has exited.
    const reports = readLines(pipe, onReport);
    const exited = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
    const letGo = (): void => {
      child.unref();
      pipe.destroy();
    };
    return { pid: child.pid as number, ended: Promise.all([exited, reports]).then(([code]) => code), letGo };
  } finally {
    closeSync(log);
  }
}

/** In such a child: returns a function that sends a report to the parent. Undefined in any other process. Can be called once. */
export function parentReport(): ((line: string) => void) | undefined {
  const descriptor = process.env[REPORT_VARIABLE];
  // Not inherited by processes that this one starts.
  delete process.env[REPORT_VARIABLE];
  if (descriptor === undefined) return undefined;
  const pipe = new Socket({ fd: Number(descriptor), readable: false, writable: true });
  pipe.on("error", () => {}); // The parent has exited.
  pipe.unref();
  return (line) => void (pipe.writable && pipe.write(`${line}\n`));
}
