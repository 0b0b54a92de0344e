/**
 * Runs a command of the program `k8ts`. The only module that uses the process: its arguments, streams, signals and exit code. Small, so that
 * `k8ts --version` and `--help` respond at once; a command's code is loaded on demand.
 */
import type { CommandEntry, Io } from "../cli/framework/command.ts";
import { dispatch, type Terminal } from "../cli/framework/dispatch.ts";
import { version } from "../base/generated/version.ts";
import { endAfter } from "../host/processes/exit-process.ts";
import { stopOnSignals } from "../cli/framework/signals.ts";

/** Exit code that shells use for SIGINT. */
const INTERRUPTED = 130;

/** Exit code of a command that succeeded but could not write its result. */
const FAILED = 1;

/** Abandoned work keeps the process alive for at most this long. Long enough for written output to be read. */
const LEFT_BEHIND_MS = 1_000;

const stop = new AbortController();

function out(line: string): void {
  process.stdout.write(`${line}\n`);
}

function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * The reader of our output closed the pipe (`k8ts … | head`): nothing more is written, and the command is cancelled silently. Other write
 * errors, such as a full disk, do not stop it: the output is lost.
 */
function endQuietlyWithoutReader(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") stop.abort();
}

/** Reported by the exit code, so that scripts notice a lost result. */
let isOutputLost = false;

async function openIoOf({ verbose, leavesSignals }: Parameters<Terminal["openIo"]>[0]): Promise<Io> {
  const [{ createLogger, formatHuman }, { stderrLogSink }, { realClock }, { followSupervisor: obeySupervisor }] = await Promise.all([
    import("../base/logger.ts"),
    import("../host/processes/log-sink.ts"),
    import("../host/real-clock.ts"),
    import("../host/processes/supervision.ts"),
  ]);
  if (!leavesSignals) stopOnSignals(process, stop, () => process.exit(INTERRUPTED));
  // More detail if the output goes to a log file.
  const level = obeySupervisor(stop) ? "info" : "warn";
  const log = createLogger({ sink: stderrLogSink(formatHuman), clock: realClock, level: verbose ? "debug" : level });
  return { out, note, environment: process.env, clock: realClock, log, signal: stop.signal };
}

/** `started`: called when a command that runs until a signal has started, with the names of the parts of the program that it uses. */
export async function runProgram(commands: readonly CommandEntry[], started?: (parts: readonly string[]) => void): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    isOutputLost ||= error.code !== "EPIPE";
    endQuietlyWithoutReader(error);
  });
  process.stderr.on("error", endQuietlyWithoutReader);
  // Only then is it known whether the last line was written.
  process.once("exit", (code) => {
    if (code === 0 && isOutputLost) process.exitCode = FAILED;
  });
  const openIo = async (options: Parameters<Terminal["openIo"]>[0]): Promise<Io> => {
    const io = await openIoOf(options);
    return started === undefined ? io : { ...io, started };
  };
  process.exitCode = await dispatch(process.argv.slice(2), commands, { out, note, environment: process.env, version, openIo });
  endAfter(LEFT_BEHIND_MS);
}
