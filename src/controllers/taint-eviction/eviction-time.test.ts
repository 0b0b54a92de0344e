import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Pod, Taint, Toleration } from "../../api/generated/core/v1.ts";
import { noExecuteTaints, stayOf, type Stay } from "./eviction-time.ts";
import { buildPod } from "../../api/testing/pod.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");
const UNREACHABLE = "node.kubernetes.io/unreachable";

function aTaint(timeAdded?: string, key = UNREACHABLE): Taint {
  return { key, effect: "NoExecute", ...(timeAdded === undefined ? {} : { timeAdded }) };
}

function aPod(tolerations: readonly Toleration[], scheduledAt?: string): Pod {
  const conditions = scheduledAt === undefined ? [] : [{ type: "PodScheduled", status: "True", lastTransitionTime: scheduledAt }];
  return buildPod({ metadata: { creationTimestamp: "2026-01-01T00:00:00Z" }, spec: { tolerations }, status: { conditions } });
}

function forSeconds(tolerationSeconds?: number, key = UNREACHABLE): Toleration {
  return { key, operator: "Exists", effect: "NoExecute", ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) };
}

const limited = (totalMs: number, remainingMs: number): Stay => ({ is: "limited", totalMs, remainingMs });

const CASES: readonly (readonly [it: string, pod: Pod, taints: readonly Taint[], stay: Stay])[] = [
  ["that tolerates nothing must leave at once", aPod([]), [aTaint()], { is: "over" }],
  ["that tolerates the taint without an end stays", aPod([forSeconds()]), [aTaint()], { is: "forever" }],
  ["must leave at once if one taint is not tolerated", aPod([forSeconds(5)]), [aTaint(), aTaint(undefined, "x")], { is: "over" }],
  ["has its time if the taint does not say since when it is there", aPod([forSeconds(300)]), [aTaint()], limited(300_000, 300_000)],
  ["has what is left of its time", aPod([forSeconds(300)]), [aTaint("2026-01-01T00:09:00Z")], limited(300_000, 240_000)],
  ["whose time is over has none left", aPod([forSeconds(300)]), [aTaint("2026-01-01T00:01:00Z")], limited(300_000, -240_000)],
  [
    "that came after the taint has its time from then",
    aPod([forSeconds(300)], "2026-01-01T00:08:00Z"),
    [aTaint("2026-01-01T00:01:00Z")],
    limited(300_000, 180_000),
  ],
  [
    "has its whole time if the taint is said to come yet",
    aPod([forSeconds(300)]),
    [aTaint("2026-01-01T01:00:00Z")],
    limited(300_000, 300_000),
  ],
  [
    "of several times has the shortest",
    aPod([forSeconds(300), forSeconds(10, "x"), forSeconds(undefined, "y")]),
    [aTaint(), aTaint(undefined, "x"), aTaint(undefined, "y")],
    limited(10_000, 10_000),
  ],
  ["with a time below zero has none", aPod([forSeconds(-5)]), [aTaint()], limited(0, 0)],
];

for (const [it, pod, taints, stay] of CASES) test(`a Pod ${it}`, () => deepEqual(stayOf(pod, taints, NOW_MS), stay));

test("only NoExecute taints evict Pods", () => {
  deepEqual(noExecuteTaints([{ key: "a", effect: "NoSchedule" }, aTaint()]), [aTaint()]);
  deepEqual(noExecuteTaints(undefined), []);
});
