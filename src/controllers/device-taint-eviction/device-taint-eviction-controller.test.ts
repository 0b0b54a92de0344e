import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { DeviceTaint, DeviceToleration, ResourceClaim, ResourceSlice } from "../../api/generated/resource.k8s.io/v1.ts";
import { resourceClaims } from "../../api/resource.k8s.io/v1/resource-claim.ts";
import { resourceSlices } from "../../api/resource.k8s.io/v1/resource-slice.ts";
import type { Client } from "../../client/client.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { deviceTaintEvictionController } from "./device-taint-eviction-controller.ts";
import { claimEvictionMs } from "./eviction-time.ts";

const NOW_MS = Date.UTC(2026, 0);
const BROKEN: DeviceTaint = { key: "broken", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" };
const SPEC = { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] } };
/** Of no Pod: the server chooses those. */
const UID = "123e4567-e89b-12d3-a456-426614174000";

const slice = (taints: readonly DeviceTaint[], generation = 1, name = "one"): ResourceSlice => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceSlice",
  metadata: { name },
  spec: {
    driver: "gpu.example.com",
    pool: { name: "node", generation, resourceSliceCount: 1 },
    nodeName: "one",
    devices: [{ name: "gpu-0", taints }, { name: "gpu-1" }],
  },
});

const claim = (tolerations: readonly DeviceToleration[] = [], device = "gpu-0"): ResourceClaim => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaim",
  metadata: { name: "gpu", namespace: "default" },
  spec: SPEC,
  status: {
    allocation: { devices: { results: [{ request: "gpu", driver: "gpu.example.com", pool: "node", device, tolerations }] } },
    reservedFor: [{ resource: "pods", name: "web", uid: UID }],
  },
});

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: {
    nodeName: "one",
    containers: [{ name: "main", image: "web:1" }],
    resourceClaims: [{ name: "gpu", resourceClaimName: "gpu" }],
  },
};

const exists = (seconds?: number): DeviceToleration => ({
  operator: "Exists",
  effect: "NoExecute",
  ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
});

const TIMES: readonly [title: string, claim: ResourceClaim, slices: readonly ResourceSlice[], afterSeconds: number | undefined][] = [
  ["without taints", claim(), [slice([])], undefined],
  ["with an unknown device", claim([], "gpu-7"), [slice([BROKEN])], undefined],
  ["whose other device has a taint", claim([], "gpu-1"), [slice([BROKEN])], undefined],
  ["with a taint that does not evict", claim(), [slice([{ ...BROKEN, effect: "NoSchedule" }])], undefined],
  ["with a taint", claim(), [slice([BROKEN])], 0],
  ["with a taint of an older generation", claim(), [slice([BROKEN]), slice([], 2, "two")], undefined],
  ["that tolerates the taint", claim([exists()]), [slice([BROKEN])], undefined],
  ["that tolerates it for a time", claim([exists(30), exists(10)]), [slice([BROKEN])], 10],
  ["that tolerates it for a negative time", claim([exists(-1)]), [slice([BROKEN])], 0],
  ["that tolerates another key", claim([{ ...exists(), key: "old" }]), [slice([BROKEN])], 0],
  ["that tolerates another value", claim([{ key: "broken", value: "x", effect: "NoExecute" }]), [slice([BROKEN])], 0],
  [
    "that tolerates its value",
    claim([{ key: "broken", value: "x", effect: "NoExecute" }]),
    [slice([{ ...BROKEN, value: "x" }])],
    undefined,
  ],
  ["that tolerates any effect", claim([{ operator: "Exists" }]), [slice([BROKEN])], 0],
  ["with two taints", claim([{ ...exists(5), key: "slow" }]), [slice([BROKEN, { ...BROKEN, key: "slow" }])], 0],
];
for (const [title, subject, slices, afterSeconds] of TIMES) {
  test(`Pods that use a claim ${title} are evicted after ${afterSeconds === undefined ? "never" : `${afterSeconds} s`}`, () => {
    const expected = afterSeconds === undefined ? undefined : NOW_MS + afterSeconds * 1_000;
    assert.equal(
      claimEvictionMs(subject, () => slices),
      expected,
    );
  });
}

