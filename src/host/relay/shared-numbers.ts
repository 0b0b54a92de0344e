/**
 * Two numbers that one process writes and another one of this machine reads, both without waiting: a small file, whose content the kernel
 * shows to all processes at once. A read takes a microsecond and needs nothing of the writing process, however busy it is.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { PRIVATE_FILE_MODE } from "../files/files.ts";

/** The first number is written again at the end: if both differ, the file was read while it was written. */
const FIELDS = 3;
const BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT;

/** A write takes microseconds, so that more attempts would mean a damaged file. */
const ATTEMPTS_MAX = 10_000;

export interface NumbersWriter extends Disposable {
  write(first: number, second: number): void;
}

export interface NumbersReader extends Disposable {
  read(): readonly [number, number];
}

/** The file is created, with zeros, if it does not exist. */
export function writeNumbers(path: string): NumbersWriter {
  const file = openSync(path, "w+", PRIVATE_FILE_MODE);
  const fields = new Float64Array(FIELDS);
  const bytes = new Uint8Array(fields.buffer);
  const write = (first: number, second: number): void => {
    fields[0] = fields[2] = first;
    fields[1] = second;
    writeSync(file, bytes, 0, BYTES, 0);
  };
  write(0, 0);
  return { write, [Symbol.dispose]: () => closeSync(file) };
}

export function readNumbers(path: string): NumbersReader {
  const file = openSync(path, "r");
  const fields = new Float64Array(FIELDS);
  const bytes = new Uint8Array(fields.buffer);
  return {
    read() {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const length = readSync(file, bytes, 0, BYTES, 0);
        if (length === BYTES && fields[0] === fields[2]) return [fields[0] as number, fields[1] as number];
      }
      throw new Error(`Cannot read ${path}: its content is damaged`);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}
