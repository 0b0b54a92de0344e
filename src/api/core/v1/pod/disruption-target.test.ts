import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodCondition } from "../../../generated/core/v1.ts";
import { disruptionTarget } from "./disruption-target.ts";
import { buildPod } from "../../../testing/pod.ts";

const NOW = "2026-01-01T00:10:00Z";
const SINCE = "2026-01-01T00:00:00Z";
const SAID: PodCondition = {
  type: "DisruptionTarget",
  status: "True",
  reason: "R",
  message: "m",
  observedGeneration: 1,
  lastTransitionTime: SINCE,
};

function aPod(...conditions: readonly PodCondition[]): Pod {
  return buildPod({ metadata: { generation: 2 }, status: { conditions } });
}

function say(pod: Pod, disruption: Parameters<typeof disruptionTarget>[1]): PodCondition | undefined {
  return disruptionTarget(pod, disruption, Date.parse(NOW));
}

test("DisruptionTarget has the reason, the transition time and the observed generation", () => {
  deepEqual(say(aPod(), { status: "True", reason: "R", message: "m" }), { ...SAID, observedGeneration: 2, lastTransitionTime: NOW });
});

test("an unchanged DisruptionTarget is not written again", () =>
  equal(say(aPod(SAID), { status: "True", reason: "R", message: "m" }), undefined));

test("another reason keeps the transition time", () => {
  deepEqual(say(aPod(SAID), { status: "True", reason: "S", message: "m" }), { ...SAID, reason: "S", observedGeneration: 2 });
});

test("a revoked DisruptionTarget is False, with a new transition time", () => {
  const taken = { type: "DisruptionTarget", status: "False", observedGeneration: 2, lastTransitionTime: NOW };
  deepEqual(say(aPod(SAID), { status: "False" }), taken);
});
