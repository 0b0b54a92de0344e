import { deepEqual, rejects, throws } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { testSeed } from "../../testing/rounds.ts";
import { openFileReader, type FileReader } from "./file-reader.ts";

const FILE_BYTES = 500_000;

async function withFile(body: (reader: FileReader, content: Uint8Array) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-reader-"));
  const random = seededRandom(testSeed());
  const content = Uint8Array.from({ length: FILE_BYTES }, () => random.below(256));
  await writeFile(join(directory, "file"), content);
  const reader = await openFileReader(join(directory, "file"));
  try {
    await body(reader, content);
  } finally {
    await reader.close();
    await rm(directory, { recursive: true });
  }
}

test("a window returns the bytes of the file at any offset: sequentially, at random, up to the end", () =>
  withFile(async (reader, content) => {
    const random = seededRandom(testSeed());
    const window = reader.window(1_000);
    let position = 0;
    for (let look = 0; look < 2_000; look++) {
      const length = 1 + random.below(1_000);
      position = random.below(4) === 0 ? random.below(FILE_BYTES) : position + random.below(2_000);
      if (position + length > FILE_BYTES) position = FILE_BYTES - length;
      const at = window.look(position, length);
      deepEqual(window.bytes.subarray(at, at + length), content.subarray(position, position + length));
    }
  }));

test("bytes are read synchronously and asynchronously", () =>
  withFile(async (reader, content) => {
    const piece = new Uint8Array(100);
    await reader.read(piece, 300_000);
    deepEqual(piece, content.subarray(300_000, 300_100));
    reader.readNow(piece, 50, 400_000);
    deepEqual(piece.subarray(0, 50), content.subarray(400_000, 400_050));
  }));

test("a read beyond the end is an error, not a short read", () =>
  withFile(async (reader) => {
    const beyond = { message: `Unexpected end of file at byte ${FILE_BYTES}` };
    await rejects(reader.read(new Uint8Array(100), FILE_BYTES - 99), beyond);
    throws(() => reader.readNow(new Uint8Array(100), 100, FILE_BYTES - 99), beyond);
    throws(() => reader.window(100).look(FILE_BYTES - 99, 100), beyond);
  }));
