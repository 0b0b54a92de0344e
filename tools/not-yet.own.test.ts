import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { unexpected } from "./not-yet.ts";

const VIOLATIONS = ["src/a/b.ts:1: x", "src/a/c/d.ts:2: y"];

describe("violations that are not excused remain, and so do entries that excuse nothing", () => {
  for (const { notYet, remain } of [
    { notYet: [], remain: VIOLATIONS },
    { notYet: ["src/a/"], remain: [] },
    { notYet: ["src/a/c/"], remain: ["src/a/b.ts:1: x"] },
    { notYet: ["src/a/*"], remain: ["src/a/c/d.ts:2: y"] },
    { notYet: ["src/a/", "src/b/"], remain: [`NOT_YET has "src/b/", which has no violation any more; remove the line`] },
    { notYet: ["src/a/", "src/*"], remain: [`NOT_YET has "src/*", which has no violation any more; remove the line`] },
  ]) {
    test(JSON.stringify(notYet), () => deepEqual(unexpected(VIOLATIONS, notYet), remain));
  }
});
