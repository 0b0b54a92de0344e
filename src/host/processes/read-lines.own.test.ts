import { deepEqual } from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { array, assert, asyncProperty, constantFrom, integer } from "fast-check";
import { readLines } from "./read-lines.ts";

async function linesIn(bytes: Buffer, pieceBytes = bytes.length + 1): Promise<readonly string[]> {
  const stream = new PassThrough();
  const lines: string[] = [];
  const read = readLines(stream, (line) => void lines.push(line));
  for (let offset = 0; offset < bytes.length; offset += pieceBytes) stream.write(bytes.subarray(offset, offset + pieceBytes));
  stream.end();
  await read;
  return lines;
}

for (const { it, text, lines } of [
  { it: "lines end at LF and CRLF", text: "a\nb\r\n\nc", lines: ["a", "b", "", "c"] },
  { it: "a stream that ends with a line break has no empty last line", text: "a\n", lines: ["a"] },
  {
    it: "Unicode line separators, which JSON leaves unescaped, are part of a line",
    text: `${JSON.stringify("a\u2028b\u2029c")}\n`,
    lines: ['"a\u2028b\u2029c"'],
  },
]) {
  test(`readLines: ${it}`, async () => deepEqual(await linesIn(Buffer.from(text)), lines));
}

test("readLines reads the same lines however the bytes are cut, also within a character", () =>
  assert(
    asyncProperty(array(constantFrom("a", "é", "😀", "\u2028", " ")), integer({ min: 1, max: 5 }), async (characters, pieceBytes) => {
      const lines = [characters.join(""), "last"];
      deepEqual(await linesIn(Buffer.from(lines.join("\n")), pieceBytes), lines);
    }),
  ));

test("readLines resolves when the stream is destroyed without an end", async () => {
  const stream = new PassThrough();
  const lines: string[] = [];
  const read = readLines(stream, (line) => void lines.push(line));
  const arrived = once(stream, "data");
  stream.write("half");
  await arrived;

  stream.destroy();
  await read;

  deepEqual(lines, ["half"]);
});
