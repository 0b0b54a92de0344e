import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LineCutter, LogLines, tailStart, withAllDigits } from "./log-lines.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const TIME = "2016-10-06T00:17:09.669794202Z";
const AT_MS = Date.parse("2016-10-06T00:17:09.669Z");

for (const { title, line, expected } of [
  { title: "a whole line", line: `${TIME} stdout F log content`, expected: { stream: "stdout", text: "log content" } },
  { title: "a part of a line", line: `${TIME} stderr P log`, expected: { stream: "stderr", text: "log", isPartial: true } },
  { title: "an empty line", line: `${TIME} stdout F `, expected: { stream: "stdout", text: "" } },
  { title: "unknown tags", line: `${TIME} stdout P:later x`, expected: { stream: "stdout", text: "x", isPartial: true } },
  {
    title: "a Docker line",
    line: `{"log":"a \\"b\\"\\n","stream":"stdout","time":"${TIME}"}`,
    expected: { stream: "stdout", text: 'a "b"' },
  },
  {
    title: "a part of a Docker line",
    line: `{"log":"a","stream":"stderr","time":"${TIME}"}`,
    expected: { stream: "stderr", text: "a", isPartial: true },
  },
  { title: "not a line: another stream", line: `${TIME} stdin F x`, expected: undefined },
  { title: "not a line: no timestamp", line: "yesterday stdout F x", expected: undefined },
  { title: "not a line: no tag", line: `${TIME} stdout`, expected: undefined },
  { title: "not a line: broken JSON", line: `{"log":`, expected: undefined },
] as const) {
  test(`LogLines parses ${title}`, () => {
    deepEqual(new LogLines().parse(bytes(line)), expected === undefined ? undefined : { atMs: AT_MS, time: TIME, ...expected });
  });
}

test("a character split across two partial lines is joined, per stream", () => {
  const lines = new LogLines();
  const [first, second] = [bytes("ü").subarray(0, 1), bytes("ü").subarray(1)];
  const line = (head: string, tail: Uint8Array): Uint8Array => Uint8Array.from([...bytes(head), ...tail]);

  const texts = [
    lines.parse(line(`${TIME} stdout P a`, first)),
    lines.parse(bytes(`${TIME} stderr F b`)),
    lines.parse(line(`${TIME} stdout F `, second)),
  ].map((found) => found?.text);

  deepEqual(texts, ["a", "b", "ü"]);
});

for (const [given, expected] of [
  ["2016-10-06T00:17:09Z", "2016-10-06T00:17:09.000000000Z"],
  ["2016-10-06T00:17:09.5+02:00", "2016-10-06T00:17:09.500000000+02:00"],
  [TIME, TIME],
] as const) {
  test(`timestamp ${given} is padded to ${expected}`, () => equal(withAllDigits(given), expected));
}

const someLines = fc.array(
  fc.string({ maxLength: 30 }).map((text) => text.replaceAll("\n", "")),
  { maxLength: 50 },
);

test("bytes are split into the same lines for any chunking", () => {
  fc.assert(
    fc.property(someLines, fc.array(fc.nat(40)), (lines, sizes) => {
      const all = bytes(lines.map((line) => `${line}\n`).join("") + "rest");
      const cutter = new LineCutter();
      const found: string[] = [];
      for (let at = 0, index = 0; at < all.length; index++) {
        const size = 1 + (sizes[index % Math.max(1, sizes.length)] ?? 7);
        for (const line of cutter.cut(all.subarray(at, at + size))) found.push(new TextDecoder().decode(line));
        at += size;
      }
      deepEqual([found, new TextDecoder().decode(cutter.takeRest())], [lines.map(wellFormed), "rest"]);
    }),
  );
});

test("the offset of the last lines of a file equals that of counting all lines", async () => {
  await fc.assert(
    fc.asyncProperty(someLines, fc.nat(60), fc.boolean(), async (lines, count, isOpen) => {
      const wide = lines.map((line) => line.padEnd(900, "x"));
      const all = bytes(wide.map((line) => `${line}\n`).join("") + (isOpen ? "open" : ""));
      const file = { read: async (position: number, lengthMax: number) => all.subarray(position, position + lengthMax) };

      const start = await tailStart(file, all.length, count);

      const expected = count === 0 ? [] : wide.slice(-count);
      equal(
        new TextDecoder().decode(all.subarray(start)),
        wellFormed(expected.map((line) => `${line}\n`).join("")) + (isOpen ? "open" : ""),
      );
    }),
  );
});

/** A lone surrogate after a round trip through UTF-8. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}
