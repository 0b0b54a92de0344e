import { equal } from "node:assert/strict";
import { test } from "node:test";
import { parseProcessorTimeMs } from "./processor-time.ts";

test("processor time is the sum of user and system time of the process and its terminated descendants", () => {
  equal(parseProcessorTimeMs("7 (a) b c) S 1 7 7 0 -1 4194304 9 0 0 0 100 20 3 4 20 0 1 0 86 0 0\n"), 1_270);
});
