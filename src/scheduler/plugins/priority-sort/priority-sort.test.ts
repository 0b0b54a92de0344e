import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { QueuedPod } from "../../framework/plugin.ts";
import { made } from "../../framework/testing/call-plugin.ts";
import { aPod, podInfo } from "../../framework/testing/builders.ts";
import { prioritySort } from "./priority-sort.ts";

const plugin = made(prioritySort);
const PRIORITY_MAX = 2 ** 31 - 1;

const ROWS: readonly (readonly [which: string, a: QueuedPod, b: QueuedPod, sign: number])[] = [
  ["the more important Pod is first, even if it came later", queued(100, 2), queued(50, 1), -1],
  ["the less important Pod is second, even if it came earlier", queued(50, 1), queued(100, 2), 1],
  ["of equally important Pods the earlier is first", queued(100, 1), queued(100, 2), -1],
  ["of equally important Pods the later is second", queued(100, 2), queued(100, 1), 1],
  ["Pods with equal timestamps and priorities are equal", queued(100, 1), queued(100, 1), 0],
  ["a Pod without priority has 0", queued(undefined, 2), queued(-1, 1), -1],
  ["the greatest and the least priority are distinguished", queued(PRIORITY_MAX, 2), queued(-PRIORITY_MAX - 1, 1), -1],
];

for (const [which, a, b, sign] of ROWS) {
  test(`PrioritySort: ${which}`, () => equal(Math.sign(plugin.compare?.(a, b) ?? Number.NaN), sign));
}

function queued(priority: number | undefined, queuedAtMs: number): QueuedPod {
  return { info: podInfo(aPod("p", priority === undefined ? {} : { priority })), queuedAtMs };
}
