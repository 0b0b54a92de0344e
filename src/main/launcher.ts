#!/usr/bin/env node
/**
 * The program `k8ts`. The only place that knows the process: its arguments, streams, signals and exit code. Small, so that
 * `k8ts --version` and `--help` answer at once; a command's code is loaded when the command is called.
 */
import type { Io } from "../cli/framework/command.ts";
import { all } from "../cli/commands/all.ts";
import { dispatch, type Terminal } from "../cli/framework/dispatch.ts";
import { version } from "../base/generated/version.ts";
import { endAfter } from "../host/processes/exit-process.ts";
import { stopOnSignals } from "../cli/framework/signals.ts";

/** What a shell reports of a program that was ended by SIGINT. */
const INTERRUPTED = 130;

/** Of a command that did its work, but could not tell the result. */
const FAILED = 1;

/** What a command gave up, and left behind, keeps the process no longer than this. Time enough for what was written to be read. */
const LEFT_BEHIND_MS = 1_000;

const stop = new AbortController();

function out(line: string): void {
  process.stdout.write(`${line}\n`);
}

function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Whoever read our output has gone (`k8ts … | head`): nothing more is written, and what runs is asked to end, quietly. Anything else, such
 * as the full disk of a file that it goes to, is no reason to end: what cannot be written is lost.
 */
function endQuietlyWithoutReader(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") stop.abort();
}

/** Whether a result did not reach whoever wanted it, which a script must be able to see. */
let isOutputLost = false;

async function openIo({ verbose, leavesSignals }: Parameters<Terminal["openIo"]>[0]): Promise<Io> {
  const [{ createLogger, formatHuman }, { stderrLogSink }, { realClock }, { obeySupervisor }] = await Promise.all([
    import("../base/logger.ts"),
    import("../host/processes/log-sink.ts"),
    import("../host/real-clock.ts"),
    import("../host/processes/supervision.ts"),
  ]);
  if (!leavesSignals) stopOnSignals(process, stop, () => process.exit(INTERRUPTED));
  // Whose output goes to a log file can tell more than who writes to a terminal.
  const level = obeySupervisor(stop) ? "info" : "warn";
  const log = createLogger({ sink: stderrLogSink(formatHuman), clock: realClock, level: verbose ? "debug" : level });
  return { out, note, environment: process.env, clock: realClock, log, signal: stop.signal };
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  isOutputLost ||= error.code !== "EPIPE";
  endQuietlyWithoutReader(error);
});
process.stderr.on("error", endQuietlyWithoutReader);
// Whether the last line was written is known only then.
process.once("exit", (code) => {
  if (code === 0 && isOutputLost) process.exitCode = FAILED;
});
process.exitCode = await dispatch(process.argv.slice(2), all, { out, note, environment: process.env, version, openIo });
endAfter(LEFT_BEHIND_MS);
