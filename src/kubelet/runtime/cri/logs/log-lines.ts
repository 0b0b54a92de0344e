/**
 * Parses one line of a container's log file, in the CRI's format ("2016-10-06T00:17:09.669794202Z stdout F text") or in Docker's JSON.
 * Pure. A line that the container wrote in several pieces stays in pieces, each marked as partial; a character that was split between two
 * is joined.
 */
import { parseTime } from "../../../../api/machinery/time.ts";
import type { LogLine } from "../../../contracts/runtime.ts";

const SPACE = 0x20;
const BRACE = 0x7b;
const NEWLINE = 0x0a;
/** Fractional digits of upstream's timestamps. */
const DIGITS = 9;

/** Parses the lines of one log in order. */
export class LogLines {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  /** Undefined if it is not a log line: the reader continues with the next. `line` has no line break. */
  parse(line: Uint8Array): LogLine | undefined {
    return line[0] === BRACE ? dockerLine(line) : this.#criLine(line);
  }

  #criLine(line: Uint8Array): LogLine | undefined {
    const timeEnd = line.indexOf(SPACE);
    const streamEnd = line.indexOf(SPACE, timeEnd + 1);
    const tagsEnd = line.indexOf(SPACE, streamEnd + 1);
    if (timeEnd === -1 || streamEnd === -1 || tagsEnd === -1) return undefined;
    const [time = "", stream, tags = ""] = ascii(line.subarray(0, tagsEnd)).split(" ");
    const atMs = parseTime(time);
    if (atMs === undefined || (stream !== "stdout" && stream !== "stderr")) return undefined;
    const isPartial = tags.split(":", 1)[0] === "P";
    const text = this.#decoders[stream].decode(line.subarray(tagsEnd + 1), { stream: isPartial });
    return { atMs, time: withAllDigits(time), stream, text, ...(isPartial ? { isPartial: true } : {}) };
  }
}

function ascii(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

/** "…:09.5Z" is "…:09.500000000Z". */
export function withAllDigits(time: string): string {
  return time.replace(/^([^.]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/, (_, seconds: string, fraction: string | undefined, zone: string) => {
    return `${seconds}.${(fraction ?? "").padEnd(DIGITS, "0").slice(0, DIGITS)}${zone}`;
  });
}

function dockerLine(line: Uint8Array): LogLine | undefined {
  try {
    const { log, stream, time } = JSON.parse(new TextDecoder().decode(line)) as Readonly<Record<string, unknown>>;
    if (typeof log !== "string" || typeof time !== "string" || (stream !== "stdout" && stream !== "stderr")) return undefined;
    const atMs = parseTime(time);
    if (atMs === undefined) return undefined;
    const isPartial = !log.endsWith("\n");
    const text = isPartial ? log : log.slice(0, -1);
    return { atMs, time: withAllDigits(time), stream, text, ...(isPartial ? { isPartial: true } : {}) };
  } catch {
    return undefined;
  }
}

/** Splits chunks of any size into lines. */
export class LineCutter {
  #rest: Uint8Array = new Uint8Array(0);

  /** The lines that are complete now, without their breaks. */
  *cut(chunk: Uint8Array): Generator<Uint8Array> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      yield this.#rest.length === 0 ? piece : joined(this.#rest, piece);
      this.#rest = this.#rest.subarray(0, 0);
      start = end + 1;
    }
    if (start < chunk.length) this.#rest = joined(this.#rest, chunk.subarray(start));
  }

  /** Returns and clears the bytes after the last line break. */
  takeRest(): Uint8Array {
    const rest = this.#rest;
    this.#rest = new Uint8Array(0);
    return rest;
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** The tail of a file, read backwards. */
interface Readable {
  read(position: number, lengthMax: number): Promise<Uint8Array>;
}

/** Chunk size of reading backwards: usually only a few lines are requested. */
const BACK_BYTES = 16_384;

/** Returns the offset of the last `count` lines of a file. A last line without a break is not counted, as upstream. */
export async function tailStart(file: Readable, sizeBytes: number, count: number): Promise<number> {
  let breaks = 0;
  for (let end = sizeBytes; end > 0;) {
    const start = Math.max(0, end - BACK_BYTES);
    const block = await file.read(start, end - start);
    for (let at = block.lastIndexOf(NEWLINE); at !== -1; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      // The break before the first requested line.
      if (breaks === count) return start + at + 1;
      breaks += 1;
    }
    end = start;
  }
  return 0;
}
