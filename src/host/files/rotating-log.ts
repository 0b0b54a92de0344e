/**
 * A log file with rotation: the last ones are kept as name.1.log, name.2.log, …. A new start begins a new file; one that has grown too
 * large is copied and truncated, not renamed, so that other appenders and followers continue. A full disk must not terminate the program:
 * the lines are lost.
 */
import { appendFileSync, copyFileSync, fstatSync, openSync, renameSync, rmSync, closeSync, truncateSync } from "node:fs";
import type { LogLine, LogSink } from "../../base/logger.ts";
import { PRIVATE_FILE_MODE } from "./files.ts";

/** Number of kept files, the current one included. */
const KEPT = 3;
/** Several days of normal operation, and still fast to read. */
const SIZE_BYTES_MAX = 10 * 1024 * 1024;

/** "k8ts.log", 1 → "k8ts.1.log" */
export function olderLog(path: string, age: number): string {
  return path.replace(/\.log$/, `.${age}.log`);
}

/** Rotates the files for a new one at `path`. The oldest is removed. */
export function rotateLogs(path: string): void {
  makeRoom(path);
  try {
    renameSync(path, olderLog(path, 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function makeRoom(path: string): void {
  rmSync(olderLog(path, KEPT - 1), { force: true });
  for (let age = KEPT - 2; age >= 1; age--) {
    try {
      renameSync(olderLog(path, age), olderLog(path, age + 1));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

export interface LogFile extends Disposable {
  readonly sink: LogSink;
  /** Writes a line that is not a log record: output for the user. */
  write(line: string): void;
}

/** Opens it for appending. Throws on failure. */
export function openLogFile(path: string, format: (line: LogLine) => string, { sizeBytesMax = SIZE_BYTES_MAX } = {}): LogFile {
  const file = openSync(path, "a", PRIVATE_FILE_MODE);
  const write = (line: string): void => {
    try {
      appendFileSync(file, `${line}\n`);
      // Other processes may write to it as well, so its size is read and not counted.
      if (fstatSync(file).size > sizeBytesMax) empty(path);
    } catch {
      // There is no other place to report it.
    }
  };
  return { sink: (line) => write(format(line)), write, [Symbol.dispose]: () => closeSync(file) };
}

function empty(path: string): void {
  makeRoom(path);
  copyFileSync(path, olderLog(path, 1));
  truncateSync(path);
}
