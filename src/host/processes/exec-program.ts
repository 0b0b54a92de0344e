/**
 * Runs a program for its output, which is returned unchanged, up to a limit and within a timeout. Its stderr is ours, because it is for the
 * user at the terminal. Not here: programs that run in parallel (child-process.ts).
 */
import { spawn, type ChildProcess } from "node:child_process";
import type { Clock } from "../../base/clock.ts";
import { killWithParent } from "./child-cleanup.ts";

/** More than any program writes that is expected to print a small document. */
const OUTPUT_BYTES_MAX = 1024 * 1024;

export interface ExecOptions {
  readonly command: string;
  readonly arguments: readonly string[];
  /** Added to this process's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** True if it may prompt the user. */
  readonly isInteractive: boolean;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

export type ExecOutcome =
  | { readonly is: "ended"; readonly code: number; readonly output: Uint8Array }
  /** The program does not exist. */
  | { readonly is: "missing" }
  /** It could not be started, was killed, timed out, or exceeded the output limit. */
  | { readonly is: "failed"; readonly why: string };

/** Never rejects. */
export async function execProgram(options: ExecOptions): Promise<ExecOutcome> {
  const { command, isInteractive, environment, clock, timeoutMs } = options;
  const child = spawn(command, options.arguments, {
    stdio: [isInteractive ? "inherit" : "ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment },
  });
  killWithParent(child);
  const timer = new AbortController();
  let isLate = false;
  void clock.sleep(timeoutMs, timer.signal).then(
    () => {
      isLate = true;
      end(child);
    },
    () => undefined, // It exited in time.
  );
  const outcome = await outcomeOf(child);
  timer.abort();
  return isLate ? { is: "failed", why: `timed out after ${timeoutMs / 1_000} s` } : outcome;
}

/** True if standard input is a terminal. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true;
}

function outcomeOf(child: ChildProcess): Promise<ExecOutcome> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    child.stdout?.on("data", (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes <= OUTPUT_BYTES_MAX) pieces.push(piece);
      else end(child);
    });
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ENOENT" ? { is: "missing" } : { is: "failed", why: error.message }),
    );
    child.once("close", (code, signal) => {
      if (sizeBytes > OUTPUT_BYTES_MAX) resolve({ is: "failed", why: `its output exceeds ${OUTPUT_BYTES_MAX} bytes` });
      else if (code === null) resolve({ is: "failed", why: `it was killed by ${signal}` });
      else resolve({ is: "ended", code, output: Buffer.concat(pieces) });
    });
  });
}

/** Its children may keep the output open after its exit; they are not awaited. */
function end(child: ChildProcess): void {
  child.kill("SIGKILL");
  child.stdout?.destroy();
}
