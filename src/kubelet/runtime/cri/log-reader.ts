/**
 * The log of a container, line by line: the end of it without reading all of it, and what comes for as long as the container runs. Who
 * follows is woken by the directory's own events and by the container's end, and goes on with the new file when the log is rotated, after
 * all of the old one. What was put aside before is not read, as upstream does not.
 */
import type { Clock } from "../../../base/clock.ts";
import { NO_LONGER_WANTED, onAbort } from "../../../base/abort.ts";
import { fileState, linkTarget, openGrowingFile, watchBeside, type GrowingFile } from "../../../host/log-files.ts";
import { RuntimeError, type LogLine, type LogOptions } from "../../runtime.ts";
import { LineCutter, LogLines, tailStart } from "./log-lines.ts";

/** An event may be lost; so one looks again after this long in any case. */
const LOOK_EVERY_MS = 10_000;
/** The runtime may still write a line to the old file when there is a new one. */
const ROTATION_SETTLE_MS = 50;

export interface LogReaderOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Whether more can come. */
  isRunning(): Promise<boolean>;
  /** Told when that may have changed. */
  watch(listener: () => void): Disposable;
}

export async function* readLog(given: LogReaderOptions, wanted: LogOptions, signal: AbortSignal): AsyncGenerator<LogLine> {
  // Events come where the file is, not where a link to it is.
  const options = { ...given, path: await linkTarget(given.path) };
  const file = await openGrowingFile(options.path);
  if (file === undefined) throw new RuntimeError("NotFound", `failed to open log file "${options.path}": no such file or directory`);
  const reading = new Reading(file, wanted);
  try {
    await reading.begin();
    yield* reading.lines(signal);
    if (wanted.follow) yield* follow(reading, options, signal);
    if (!signal.aborted) yield* reading.last();
  } finally {
    await reading.close();
  }
}

async function* follow(reading: Reading, options: LogReaderOptions, signal: AbortSignal): AsyncGenerator<LogLine> {
  const bell = new Bell(options.clock, signal);
  // Not asked for each line that comes: a busy log would be a busy runtime.
  let mayHaveEnded = true;
  let isRunning = true;
  const lookAgain = (): void => {
    mayHaveEnded = true;
    bell.ring();
  };
  const watching = [watchBeside(options.path, bell.ring), options.watch(lookAgain)];
  try {
    while (!signal.aborted) {
      // Before reading: what was written until it ended is read after that is known.
      if (mayHaveEnded) {
        mayHaveEnded = false;
        isRunning = await options.isRunning();
      }
      yield* reading.lines(signal);
      if (await isRotated(reading, options.path, isRunning)) {
        await options.clock.sleep(ROTATION_SETTLE_MS);
        yield* reading.lines(signal);
        yield* reading.last();
        await reading.goOn(options.path);
      } else if (!isRunning) return;
      else if ((await bell.wait()) === "late") mayHaveEnded = true;
    }
  } finally {
    for (const one of watching) one[Symbol.dispose]();
  }
}

/** Whether to go on with the new file. The runtime makes it first and writes to it later: until then it goes on with the old one. */
async function isRotated(reading: Reading, path: string, isRunning: boolean): Promise<boolean> {
  const now = await fileState(path);
  return now !== undefined && now.identity !== reading.identity && (now.sizeBytes > 0 || !isRunning);
}

/** Where one is in a log. */
class Reading {
  #file: GrowingFile;
  #position = 0;
  #identity = "";
  #cutter = new LineCutter();
  readonly #lines = new LogLines();
  readonly #wanted: LogOptions;
  /** Lines that may still be given: one that is written meanwhile is not among the last ones that were asked for. */
  #left: number;

  constructor(file: GrowingFile, wanted: LogOptions) {
    this.#file = file;
    this.#wanted = wanted;
    this.#left = wanted.follow ? Infinity : (wanted.tailLines ?? Infinity);
  }

  get identity(): string {
    return this.#identity;
  }

  async begin(): Promise<void> {
    const { identity, sizeBytes } = await this.#file.state();
    this.#identity = identity;
    const { tailLines } = this.#wanted;
    if (tailLines !== undefined) this.#position = await tailStart(this.#file, sizeBytes, tailLines);
  }

  /** The new file under the same name, if it is there. */
  async goOn(path: string): Promise<void> {
    const next = await openGrowingFile(path);
    if (next === undefined) return;
    await this.#file[Symbol.asyncDispose]();
    this.#file = next;
    this.#position = 0;
    this.#cutter = new LineCutter();
    this.#identity = (await next.state()).identity;
  }

  /** All that is there now. */
  async *lines(signal: AbortSignal): AsyncGenerator<LogLine> {
    while (!signal.aborted && this.#left > 0) {
      const chunk = await this.#file.read(this.#position);
      if (chunk.length === 0) return;
      this.#position += chunk.length;
      for (const line of this.#cutter.cut(chunk)) {
        if (signal.aborted || this.#left === 0) return;
        yield* this.#parsed(line);
      }
    }
  }

  /** A last line that nobody ended. */
  async *last(): AsyncGenerator<LogLine> {
    const rest = this.#cutter.takeRest();
    if (rest.length > 0 && this.#left > 0) yield* this.#parsed(rest);
  }

  *#parsed(bytes: Uint8Array): Generator<LogLine> {
    const line = this.#lines.parse(bytes);
    if (line === undefined) return;
    this.#left -= 1;
    if (line.atMs >= (this.#wanted.sinceMs ?? -Infinity)) yield line;
  }

  async close(): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }
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
      over.abort(NO_LONGER_WANTED);
    }
    const outcome = this.#hasRung ? "rung" : "late";
    this.#wake = undefined;
    this.#hasRung = false;
    return outcome;
  }
}
