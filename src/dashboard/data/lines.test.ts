import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { lineBatches, type LineOptions } from "./lines.ts";

const ROWS: readonly {
  readonly it: string;
  readonly pieces: readonly string[];
  readonly options?: LineOptions;
  readonly lines: string[][];
}[] = [
  { it: "joins a line that arrives in pieces", pieces: ["a\nb", "c\n"], lines: [["a"], ["bc"]] },
  { it: "yields the last line without an end", pieces: ["a\nb"], lines: [["a"], ["b"]] },
  { it: "splits a line that is too long", pieces: ["abcde\nf\n"], options: { charactersMax: 2 }, lines: [["ab", "cd", "e", "f"]] },
  {
    it: "retains at most one line of a text without line feeds",
    pieces: ["abc", "def"],
    options: { charactersMax: 2 },
    lines: [["ab"], ["cd"], ["ef"]],
  },
];

for (const { it, pieces, options, lines } of ROWS) {
  test(`lineBatches ${it}`, async () => {
    const batches: (readonly string[])[] = [];
    for await (const batch of lineBatches(bytesOf(pieces), options)) batches.push(batch);
    deepEqual(batches, lines);
  });
}

async function* bytesOf(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}
