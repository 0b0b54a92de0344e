import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { lookAt } from "./compression.ts";

async function* inPieces(bytes: readonly number[], sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += sizeBytes) yield Uint8Array.from(bytes.slice(offset, offset + sizeBytes));
}

describe("detectCompression recognizes the format by its first bytes", () => {
  for (const { bytes, is } of [
    { bytes: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0], is: "gzip" },
    { bytes: [0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3, 4], is: "zstd" },
    { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 1, 2], is: "xz" },
    { bytes: [0x42, 0x5a, 0x68, 0x39, 1, 2, 3, 4], is: "bzip2" },
    { bytes: [0x1f, 0x8c, 1, 2, 3, 4, 5, 6], is: undefined },
    { bytes: [0x1f, 0x8b], is: "gzip" },
    { bytes: [0x1f], is: undefined },
    { bytes: [], is: undefined },
  ]) {
    for (const sizeBytes of [1, 3, 100]) {
      test(`${bytes.length} bytes of ${is ?? "no known format"} in chunks of ${sizeBytes} are returned completely`, async () => {
        const { compression, pieces } = await lookAt(inPieces(bytes, sizeBytes));
        equal(compression, is);
        const whole: number[] = [];
        for await (const piece of pieces) whole.push(...piece);
        deepEqual(whole, bytes);
      });
    }
  }
});
