/**
 * Reads the log of a container line by line: its tail without reading all of it, and new lines as long as the container runs. A follower is
 * woken by file system events of the directory and by the container's exit, and continues with the new file when the log is rotated, after
 * all of the old one and of those in between if it was delayed. Earlier rotated files are not read, as upstream.
 */
import { exponentialDelayMs } from "../../../../base/backoff.ts";
import type { Clock } from "../../../../base/clock.ts";
import { NOT_NEEDED, onAbort } from "../../../../base/abort.ts";
import { fileState, openGrowingFile, watchSiblings, type GrowingFile } from "../../../../host/files/log-files.ts";
import { RuntimeError, type LogLine, type LogOptions } from "../../../contracts/runtime.ts";
import { LogReading } from "./read-logs.ts";
import { fileAfter } from "./rotated-files.ts";

/** Maximum time between polls: an event may be lost. */
const LOOK_EVERY_MS = 10_000;
/** The runtime may still write a line to the old file when the new one exists. After this time such a line is read out of order. */
const ROTATION_SETTLE_MS = 50;
/** The runtime may report the exit before it has written the last lines. The delay of the log's end is not noticeable. */
const END_SETTLE_MS = 100;
/** During a rotation the file is missing until the runtime, on a busy machine, has created the new one. */
const MISSING_MS_MAX = 5_000;
const MISSING_FILE_BACKOFF = { minMs: 10, maxMs: 320 };

export interface LogReaderOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Whether more lines can follow. */
  isRunning(): Promise<boolean>;
  /** Called when that may have changed. */
  watch(listener: () => void): Disposable;
}

export async function* readLog(given: LogReaderOptions, wanted: LogOptions, signal: AbortSignal): AsyncGenerator<LogLine> {
  const file = await openLog(given, signal);
  if (file === undefined) throw new RuntimeError("NotFound", `failed to open log file "${given.path}": no such file or directory`);
  await using reading = await LogReading.begin(file, wanted, given.clock);
  yield* reading.lines(signal);
  if (wanted.follow) yield* follow(reading, given, signal);
  if (!signal.aborted) yield* reading.last();
}

/** Undefined if the file is missing and will not be created. */
async function openLog({ path, clock, isRunning }: LogReaderOptions, signal: AbortSignal): Promise<GrowingFile | undefined> {
  const untilMs = clock.monotonic() + MISSING_MS_MAX;
  for (let attempt = 0; ; attempt++) {
    const file = await openGrowingFile(path);
    if (file !== undefined || signal.aborted || clock.monotonic() >= untilMs) return file;
    // An exited container has its file or never had one; it may have exited in between.
    if (!(await isRunning())) return openGrowingFile(path);
    await clock.sleep(exponentialDelayMs(MISSING_FILE_BACKOFF, attempt));
  }
}

async function* follow(reading: LogReading, options: LogReaderOptions, signal: AbortSignal): AsyncGenerator<LogLine> {
  const { path, clock } = options;
  const bell = new Bell(clock, signal);
  // Not queried per line: a busy log would cause a busy runtime.
  let mayHaveEnded = true;
  let isRunning = true;
  let isComplete = false;
  const lookAgain = (): void => {
    mayHaveEnded = true;
    bell.ring();
  };
  const watching = [watchSiblings(path, bell.ring), options.watch(lookAgain)];
  try {
    while (!signal.aborted) {
      // Before reading: lines written until the exit are read after it is known.
      if (mayHaveEnded) {
        mayHaveEnded = false;
        isRunning = await options.isRunning();
      }
      yield* reading.lines(signal);
      const next = await nextFile(reading, path, isRunning);
      if (next !== undefined) {
        await clock.sleep(ROTATION_SETTLE_MS);
        yield* reading.lines(signal);
        yield* reading.continueWith(next);
      } else if (isRunning) mayHaveEnded = (await bell.wait()) === "late" || mayHaveEnded;
      else if (isComplete) return;
      else {
        await clock.sleep(END_SETTLE_MS);
        isComplete = true;
      }
    }
  } finally {
    for (const one of watching) one[Symbol.dispose]();
  }
}

/**
 * The file to continue with, if it is time to switch. The runtime creates the new file first and writes to it later: until then the old one
 * is read.
 */
async function nextFile(reading: LogReading, path: string, isRunning: boolean): Promise<string | undefined> {
  const now = await fileState(path);
  if (now?.identity === reading.identity) return undefined;
  const next = await fileAfter(reading, path);
  const isWritten = now !== undefined && (now.sizeBytes > 0 || !isRunning);
  return next !== path || isWritten ? next : undefined;
}

/** Wakes the current waiter, or the next one. */
class Bell {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #hasRung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  readonly ring = (): void => {
    this.#hasRung = true;
    this.#wake?.();
  };

  /** Until it is woken, the signal aborts, or the poll interval is over. */
  async wait(): Promise<"rung" | "late"> {
    if (!this.#hasRung && !this.#signal.aborted) {
      const over = new AbortController();
      const rung = new Promise<void>((resolve) => (this.#wake = resolve));
      const stopListening = onAbort(this.#signal, this.ring);
      await Promise.race([rung, this.#clock.sleep(LOOK_EVERY_MS, over.signal).catch(() => undefined)]);
      stopListening();
      over.abort(NOT_NEEDED);
    }
    const outcome = this.#hasRung ? "rung" : "late";
    this.#wake = undefined;
    this.#hasRung = false;
    return outcome;
  }
}