async function setTaints(client: Client, ...taints: readonly DeviceTaint[]): Promise<void> {
  const found = await client.get(resourceSlices, { name: "one" });
  await client.update(resourceSlices, { ...found, spec: { ...found.spec, ...slice(taints).spec } });
}

/** A running cluster in which the Pod uses the first device. */
async function running(tolerations: readonly DeviceToleration[]): Promise<Given> {
  const cluster = await given(POD, slice([]));
  const { uid = "" } = (await cluster.client.get(pods, { namespace: "default", name: "web" })).metadata;
  await reserve(cluster.client, claim(tolerations), uid);
  await cluster.run(deviceTaintEvictionController);
  await cluster.settled();
  return cluster;
}

async function reserve(client: Client, { status, ...draft }: ResourceClaim, uid: string): Promise<void> {
  const created = await client.create(resourceClaims, draft);
  await client.updateStatus(resourceClaims, { ...created, status: { ...status, reservedFor: [{ resource: "pods", name: "web", uid }] } });
}

test("a Pod whose device gets a taint has DisruptionTarget and is deleted at once", async () => {
  await using cluster = await running([]);

  await setTaints(cluster.client, { key: "broken", effect: "NoExecute" });
  await cluster.settled();

  const { metadata, status } = await cluster.client.get(pods, { namespace: "default", name: "web" });
  assert.notEqual(metadata.deletionTimestamp, undefined);
  const condition = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  assert.deepEqual(
    [condition?.status, condition?.reason, condition?.message],
    ["True", "DeletionByDeviceTaintManager", "Device Taint manager: deleting due to NoExecute taint"],
  );
  assert.deepEqual(cluster.events, ["Normal DeviceTaintManagerEviction Pod/web Marking for deletion"]);
});

test("a Pod that tolerates the taint for a time stays until then, and an earlier removal of the taint cancels the eviction", async () => {
  await using cluster = await running([exists(60)]);
  const isTerminating = async () =>
    (await cluster.client.get(pods, { namespace: "default", name: "web" })).metadata.deletionTimestamp !== undefined;
  await setTaints(cluster.client, { key: "broken", effect: "NoExecute" });
  await cluster.clock.advance(50_000);
  await setTaints(cluster.client);
  await cluster.clock.advance(50_000);
  assert.equal(await isTerminating(), false);

  await setTaints(cluster.client, { key: "broken", effect: "NoExecute" });
  await cluster.clock.advance(59_000);
  assert.equal(await isTerminating(), false);
  await cluster.clock.advance(1_000);
  await cluster.settled();

  assert.equal(await isTerminating(), true);
  assert.deepEqual(cluster.events, [
    "Normal DeviceTaintManagerEviction Pod/web Cancelling deletion",
    "Normal DeviceTaintManagerEviction Pod/web Marking for deletion",
  ]);
});

test("a Pod for which the claim is not reserved stays", async () => {
  await using cluster = await given(POD, slice([BROKEN]), claim());

  await cluster.reconcile(deviceTaintEvictionController, "default/web");

  assert.deepEqual(cluster.actions, []);
});

test("after a crash at any step the Pod on the broken device is terminating, with its condition", () =>
  everyStepMayBeTheLast(
    {
      objects: [POD, slice([])],
      controllers: () => [deviceTaintEvictionController],
      restMs: 20_000,
      steps: [
        async ({ client }) => {
          const { uid = "" } = (await client.get(pods, { namespace: "default", name: "web" })).metadata;
          await reserve(client, claim([exists(5)]), uid);
        },
        ({ client }) => setTaints(client, { key: "broken", effect: "NoExecute" }),
      ],
    },
    { disturbedRuns: rounds({ quick: 2, full: 20 }) },
  ));
