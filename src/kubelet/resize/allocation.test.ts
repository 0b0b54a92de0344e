import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodSpec, PodStatus, ResourceRequirements } from "../../api/generated/core/v1.ts";
import { allocationOf, restoredAllocation, withAllocation } from "./allocation.ts";
import { buildPod } from "../../api/testing/pod.ts";

const cpu = (requests: string, limits?: string): ResourceRequirements => ({
  requests: { cpu: requests },
  ...(limits === undefined ? {} : { limits: { cpu: limits } }),
});

function pod(resources: ResourceRequirements | undefined, more: Partial<PodSpec> = {}, status?: PodStatus): Pod {
  const container = { name: "c", image: "i", ...(resources === undefined ? {} : { resources }) };
  return buildPod({ metadata: { generation: 2 }, spec: { containers: [container], ...more }, ...(status && { status }) });
}

for (const [it, before, after, expected] of [
  ["allocated resources replace requested ones", pod(cpu("1")), pod(cpu("2")), cpu("1")],
  ["limits are replaced, too", pod(cpu("1", "2")), pod(cpu("1", "3")), cpu("1", "2")],
  ["resources that were not allocated are removed", pod(undefined), pod(cpu("2")), {}],
] as const) {
  test(`${it}, and nothing else of the Pod changes`, () => {
    const changed = { ...after, spec: { ...after.spec, containers: after.spec?.containers ?? [], nodeName: "n1" } };

    const allocated = withAllocation(changed, allocationOf(before));

    assert.deepEqual(allocated, { ...pod(expected, { nodeName: "n1" }) });
  });
}

test("init containers and the Pod as a whole have allocations of their own", () => {
  const whole = (amount: string): Pod =>
    pod(undefined, { resources: cpu(amount), initContainers: [{ name: "i", resources: cpu(amount) }] });

  assert.deepEqual(withAllocation(whole("2"), allocationOf(whole("1"))), whole("1"));
  assert.deepEqual(withAllocation(whole("2"), allocationOf(pod(undefined, { initContainers: [{ name: "i" }] }))), {
    ...pod(undefined, { initContainers: [{ name: "i", resources: {} }] }),
  });
});

test("a Pod that requests what it was allocated stays the same object", () => {
  const own = pod(cpu("1", "2"));

  assert.equal(withAllocation(own, allocationOf(pod(cpu("1", "2")))), own);
});

// ── after a restart ─────────────────────────────────────────────────────────────────────────────────

const reported = (status: Partial<PodStatus>, resources = cpu("1", "2")): PodStatus => ({
  containerStatuses: [
    { name: "c", image: "", imageID: "", ready: true, restartCount: 0, allocatedResources: { cpu: "1500m" }, resources, started: true },
  ],
  ...status,
});
const PENDING = [{ type: "PodResizePending", status: "True", reason: "Deferred" }];

for (const [it, status, expected] of [
  ["all requests of a Pod without a status", undefined, cpu("3", "4")],
  ["all requests of an observed Pod without a pending resize", reported({ observedGeneration: 2 }), cpu("3", "4")],
  ["the reported requests of a Pod with a pending resize", reported({ observedGeneration: 2, conditions: PENDING }), cpu("1500m", "2")],
  ["the reported requests of a Pod that changed since it was observed", reported({ observedGeneration: 1 }), cpu("1500m", "2")],
  ["the requests of a container without a status", { observedGeneration: 1 }, cpu("3", "4")],
] as const) {
  test(`a restarted kubelet restores as allocated ${it}`, () => {
    assert.deepEqual(restoredAllocation(pod(cpu("3", "4"), {}, status)).containers.get("c"), expected);
  });
}

test("the reported resources of a Pod as a whole include its overhead", () => {
  const status = { observedGeneration: 1, allocatedResources: { cpu: "1100m", memory: "5" }, resources: { limits: { cpu: "2100m" } } };

  assert.deepEqual(restoredAllocation(pod(undefined, { resources: cpu("3", "4"), overhead: { cpu: "100m" } }, status)).pod, cpu("1", "2"));
});
