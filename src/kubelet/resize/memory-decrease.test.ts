import assert from "node:assert/strict";
import { test } from "node:test";
import { isMemoryDecreased, memoryDecreaseError } from "./memory-decrease.ts";

for (const [before, limitBytes, expected] of [
  ["1Ki", 1023, true],
  ["1Ki", 1024, false],
  [undefined, 1024, true],
  ["1Ki", undefined, false],
] as const) {
  test(`a limit of ${limitBytes ?? "nothing"} after ${before ?? "none"} is ${expected ? "" : "not "}a decrease`, () => {
    assert.equal(isMemoryDecreased(before, limitBytes), expected);
  });
}

for (const [limitBytes, usageBytes, expected] of [
  [1000, 999, undefined],
  [1000, 1000, `cannot decrease memory limits: attempting to set container "c" memory limit (1000) below current usage (1000)`],
  [1000, undefined, undefined],
] as const) {
  test(`memory with usage ${usageBytes ?? "unknown"} is ${expected === undefined ? "" : "not "}decreased to ${limitBytes}`, () => {
    assert.equal(memoryDecreaseError({ name: "c", limitBytes, usageBytes }), expected);
  });
}
