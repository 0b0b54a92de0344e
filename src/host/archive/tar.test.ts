import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert, asyncProperty, integer, string, uint8Array } from "fast-check";
import { readTar, TarError, type TarPart } from "./tar-reader.ts";
import { joined, writeTar, type TarEntry } from "./tar-writer.ts";

/** Chunks of this many bytes. */
async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += pieceBytes) yield bytes.subarray(offset, offset + pieceBytes);
}

async function contentOf(part: TarPart): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of part.content()) pieces.push(piece.slice());
  return joined(pieces);
}

async function filesIn(tar: Uint8Array, pieceBytes = 100): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const part of readTar(inPieces(tar, pieceBytes))) found.push([part.path, new TextDecoder().decode(await contentOf(part))]);
  return found;
}

const file = (path: string, text: string): TarEntry => ({ is: "file", path, content: new TextEncoder().encode(text) });

test("a written tar archive is read back, however it is split into chunks", () =>
  assert(
    asyncProperty(
      array(uint8Array({ maxLength: 1_500 }), { maxLength: 5 }),
      integer({ min: 1, max: 2_000 }),
      async (contents, pieceBytes) => {
        const entries = contents.map((content, index): TarEntry => ({ is: "file", path: `folder/${index}`, content }));
        const read: TarEntry[] = [];
        for await (const part of readTar(inPieces(writeTar(entries), pieceBytes))) {
          read.push({ is: "file", path: part.path, content: await contentOf(part) });
        }
        deepEqual(read, entries);
      },
    ),
  ));

test("arbitrary bytes give a TarError or no entries, and no other error", () =>
  assert(
    asyncProperty(uint8Array({ maxLength: 3_000 }), async (bytes) => {
      try {
        equal((await filesIn(bytes)).length, 0);
      } catch (error) {
        equal(error instanceof TarError, true, String(error));
      }
    }),
  ));

test("directories and links are distinguished, and unread content is skipped", async () => {
  const tar = writeTar([{ is: "directory", path: "a" }, file("a/b", "x".repeat(1_000)), { is: "link", path: "a/c", target: "b" }]);
  const parts: [string, string, string][] = [];
  for await (const { path, is, target } of readTar(inPieces(tar, 512))) parts.push([path, is, target]);
  deepEqual(parts, [
    ["a", "directory", ""],
    ["a/b", "file", ""],
    ["a/c", "link", "b"],
  ]);
});

/** An entry of a type that the writer does not write. */
function special(type: string, name: string, content: string): Uint8Array {
  const block = writeTar([file(name, content)]).slice(0, 512 + Math.ceil(content.length / 512) * 512);
  block[156] = type.charCodeAt(0);
  block.set(new TextEncoder().encode(" ".repeat(8)), 148);
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  block.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return block;
}

describe("long names are read", () => {
  const long = `${"folder/".repeat(30)}file`;
  for (const { it, before } of [
    { it: "as GNU writes them", before: special("L", "././@LongLink", `${long}\0`) },
    { it: "as pax writes them", before: special("x", "PaxHeaders/x", `${long.length + 10} path=${long}\n`) },
  ]) {
    test(it, async () => deepEqual(await filesIn(joined([before, writeTar([file("short", "text")])])), [[long, "text"]]));
  }

  test("global pax headers are ignored", async () => {
    deepEqual(await filesIn(joined([special("g", "pax_global_header", "18 comment=abcdef\n"), writeTar([file("./short", "text")])])), [
      ["short", "text"],
    ]);
  });
});

describe("a corrupt tar archive is reported", () => {
  const tar = writeTar([file("a", "some text")]);
  for (const { it, bytes, says } of [
    { it: "an end within a header", bytes: tar.subarray(0, 300), says: /ends in the middle of a header/ },
    { it: "an end within a file", bytes: tar.subarray(0, 515), says: /ends in the middle of a file/ },
    { it: "a changed header", bytes: tar.map((byte, index) => (index === 5 ? byte ^ 1 : byte)), says: /the sum of a header is wrong/ },
    {
      it: "a pax header whose line is longer than the header",
      bytes: joined([special("x", "PaxHeaders/x", "99 path=short\n"), tar]),
      says: /a pax header is damaged/,
    },
    { it: "something else", bytes: new TextEncoder().encode("PK\x03\x04".repeat(200)), says: /it is damaged, or no tar/ },
  ]) {
    test(it, () => rejects(filesIn(bytes), says));
  }
});

test("a name that is too long for ustar is rejected", () => {
  throws(() => writeTar([file("x".repeat(101), "")]), /may have 100 bytes/);
});

test("names of arbitrary characters are read back unchanged", () =>
  assert(
    asyncProperty(string({ minLength: 1, maxLength: 20, unit: "grapheme" }), async (text) => {
      const name = `n${text.replaceAll(/[\0/]/g, "")}`;
      deepEqual(await filesIn(writeTar([file(name, "x")])), [[name.toWellFormed(), "x"]]);
    }),
  ));
