/**
 * Synchronous reads at arbitrary offsets of a file: for many small reads a promise each would take ten times as long. Long-running callers
 * await a `read` now and then to yield to the event loop.
 */
import { readSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";

/** Read-ahead size: a system call for this much takes only five times as long as one for a page. */
const AHEAD_BYTES = 65_536;

export async function openFileReader(path: string): Promise<FileReader> {
  const file = await open(path, "r");
  try {
    return new FileReader(file, (await file.stat()).size);
  } catch (error) {
    await file.close();
    throw error;
  }
}

export class FileReader {
  readonly sizeBytes: number;
  readonly #file: FileHandle;

  constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  /** Fills `into` with the bytes at `position`. */
  async read(into: Uint8Array, position: number): Promise<void> {
    const { bytesRead } = await this.#file.read(into, 0, into.length, position);
    if (bytesRead < into.length) throw endsEarly(position + bytesRead);
  }

  /** Same, synchronous, for the first `length` bytes of `into`. */
  readNow(into: Uint8Array, length: number, position: number): void {
    const bytesRead = readSync(this.#file.fd, into, 0, length, position);
    if (bytesRead < length) throw endsEarly(position + bytesRead);
  }

  /** `lengthMax`: the longest range that is read. */
  window(lengthMax: number): FileWindow {
    return new FileWindow(this, Math.max(lengthMax, AHEAD_BYTES));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** The range of a file that was read last. Reads ahead on sequential access, and only the requested range otherwise. */
export class FileWindow {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #file: FileReader;
  #start = 0;
  #end = 0;

  constructor(file: FileReader, sizeBytes: number) {
    this.#file = file;
    this.bytes = new Uint8Array(sizeBytes);
    this.view = new DataView(this.bytes.buffer);
  }

  /** Offset in `bytes` of the `length` bytes at `position` of the file, valid until the next call. */
  look(position: number, length: number): number {
    if (position < this.#start || position + length > this.#end) this.#load(position, length);
    return position - this.#start;
  }

  #load(position: number, length: number): void {
    const follows = position + length > this.#end && position - this.#end < AHEAD_BYTES && position >= this.#start;
    const wanted = follows ? Math.max(length, Math.min(this.bytes.length, this.#file.sizeBytes - position)) : length;
    this.#file.readNow(this.bytes, wanted, position);
    this.#start = position;
    this.#end = position + wanted;
  }
}

function endsEarly(position: number): Error {
  return new Error(`Unexpected end of file at byte ${position}`);
}
