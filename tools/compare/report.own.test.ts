import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { reportOf } from "./report.ts";

const found = [
  { comparison: "fields", text: "A.x: ours 1, theirs 2" },
  { comparison: "fields", text: "A.y: ours 3, theirs 4" },
  { comparison: "numbers", text: "A.x: ours 1, theirs 2" },
];

test("each difference is printed above its explanation, and the report passes if all are explained", () => {
  const report = reportOf(found, [
    { comparison: "fields", difference: /^A\./, why: "A is special" },
    { comparison: "numbers", difference: "A.x: ours 1, theirs 2", why: "x is counted twice" },
  ]);

  deepEqual(report, {
    lines: [
      "fields: A.x: ours 1, theirs 2",
      "fields: A.y: ours 3, theirs 4",
      "  → A is special",
      "",
      "numbers: A.x: ours 1, theirs 2",
      "  → x is counted twice",
      "",
      "3 differences, 3 explained, 0 unexplained",
    ],
    ok: true,
  });
});

test("a difference without an explanation fails, and an explanation applies to one comparison only", () => {
  const report = reportOf(found, [{ comparison: "fields", difference: /^A\./, why: "A is special" }]);

  deepEqual(report.lines.slice(-2), ["numbers: A.x: ours 1, theirs 2", "3 differences, 2 explained, 1 unexplained"]);
  deepEqual(report.ok, false);
});

test("an unused explanation fails", () => {
  const report = reportOf([], [{ comparison: "fields", difference: "B", why: "was so once" }]);

  deepEqual(report, { lines: ["Unused explanation: fields: B", "0 differences, 0 explained, 0 unexplained"], ok: false });
});
