import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodSpec } from "../../api/generated/core/v1.ts";
import { comparePendingResizes, type PendingResize } from "./resize-order.ts";
import { buildPod } from "../../api/testing/pod.ts";

function pod(cpu: string, more: Partial<PodSpec> = {}): Pod {
  return buildPod({
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", resources: { requests: { cpu } } }], ...more },
    // Its reported status does not show a decrease.
    status: {
      containerStatuses: [{ name: "c", image: "", imageID: "", ready: true, restartCount: 0, resources: { requests: { cpu: "9" } } }],
    },
  });
}

function grows(more: Partial<PodSpec> = {}, sinceMs?: number): PendingResize {
  return { pod: pod("2", more), allocated: pod("1", more), sinceMs };
}

const amounts = { cpu: "2", memory: "1" };
const guaranteed = { containers: [{ name: "c", resources: { requests: amounts, limits: amounts } }] };

for (const [it, first, second] of [
  ["a decrease precedes a high priority", { ...grows(), pod: pod("500m") }, grows({ priority: 9 })],
  ["a higher priority precedes a Guaranteed Pod", grows({ priority: 1 }), { ...grows(), pod: pod("2", guaranteed) }],
  ["a Guaranteed Pod precedes one that has waited", { ...grows(), pod: pod("2", guaranteed) }, grows({}, 1)],
  ["the longest wait comes first", grows({}, 1), grows({}, 2)],
  ["… and precedes one without a wait", grows({}, 1), grows()],
] as const) {
  test(it, () => {
    assert.deepEqual([comparePendingResizes(first, second) < 0, comparePendingResizes(second, first) > 0], [true, true]);
  });
}

test("equal resizes have no order", () => {
  assert.equal(comparePendingResizes(grows(), grows()), 0);
});
