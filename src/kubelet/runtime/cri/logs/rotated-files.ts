/**
 * The files that a log was put aside to, and their order. They are named after the moment at which that was, and the oldest are packed,
 * then removed; so one that a reader has open may be packed under another name by the time it looks, and is known again by its lines: each
 * file begins later than the one before it.
 * Not here: putting them aside (log-rotation.ts).
 */
import { fileState, filesLike, openGrowingFile, openPackedFile, type ReadableFile } from "../../../../host/files/log-files.ts";
import type { LogLine } from "../../../contracts/runtime.ts";
import { LineCutter, LogLines } from "./log-lines.ts";

export const PACKED = ".gz";
/** While it is packed. */
export const UNFINISHED = ".tmp";

export type LogMoment = Pick<LogLine, "atMs" | "time">;

/** A file of a log that somebody has read. */
export interface ReadFile {
  readonly identity: string;
  /** When its first line was written; undefined if it has none. */
  beganAt(): Promise<LogMoment | undefined>;
}

/** The file after `read`, in the order in which they were written: one that was put aside, or `path`, which is being written. */
export async function fileAfter(read: ReadFile, path: string): Promise<string> {
  let after = path;
  // From the newest on: usually it is the only one of interest.
  for (const file of wholeFiles(await filesLike(`${path}.`)).toReversed()) {
    if (!(await isAfter(read, file))) return after;
    after = file;
  }
  return after;
}

async function isAfter(read: ReadFile, file: string): Promise<boolean> {
  if ((await fileState(file))?.identity === read.identity) return false;
  const [mine, other] = [await read.beganAt(), await beganAt(file)];
  return mine !== undefined && other !== undefined && isLater(other, mine);
}

/** `files` are sorted. One that was packed and is not removed yet counts once. */
export function wholeFiles(files: readonly string[]): readonly string[] {
  const isCopy = (file: string): boolean => file.endsWith(PACKED) && files.includes(file.slice(0, -PACKED.length));
  return files.filter((file) => !file.endsWith(UNFINISHED) && !isCopy(file));
}

export function isLater(a: LogMoment, b: LogMoment): boolean {
  return a.atMs > b.atMs || (a.atMs === b.atMs && (a.time ?? "") > (b.time ?? ""));
}

/** Packed or not; undefined if it is gone. */
export function openLogFile(path: string): Promise<ReadableFile | undefined> {
  return path.endsWith(PACKED) ? openPackedFile(path) : openGrowingFile(path);
}

async function beganAt(path: string): Promise<LogMoment | undefined> {
  const file = await openLogFile(path);
  if (file === undefined) return undefined;
  try {
    return await firstMoment(file);
  } finally {
    await file[Symbol.asyncDispose]();
  }
}

/** When the first line of a file was written. Of a packed one that nobody has read from. */
export async function firstMoment(file: ReadableFile): Promise<LogMoment | undefined> {
  const [cutter, lines] = [new LineCutter(), new LogLines()];
  for (let position = 0; ;) {
    const chunk = await file.read(position);
    if (chunk.length === 0) return undefined;
    position += chunk.length;
    for (const bytes of cutter.cut(chunk)) {
      const line = lines.parse(bytes);
      if (line !== undefined) return line;
    }
  }
}
