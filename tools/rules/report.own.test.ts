import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { reportOf } from "./report.ts";
import type { Rule } from "./rules.ts";

const own: Rule = { kinds: ["B"], type: "FieldValueRequired", fields: ["x"], details: [""], upstream: "CheckB" };
const shared: Rule = { kinds: ["A", "B"], type: "FieldValueForbidden", fields: ["y"], details: ["no"], upstream: "CheckBoth" };

test("an uncovered rule is listed once, under the first of its kinds, and fails", () => {
  deepEqual(reportOf([own, shared], new Set([own]), []), {
    lines: [
      "A: 1 rules, 0 covered, 0 explained",
      "  FieldValueForbidden y: no (CheckBoth) [2 kinds]",
      "B: 1 rules, 1 covered, 0 explained",
      "2 rules, 1 covered by tests, 0 explained, 1 neither",
    ],
    ok: false,
  });
});

test("--kind lists shared rules too", () => {
  deepEqual(reportOf([own, shared], new Set(), [], { kind: "B" }).lines, [
    "B: 2 rules, 0 covered, 0 explained",
    "  FieldValueRequired x (CheckB)",
    "  FieldValueForbidden y: no (CheckBoth) [2 kinds]",
    "2 rules, 0 covered by tests, 0 explained, 2 neither",
  ]);
});

test("an explained rule passes", () => {
  const report = reportOf([own, shared], new Set([own]), [{ rule: /^FieldValueForbidden y/, why: "y is never there" }]);

  deepEqual(report.lines.at(-1), "2 rules, 1 covered by tests, 1 explained, 0 neither");
  deepEqual(report.ok, true);
});

test("an explanation of a covered rule fails, except with --kind", () => {
  const stale = [{ rule: "FieldValueRequired x (CheckB)", why: "was so once" }];

  deepEqual(reportOf([own], new Set([own]), stale), {
    lines: [
      "B: 1 rules, 1 covered, 0 explained",
      "Unused explanation: FieldValueRequired x (CheckB)",
      "1 rules, 1 covered by tests, 0 explained, 0 neither",
    ],
    ok: false,
  });
  deepEqual(reportOf([own], new Set([own]), stale, { kind: "B" }).ok, true);
});
