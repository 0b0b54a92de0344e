import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { messagesAsOne } from "./images.ts";
import { DownloadSum } from "./pull-progress.ts";

test("pull progress counts completed parts in full and adds newly found parts to the total", () => {
  const sum = new DownloadSum();

  const reported = [
    sum.add([{ ref: "a", offset: 1, total: 10 }]),
    sum.add([
      { ref: "a", offset: 6, total: 10 },
      { ref: "b", offset: 0, total: 5 },
    ]),
    sum.add([{ ref: "b", offset: 2, total: 5 }]),
    sum.add([]),
  ];

  deepEqual(reported, [
    { bytes: 1, totalBytes: 10 },
    { bytes: 6, totalBytes: 15 },
    { bytes: 12, totalBytes: 15 },
    { bytes: 15, totalBytes: 15 },
  ]);
});

for (const { failures, expected } of [
  { failures: [new Error("a")], expected: "a" },
  { failures: [new Error("a"), new Error("a")], expected: "a" },
  { failures: [new Error("a"), new Error("b")], expected: "[a, b]" },
]) {
  test(`aggregate reports ${failures.length} failures as ${expected}`, () => equal(messagesAsOne(failures), expected));
}
