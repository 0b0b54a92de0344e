/**
 * A log of lines on disk whose size is bounded: the current file, and the one before. Lines are written in batches, so the last ones before
 * a crash may be lost or torn, and nothing is written synchronously. For data that explains and on which nothing depends: a full disk or a
 * failing write loses lines and reports nothing.
 */
import { appendFile, rename, stat } from "node:fs/promises";
import { PRIVATE_FILE_MODE, readTextIfAny } from "./files.ts";

/** Lines wait at most this long before they are written. */
const FLUSH_DELAY_MS = 1_000;
/** More than this is written at once. */
const BATCH_LENGTH_MAX = 64 * 1024;
/** Batches that wait for a disk that does not respond; further lines are lost, so that memory stays bounded. */
const BATCHES_MAX = 64;

export interface BoundedLineLog extends AsyncDisposable {
  /** `line`: without a line break. */
  append(line: string): void;
}

export interface BoundedLineLogOptions {
  /** Maximum of each of the two files; one batch more. */
  readonly fileBytesMax: number;
}

/** Lines that were written before, oldest first; the last one may be torn. */
export async function readLineLog(path: string): Promise<readonly string[]> {
  const texts = [await readTextIfAny(olderFile(path)), await readTextIfAny(path)];
  return texts.flatMap((text) => text.split("\n")).filter((line) => line !== "");
}

export async function openBoundedLineLog(path: string, { fileBytesMax }: BoundedLineLogOptions): Promise<BoundedLineLog> {
  let sizeBytes = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  // A torn last line must not continue with the first new one.
  let waiting: string[] = sizeBytes === 0 ? [] : [""];
  let waitingLength = 0;
  let waitingBatches = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (text: string): Promise<void> => {
    try {
      if (sizeBytes > fileBytesMax) {
        await rename(path, olderFile(path));
        sizeBytes = 0;
      }
      await appendFile(path, text, { mode: PRIVATE_FILE_MODE });
      sizeBytes += Buffer.byteLength(text);
    } catch {
      // There is nothing to repair: the lines are lost.
    }
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const text = `${waiting.join("\n")}\n`;
    waiting = [];
    waitingLength = 0;
    if (waitingBatches >= BATCHES_MAX) return;
    waitingBatches++;
    writing = writing.then(() => write(text)).then(() => void waitingBatches--);
  };
  return {
    append(line) {
      waiting.push(line);
      waitingLength += line.length;
      if (waitingLength > BATCH_LENGTH_MAX) flush();
      else timer ??= setTimeout(flush, FLUSH_DELAY_MS).unref();
    },
    async [Symbol.asyncDispose]() {
      flush();
      await writing;
    },
  };
}

function olderFile(path: string): string {
  return `${path}.1`;
}
