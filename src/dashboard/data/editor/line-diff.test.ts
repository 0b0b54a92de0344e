import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lineDiff } from "./line-diff.ts";

const byLine = ([a]: readonly [string, number], [b]: readonly [string, number]) => (a < b ? -1 : 1);
const MARKS = { same: " ", removed: "-", added: "+", gap: "@" };
const diff = (before: string, after: string) => lineDiff(before, after).map(({ is, text }) => `${MARKS[is]}${text}`);

test("the difference of equal texts is empty", () => {
  deepEqual(diff("a\nb\n", "a\nb"), []);
});

test("the difference has changed lines with three lines of context", () => {
  const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  deepEqual(diff(before, before.replace("6", "six")), ["@", " 3", " 4", " 5", "-6", "+six", " 7", " 8", " 9"]);
});

test("the difference to an empty text is added lines only", () => {
  deepEqual(diff("", "a\nb\n"), ["+a", "+b"]);
});

test("the difference is the shortest", () => {
  deepEqual(diff("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc"), ["-a", "-b", " c", "+b", " a", " b", "-b", " a", "+c"]);
});

test("removed and added lines of any difference give both texts", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 30 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after);
      const count = (texts: string, is: readonly string[]) => {
        const known = new Map<string, number>();
        for (const line of texts.split("\n")) known.set(line, (known.get(line) ?? 0) + 1);
        for (const line of lines)
          if (is.includes(line.is)) known.set(line.text, (known.get(line.text) ?? 0) + (line.is === "added" ? 1 : -1));
        return [...known].filter(([, number]) => number !== 0).sort(byLine);
      };
      const expected = new Map<string, number>();
      for (const line of after.split("\n")) expected.set(line, (expected.get(line) ?? 0) + 1);
      deepEqual(count(before, ["added", "removed"]), [...expected].sort(byLine));
    }),
  );
});

test("texts without a common line are one block", () => {
  const numbers = (from: number) => Array.from({ length: 600 }, (_, index) => String(from + index)).join("\n");
  const lines = lineDiff(numbers(0), numbers(10_000));
  equal(lines.length, 1_200);
  equal(lines[599]?.is, "removed");
  equal(lines[600]?.is, "added");
});
