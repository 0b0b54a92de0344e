import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { warningHeaders } from "./warnings.ts";

test("warnings are sent once each, without empty ones and those with control characters", () => {
  deepEqual(warningHeaders(["a", "b", "a", "", "two\nlines", 'say "no"']), {
    warning: ['299 - "a"', '299 - "b"', '299 - "say \\"no\\""'],
  });
  deepEqual(warningHeaders([""]), {});
});

test("warnings are sent in UTF-8", () => {
  const { warning = [] } = warningHeaders(["주의: é"]);

  equal(Buffer.from(warning[0] ?? "", "latin1").toString("utf8"), '299 - "주의: é"');
});

test("too long warnings are cut, and end with the one that reaches the limit", () => {
  const many = Array.from({ length: 30 }, (_, index) => `${String(index).padStart(2, "0")} ${"y".repeat(257)}`);

  const { warning = [] } = warningHeaders(many);

  equal(warning.length, 16);
  equal(warning[15], `299 - "15 ${"y".repeat(253)}"`);
});
