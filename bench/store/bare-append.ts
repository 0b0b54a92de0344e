/**
 * Lower bound for durable writes on a disk: append to a file, fdatasync, respond. Writes that arrive while the disk is busy share the next
 * sync. Nothing can be read back: no store can be faster.
 */
import { open, type FileHandle } from "node:fs/promises";
import type { Create } from "./load.ts";

interface Waiting {
  readonly buffers: readonly Uint8Array[];
  resolve(): void;
  reject(error: unknown): void;
}

export async function openBareAppend(path: string): Promise<Create> {
  const file = await open(path, "a");
  let waiting: Waiting[] = [];
  let busy = false;

  async function flush(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await append(file, group);
    }
    busy = false;
  }

  return (key, bytes) =>
    new Promise((resolve, reject) => {
      waiting.push({ buffers: [Buffer.from(key), bytes], resolve, reject });
      // In the next event-loop tick, so that concurrent writes share a sync.
      if (!busy) setImmediate(() => void (busy || flush()));
    });
}

async function append(file: FileHandle, group: readonly Waiting[]): Promise<void> {
  try {
    await file.appendFile(Buffer.concat(group.flatMap(({ buffers }) => buffers)));
    await file.datasync();
    for (const { resolve } of group) resolve();
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
