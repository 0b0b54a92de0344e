import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { SAMPLES_MAX, UsageHistory } from "./usage-history.ts";

test("the history of usage keeps the newest samples of each object, each measurement once", () => {
  const history = new UsageHistory();

  for (let atMs = 1; atMs <= SAMPLES_MAX + 5; atMs++) for (const _twice of [1, 2]) history.add("a", { atMs, cpu: atMs, memory: 0 });

  equal(history.of("a").length, SAMPLES_MAX);
  equal(history.of("a")[0]?.atMs, 6);
  deepEqual(history.of("b"), []);
});

test("the history of usage drops the objects that were not seen for the longest time", () => {
  const history = new UsageHistory();
  const sample = { atMs: 1, cpu: 1, memory: 1 };

  history.add("old", sample);
  history.add("kept", sample);
  for (let index = 0; index < 4_999; index++) {
    history.add(`other-${index}`, sample);
    history.add("kept", sample);
  }

  deepEqual(history.of("old"), []);
  deepEqual(history.of("kept"), [sample]);
});
