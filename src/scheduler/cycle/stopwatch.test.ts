import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { Stopwatch } from "./stopwatch.ts";

test("a stopwatch measures each extension point from the end of the one before", () => {
  let nowMs = 1_000;
  const seen: unknown[] = [];
  const stopwatch = new Stopwatch(() => nowMs, { extensionPoint: (point, labels, seconds) => void seen.push([point, labels, seconds]) });

  stopwatch.start("default");
  nowMs += 250;
  stopwatch.lap("PreFilter");
  nowMs += 500;
  stopwatch.lap("Filter", "Unschedulable");

  deepEqual(seen, [
    ["PreFilter", { status: "Success", profile: "default" }, 0.25],
    ["Filter", { status: "Unschedulable", profile: "default" }, 0.5],
  ]);
});
