/**
 * The log of a container, line by line: the end of it without reading all of it, and what comes for as long as the container runs. Who
 * follows is woken by the directory's own events and by the container's end, and goes on with the new file when the log is rotated, after
 * all of the old one and of those between, if it was held up for so long. What was put aside before is not read, as upstream does not.
 */
import { exponentialDelayMs } from "../../../../base/backoff.ts";
import type { Clock } from "../../../../base/clock.ts";
import { NOT_NEEDED, onAbort } from "../../../../base/abort.ts";
import { fileState, openGrowingFile, watchSiblings, type GrowingFile } from "../../../../host/files/log-files.ts";
import { RuntimeError, type LogLine, type LogOptions } from "../../../contracts/runtime.ts";
import { LogReading } from "./read-logs.ts";
import { fileAfter } from "./rotated-files.ts";

/** An event may be lost; so one looks again after this long in any case. */
const LOOK_EVERY_MS = 10_000;
/** The runtime may still write a line to the old file when there is a new one. Later than this it is out of order, but read. */
const ROTATION_SETTLE_MS = 50;
/** The runtime may tell of an end while it still has the last lines in hand. Nobody notices that a log ends so much later. */
const END_SETTLE_MS = 100;
/** While a log is rotated there is no file, until a runtime on a busy machine has made the new one. */
const MISSING_MS_MAX = 5_000;
const LOOK_FOR_MISSING = { minMs: 10, maxMs: 320 };

export interface LogReaderOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Whether more can come. */
  isRunning(): Promise<boolean>;
  /** Told when that may have changed. */
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

/** Undefined if there is none, and none comes. */
async function openLog({ path, clock, isRunning }: LogReaderOptions, signal: AbortSignal): Promise<GrowingFile | undefined> {
  const untilMs = clock.monotonic() + MISSING_MS_MAX;
  for (let looks = 0; ; looks++) {
    const file = await openGrowingFile(path);
    if (file !== undefined || signal.aborted || clock.monotonic() >= untilMs) return file;
    // One that has ended has its file, or never had one; it may have ended in between.
    if (!(await isRunning())) return openGrowingFile(path);
    await clock.sleep(exponentialDelayMs(LOOK_FOR_MISSING, looks));
  }
}

async function* follow(reading: LogReading, options: LogReaderOptions, signal: AbortSignal): AsyncGenerator<LogLine> {
  const { path, clock } = options;
  const bell = new Bell(clock, signal);
  // Not asked for each line that comes: a busy log would be a busy runtime.
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
      // Before reading: what was written until it ended is read after that is known.
      if (mayHaveEnded) {
        mayHaveEnded = false;
        isRunning = await options.isRunning();
      }
      yield* reading.lines(signal);
      const next = await nextFile(reading, path, isRunning);
      if (next !== undefined) {
        await clock.sleep(ROTATION_SETTLE_MS);
        yield* reading.lines(signal);
        yield* reading.goOn(next);
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

/** What to go on with, if it is time to. The runtime makes the new file first and writes to it later: until then the old one is read on. */
async function nextFile(reading: LogReading, path: string, isRunning: boolean): Promise<string | undefined> {
  const now = await fileState(path);
  if (now?.identity === reading.identity) return undefined;
  const next = await fileAfter(reading, path);
  const isWritten = now !== undefined && (now.sizeBytes > 0 || !isRunning);
  return next !== path || isWritten ? next : undefined;
}

/** Wakes whoever waits, or who will wait next. */
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

  /** Until it rings, the signal comes, or it is time to look in any case. */
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
