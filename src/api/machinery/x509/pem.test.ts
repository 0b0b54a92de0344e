import assert from "node:assert/strict";
import test from "node:test";
import { pemBlocks } from "./pem.ts";
import { bytesOf } from "./testing/samples.ts";

const BLOCK = "-----BEGIN A-----\naGVs\nbG8=\n-----END A-----\n";

function read(file: string): readonly string[] {
  return Array.from(
    pemBlocks(bytesOf(file)),
    ({ type, hasHeaders, bytes }) => `${type}${hasHeaders ? "*" : ""}=${new TextDecoder().decode(bytes)}`,
  );
}

const ROWS: readonly [title: string, file: string, blocks: readonly string[]][] = [
  ["nothing", "", []],
  ["one block", BLOCK, ["A=hello"]],
  [
    "two blocks with words around them",
    `words\n${BLOCK}more\n${BLOCK.replaceAll("A", "B C").replace("B CG", "AG")}end`,
    ["A=hello", "B C=hello"],
  ],
  ["other line breaks and blanks", BLOCK.replaceAll("\n", " \t\r\n"), ["A=hello"]],
  ["headers", BLOCK.replace("\n", "\na: b\nc: d\n\n"), ["A*=hello"]],
  ["no contents", "-----BEGIN A-----\n-----END A-----", ["A="]],
  ["a beginning without an end before one that has one", `-----BEGIN X-----\n${BLOCK}`, ["A=hello"]],
  ["an end of another type", `-----BEGIN X-----\nAAAA\n-----END Y-----\n${BLOCK}`, ["A=hello"]],
  ["a beginning in the middle of a line", `x${BLOCK}`, []],
  ["a line of the type that does not end", BLOCK.replace("A-----", "A----"), []],
  ["something behind the end", BLOCK.replace("END A-----", "END A-----x"), []],
  ["contents that are no base64", BLOCK.replace("bG8=", "bG8"), []],
  ["no end", BLOCK.slice(0, 30), []],
  ["many ends before and blanks behind", `${"\n-----END A-----".repeat(50_000)}\n${BLOCK}${" ".repeat(100_000)}x`, ["A=hello"]],
];

for (const [title, file, blocks] of ROWS) {
  test(`a file with ${title} has ${blocks.length} blocks`, () => {
    assert.deepEqual(read(file), blocks);
  });
}
