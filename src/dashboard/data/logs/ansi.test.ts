import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { piecesOfLine, plainText, type Piece } from "./ansi.ts";

const ESC = "\u001B";

const CASES: readonly { readonly it: string; readonly line: string; readonly pieces: readonly (readonly [string, string])[] }[] = [
  { it: "plain text is one piece", line: "hello", pieces: [["hello", ""]] },
  { it: "an empty line has no piece", line: "", pieces: [] },
  { it: "a carriage return at the end is removed", line: "hello\r", pieces: [["hello", ""]] },
  {
    it: "a colour applies until it is reset",
    line: `${ESC}[31merror${ESC}[0m: no`,
    pieces: [
      ["error", "fg-1"],
      [": no", ""],
    ],
  },
  { it: "several attributes are combined", line: `${ESC}[1;4;33;41mx`, pieces: [["x", "bold underline fg-3 bg-1"]] },
  { it: "bright colours are those of the same hue", line: `${ESC}[92mx`, pieces: [["x", "fg-2"]] },
  { it: "a colour of the 256 is reduced to the first 16", line: `${ESC}[38;5;9mx`, pieces: [["x", "fg-1"]] },
  { it: "a true colour is ignored with its parameters", line: `${ESC}[38;2;1;2;31mx`, pieces: [["x", ""]] },
  {
    it: "cursor movements and screen clears are removed",
    line: `${ESC}[2J${ESC}[1;1Ha${ESC}[Kb`,
    pieces: [
      ["a", ""],
      ["b", ""],
    ],
  },
  { it: "a title is removed", line: `${ESC}]0;title\u0007after`, pieces: [["after", ""]] },
  { it: "a hyperlink keeps its text only", line: `${ESC}]8;;https://evil.example${ESC}\\text${ESC}]8;;${ESC}\\`, pieces: [["text", ""]] },
  { it: "an unfinished sequence ends with the line", line: `a${ESC}[31`, pieces: [["a", ""]] },
  { it: "control characters become visible", line: "a\u0007b\u0000c\rd", pieces: [["a␇b␀c␍d", ""]] },
  { it: "C1 controls and DEL become visible", line: "a\u0085b\u007F", pieces: [["a\uFFFDb␡", ""]] },
  { it: "changes of the direction become visible", line: "a\u202Eb", pieces: [["a\uFFFDb", ""]] },
  { it: "tabs stay", line: "a\tb", pieces: [["a\tb", ""]] },
];

for (const { it, line, pieces } of CASES)
  test(`a log line: ${it}`, () => {
    deepEqual(
      piecesOfLine(line),
      pieces.map(([text, style]): Piece => ({ text, style })),
    );
    equal(plainText(line), pieces.map(([text]) => text).join(""));
  });
