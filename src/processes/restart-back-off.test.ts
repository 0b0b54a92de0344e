import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { restartWaitMs } from "./restart-back-off.ts";

test("a process that keeps ending is waited for twice as long each time, up to half a minute", () => {
  const waits: number[] = [];
  for (let waitMs = 0; waits.length < 7; waits.push(waitMs)) waitMs = restartWaitMs(waitMs, 100);

  deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test("one that ran for a minute is started again soon", () => {
  equal(restartWaitMs(30_000, 59_999), 30_000);
  equal(restartWaitMs(30_000, 60_000), 1_000);
});
