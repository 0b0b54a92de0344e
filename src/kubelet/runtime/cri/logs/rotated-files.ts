/**
 * The rotated files of a log and their order. They are named after the timestamp of the rotation, and the oldest are compressed, then
 * removed; so a file that a reader has open may meanwhile be compressed under another name, and is recognized by its lines: each file
 * begins later than the one before it. Not here: the rotation itself (log-rotation.ts).
 */
import { fileState, filesLike, openGrowingFile, openPackedFile, type ReadableFile } from "../../../../host/files/log-files.ts";
import type { LogLine } from "../../../contracts/runtime.ts";
import { LineCutter, LogLines } from "./log-lines.ts";

export const COMPRESSED = ".gz";
/** While it is being compressed. */
export const UNFINISHED = ".tmp";

export type LogTimestamp = Pick<LogLine, "atMs" | "time">;

/** A file of a log that a reader has read. */
export interface ReadFile {
  readonly identity: string;
  /** Timestamp of its first line; undefined if it has none. */
  startTimestamp(): Promise<LogTimestamp | undefined>;
}

/** Returns the file after `read`, in the order in which they were written: a rotated one, or `path`, the current one. */
export async function fileAfter(read: ReadFile, path: string): Promise<string> {
  let after = path;
  // Newest first: usually only that one is of interest.
  for (const file of wholeFiles(await filesLike(`${path}.`)).toReversed()) {
    if (!(await isAfter(read, file))) return after;
    after = file;
  }
  return after;
}

async function isAfter(read: ReadFile, file: string): Promise<boolean> {
  if ((await fileState(file))?.identity === read.identity) return false;
  const [mine, other] = [await read.startTimestamp(), await startTimestamp(file)];
  return mine !== undefined && other !== undefined && isLater(other, mine);
}

/** `files` are sorted. A compressed file whose original still exists counts once. */
export function wholeFiles(files: readonly string[]): readonly string[] {
  const isCopy = (file: string): boolean => file.endsWith(COMPRESSED) && files.includes(file.slice(0, -COMPRESSED.length));
  return files.filter((file) => !file.endsWith(UNFINISHED) && !isCopy(file));
}

export function isLater(a: LogTimestamp, b: LogTimestamp): boolean {
  return a.atMs > b.atMs || (a.atMs === b.atMs && (a.time ?? "") > (b.time ?? ""));
}

/** Compressed or not; undefined if it was removed. */
export function openLogFile(path: string): Promise<ReadableFile | undefined> {
  return path.endsWith(COMPRESSED) ? openPackedFile(path) : openGrowingFile(path);
}

async function startTimestamp(path: string): Promise<LogTimestamp | undefined> {
  const file = await openLogFile(path);
  if (file === undefined) return undefined;
  try {
    return await firstTimestamp(file);
  } finally {
    await file[Symbol.asyncDispose]();
  }
}

/** Timestamp of the first line of a file; `undefined` if it has none. A compressed file must not have been read before. */
export async function firstTimestamp(file: ReadableFile): Promise<LogTimestamp | undefined> {
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
