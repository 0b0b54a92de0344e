import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { rangeOf } from "./node-logs.ts";

for (const { header, range } of [
  { header: undefined, range: undefined },
  { header: "bytes=0-3", range: { from: 0, to: 4 } },
  { header: "bytes=4-", range: { from: 4, to: 10 } },
  { header: "bytes=-3", range: { from: 7, to: 10 } },
  { header: "bytes=-30", range: { from: 0, to: 10 } },
  { header: "bytes=8-99", range: { from: 8, to: 10 } },
  { header: "bytes=10-", range: "unsatisfiable" },
  { header: "bytes=5-3", range: undefined },
  { header: "bytes=0-1,4-5", range: undefined },
  { header: "lines=0-1", range: undefined },
  { header: "bytes=-", range: undefined },
]) {
  test(`Range: ${header ?? "(none)"} of ten bytes is ${JSON.stringify(range)}`, () => deepEqual(rangeOf(header, 10), range));
}
