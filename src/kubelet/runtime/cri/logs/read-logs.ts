/**
 * The read positions in a log: in the current file and in the one before it, which stays open for a while after a rotation, since the
 * runtime may write its last lines after the first of the new one. Late lines are read late, but they are read. Not here: when to continue
 * with which file (log-reader.ts, rotated-files.ts).
 */
import type { Clock } from "../../../../base/clock.ts";
import type { GrowingFile, ReadableFile } from "../../../../host/files/log-files.ts";
import type { LogLine, LogOptions } from "../../../contracts/runtime.ts";
import { LineCutter, LogLines, tailStart } from "./log-lines.ts";
import { firstTimestamp, openLogFile, type LogTimestamp, type ReadFile } from "./rotated-files.ts";

/** A runtime that still writes to a file this long after it was asked to reopen its log is stuck. */
const BEFORE_KEPT_MS = 10_000;

export class LogReading implements ReadFile, AsyncDisposable {
  #part: Part;
  #before: { readonly part: Part; readonly untilMs: number } | undefined;
  readonly #clock: Clock;
  readonly #lines = new LogLines();
  readonly #wanted: LogOptions;
  /** Remaining lines of the tail: a line written meanwhile is not part of the requested tail. */
  #left: number;

  private constructor(part: Part, wanted: LogOptions, clock: Clock) {
    this.#part = part;
    this.#wanted = wanted;
    this.#clock = clock;
    this.#left = wanted.follow ? Infinity : (wanted.tailLines ?? Infinity);
  }

  /** Owns the file: closes it at the end, or if it cannot start. */
  static async begin(file: GrowingFile, wanted: LogOptions, clock: Clock): Promise<LogReading> {
    try {
      const { identity, sizeBytes } = await file.state();
      const start = wanted.tailLines === undefined ? 0 : await tailStart(file, sizeBytes, wanted.tailLines);
      return new LogReading(new Part(file, identity, start), wanted, clock);
    } catch (error) {
      await file[Symbol.asyncDispose]();
      throw error;
    }
  }

  get identity(): string {
    return this.#part.identity;
  }

  startTimestamp(): Promise<LogTimestamp | undefined> {
    return this.#part.startTimestamp();
  }

  /** All lines available now. */
  async *lines(signal: AbortSignal): AsyncGenerator<LogLine> {
    if (this.#before !== undefined) {
      const isOver = this.#clock.monotonic() >= this.#before.untilMs;
      yield* this.#linesOf(this.#before.part, signal);
      if (isOver) yield* this.#leaveBefore();
    }
    yield* this.#linesOf(this.#part, signal);
  }

  async *#linesOf(part: Part, signal: AbortSignal): AsyncGenerator<LogLine> {
    while (!signal.aborted && this.#left > 0) {
      const lines = await part.read();
      if (lines === undefined) return;
      for (const line of lines) {
        if (signal.aborted || this.#left === 0) return;
        yield* this.#parsed(line, part);
      }
    }
  }

  /** Continues with the file at `path`, if it still exists. */
  async *continueWith(path: string): AsyncGenerator<LogLine> {
    yield* this.#leaveBefore();
    const file = await openLogFile(path);
    if (file === undefined) return;
    this.#before = { part: this.#part, untilMs: this.#clock.monotonic() + BEFORE_KEPT_MS };
    this.#part = new Part(file, (await file.state()).identity);
  }

  async *#leaveBefore(): AsyncGenerator<LogLine> {
    const part = this.#before?.part;
    if (part === undefined) return;
    this.#before = undefined;
    await part.file[Symbol.asyncDispose]();
    yield* this.#restOf(part);
  }

  /** Last lines without a line break. */
  async *last(): AsyncGenerator<LogLine> {
    yield* this.#leaveBefore();
    yield* this.#restOf(this.#part);
  }

  *#restOf(part: Part): Generator<LogLine> {
    const rest = part.takeRest();
    if (rest.length > 0 && this.#left > 0) yield* this.#parsed(rest, part);
  }

  *#parsed(bytes: Uint8Array, part: Part): Generator<LogLine> {
    const line = this.#lines.parse(bytes);
    if (line === undefined) return;
    part.note(line);
    this.#left -= 1;
    if (line.atMs >= (this.#wanted.sinceMs ?? -Infinity)) yield line;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#before?.part.file[Symbol.asyncDispose]();
    await this.#part.file[Symbol.asyncDispose]();
  }
}

/** One file, split into lines. */
class Part {
  readonly file: ReadableFile;
  readonly identity: string;
  readonly #start: number;
  #position: number;
  readonly #cutter = new LineCutter();
  #first: LogTimestamp | undefined;

  constructor(file: ReadableFile, identity: string, start = 0) {
    this.file = file;
    this.identity = identity;
    this.#start = start;
    this.#position = start;
  }

  /** The next complete lines; undefined at the end. */
  async read(): Promise<Iterable<Uint8Array> | undefined> {
    const chunk = await this.file.read(this.#position);
    if (chunk.length === 0) return undefined;
    this.#position += chunk.length;
    return this.#cutter.cut(chunk);
  }

  /** Returns and clears the bytes after the last line break. */
  takeRest(): Uint8Array {
    return this.#cutter.takeRest();
  }

  /** Called for each line read. */
  note(line: LogTimestamp): void {
    if (this.#start === 0) this.#first ??= line;
  }

  async startTimestamp(): Promise<LogTimestamp | undefined> {
    // A compressed file cannot be read again, but was read from its start.
    return (this.#first ??= await firstTimestamp(this.file));
  }
}
