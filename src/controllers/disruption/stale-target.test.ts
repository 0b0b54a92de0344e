import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodCondition } from "../../api/generated/core/v1.ts";
import { staleInMs } from "./stale-target.ts";
import { buildPod } from "../../api/testing/pod.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");

function aPod(condition: Partial<PodCondition>, phase: "Running" | "Failed" = "Running", deletionTimestamp?: string): Pod {
  const target = { type: "DisruptionTarget", status: "True", lastTransitionTime: "2026-01-01T00:09:00Z", ...condition };
  return buildPod({ metadata: deletionTimestamp === undefined ? {} : { deletionTimestamp }, status: { phase, conditions: [target] } });
}

for (const [it, pod, inMs] of [
  ["a minute after it was marked has another minute", aPod({}), 60_000],
  ["that was marked long ago has none", aPod({ lastTransitionTime: "2026-01-01T00:00:00Z" }), -480_000],
  ["that is terminating is unchanged", aPod({}, "Running", "2026-01-01T00:10:30Z"), undefined],
  ["that has ended keeps its condition", aPod({}, "Failed"), undefined],
  ["of which it was taken back needs nothing", aPod({ status: "False" }), undefined],
  ["that its kubelet ends has all the time", aPod({ reason: "TerminationByKubelet" }), undefined],
  ["that was not marked needs nothing", aPod({ type: "Ready" }), undefined],
] as const) {
  test(`a Pod ${it}`, () => equal(staleInMs(pod, NOW_MS), inMs));
}
