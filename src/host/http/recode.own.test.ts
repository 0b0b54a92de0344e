import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from "node:zlib";
import { canRecode, recoded, type BodyChange } from "./recode.ts";

/** Holds back the last byte until the next chunk. */
function upperCase(): BodyChange {
  let held = "";
  return {
    write(piece) {
      const text = held + Buffer.from(piece).toString().toUpperCase();
      held = text.slice(-1);
      return Buffer.from(text.slice(0, -1));
    },
    end: () => Buffer.from(held),
  };
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}

async function allOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

const TEXT = "some words, again and again ".repeat(1_000);

for (const { encoding, pack, unpack } of [
  { encoding: "", pack: (bytes: Buffer) => bytes, unpack: (bytes: Buffer) => bytes },
  { encoding: "gzip", pack: gzipSync, unpack: gunzipSync },
  { encoding: "deflate", pack: deflateRawSync, unpack: inflateRawSync },
]) {
  test(`a body with the encoding "${encoding}" is changed and keeps its encoding`, async () => {
    equal(canRecode(encoding), true);
    const changed = await allOf(recoded(piecesOf(pack(Buffer.from(TEXT))), encoding, upperCase()));
    equal(unpack(changed).toString(), TEXT.toUpperCase());
  });
}

test("a body with an unsupported encoding is not changed, and one that does not match its encoding fails", async () => {
  deepEqual(["br", "zstd", "constructor"].map(canRecode), [false, false, false]);
  await rejects(allOf(recoded(piecesOf(Buffer.from(TEXT)), "gzip", upperCase())), /incorrect header check/);
});

test("an error of the body's source is passed on", async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield gzipSync(TEXT).subarray(0, 20);
    throw new Error("connection lost");
  }
  await rejects(allOf(recoded(broken(), "gzip", upperCase())), /connection lost/);
});
