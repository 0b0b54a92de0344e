#!/usr/bin/env node
/**
 * The program `k8ts`. The only place that knows the process: its arguments, streams, signals and exit code. Small, so that
 * `k8ts --version` and `--help` answer at once; a command's code is loaded when the command is called.
 */
import type { Io } from "./command.ts";
import { all } from "./commands/all.ts";
import { dispatch } from "./dispatch.ts";
import { version } from "./generated/version.ts";
import { endAfter } from "../host/leftovers.ts";
import { stopOnSignals } from "./signals.ts";

/** What a shell reports of a program that was ended by SIGINT. */
const INTERRUPTED = 130;

/** What a command gave up, and left behind, keeps the process no longer than this. Time enough for what was written to be read. */
const LEFT_BEHIND_MS = 1_000;

const stop = new AbortController();

function out(line: string): void {
  process.stdout.write(`${line}\n`);
}

function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Whoever read our output has gone (`k8ts … | head`): nothing more is written, and what runs is asked to end, quietly. */
function endQuietlyWithoutReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  stop.abort();
}

async function openIo({ verbose }: { readonly verbose: boolean }): Promise<Io> {
  const [{ createLogger, formatHuman }, { stderrLogSink }, { realClock }] = await Promise.all([
    import("../base/logger.ts"),
    import("../host/log-sink.ts"),
    import("../host/real-clock.ts"),
  ]);
  stopOnSignals(process, stop, () => process.exit(INTERRUPTED));
  const log = createLogger({ sink: stderrLogSink(formatHuman), clock: realClock, level: verbose ? "debug" : "warn" });
  return { out, note, environment: process.env, clock: realClock, log, signal: stop.signal };
}

process.stdout.on("error", endQuietlyWithoutReader);
process.stderr.on("error", endQuietlyWithoutReader);
process.exitCode = await dispatch(process.argv.slice(2), all, { out, note, environment: process.env, version, openIo });
endAfter(LEFT_BEHIND_MS);
