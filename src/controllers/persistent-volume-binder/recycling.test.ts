/** Reclaim policy Recycle, from the release of a volume until it is available again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { events } from "../../api/core/v1/event.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PersistentVolume, Pod, PodStatus } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { defineController, onChange, watch, type Controller } from "../runtime/controller.ts";
import { itself } from "../runtime/keys.ts";
import { persistentVolumeBinderController } from "./persistent-volume-binder-controller.ts";
import { recyclerPod, recyclerState } from "./recycler-pod.ts";
import { aClaim, aVolume, type VolumeFacts } from "./testing/storage.ts";

const CLAIM = { namespace: "default", name: "c" };
const RECYCLER = { namespace: "default", name: "recycler-for-v" };
const RECYCLED: VolumeFacts = { persistentVolumeReclaimPolicy: "Recycle" };
const USER = buildPod({
  metadata: { namespace: "default", name: "user" },
  spec: { containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
});

/** The volume with its own source instead of the builder's host path. */
function only(volume: PersistentVolume): PersistentVolume {
  const { hostPath: _path, ...spec } = volume.spec ?? {};
  return spec.nfs === undefined && spec.csi === undefined ? volume : { ...volume, spec };
}

/** A volume whose claim was deleted, and the running binder. */
async function released(...more: readonly Pod[]): Promise<Given> {
  const cluster = await given(aVolume("v", RECYCLED), aClaim("c"), ...more);
  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();
  await cluster.client.delete(persistentVolumeClaims, CLAIM);
  await cluster.settled();
  return cluster;
}

async function end(cluster: Given, status: PodStatus): Promise<void> {
  const pod = await cluster.client.get(pods, RECYCLER);
  await cluster.client.updateStatus(pods, { ...pod, status });
  await cluster.settled();
}

/** "Released c; recycler-for-v". */
async function stateOf({ client }: Given): Promise<string> {
  const { spec, status } = await client.get(persistentVolumes, { name: "v" });
  const names = (await client.list(pods)).items.map(({ metadata }) => metadata.name);
  return [[status?.phase, spec?.claimRef?.name, status?.message].filter(Boolean).join(" "), ...names].join("; ");
}

function eventsOfVolume(cluster: Given): readonly string[] {
  return cluster.events.filter((line) => line.includes("PersistentVolume/v"));
}

test("the recycler Pod mounts the volume, and its deadline follows from the capacity", () => {
  const rows = [
    { facts: { size: "1Gi" }, seconds: 60 },
    { facts: { size: "10Gi" }, seconds: 300 },
    { facts: { size: "1Gi", nfs: { server: "s", path: "/p" } }, seconds: 300 },
    { facts: { size: "20Gi", nfs: { server: "s", path: "/p" } }, seconds: 600 },
  ];
  for (const { facts, seconds } of rows) {
    const { spec, metadata } = recyclerPod(only(aVolume("v", facts))) ?? assert.fail("no recycler");
    const { nfs, hostPath } = spec?.volumes?.[0] ?? {};
    assert.deepEqual([metadata, spec?.activeDeadlineSeconds, spec?.restartPolicy], [RECYCLER, seconds, "Never"]);
    assert.deepEqual(nfs ?? hostPath, ("nfs" in facts ? facts.nfs : undefined) ?? { path: "/data" });
  }
  assert.equal(recyclerPod(only(aVolume("v", { csi: { driver: "d", volumeHandle: "h" } }))), undefined);
});

test("only the state of an own recycler Pod counts", () => {
  const pod = (uid: string, status: PodStatus = {}, deletionTimestamp?: string): Pod => {
    const metadata = { ...USER.metadata, uid, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) };
    return { ...USER, metadata, status };
  };
  const rows: readonly (readonly [Pod | undefined, string | undefined, string])[] = [
    [undefined, undefined, "missing"],
    [pod("1", { phase: "Succeeded" }), undefined, "unknown"],
    [pod("1", {}, "2026-01-01T00:00:00Z"), undefined, "terminating"],
    [pod("1", { phase: "Pending" }), "1", "running"],
    [pod("1", { phase: "Succeeded" }), "1", "succeeded"],
    [pod("2", { phase: "Succeeded" }), "1", "failed: recycler pod was deleted"],
    [undefined, "1", "failed: recycler pod was deleted"],
    [pod("1", { phase: "Failed", message: "boom" }), "1", "failed: boom"],
    [pod("1", { phase: "Failed" }), "1", "failed: pod failed, pod.Status.Message unknown"],
  ];
  for (const [there, startedUid, expected] of rows) {
    const state = recyclerState(there, startedUid);
    assert.equal(state.is === "failed" ? `failed: ${state.reason}` : state.is, expected);
  }
});

test("a released volume is emptied by a Pod and becomes available; the Pod's events are repeated on it", async () => {
  await using cluster = await released();
  assert.equal(await stateOf(cluster), "Released c; recycler-for-v");

  const { metadata } = await cluster.client.get(pods, RECYCLER);
  const involvedObject = { apiVersion: "v1", kind: "Pod", namespace: "default", name: metadata.name, uid: metadata.uid ?? "" };
  await cluster.client.create(events, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: "default", name: "e" },
    involvedObject,
    type: "Normal",
    message: "Started container pv-recycler",
  });
  await end(cluster, { phase: "Succeeded" });

  assert.equal(await stateOf(cluster), "Available");
  assert.deepEqual(eventsOfVolume(cluster), [
    "Normal RecyclerPod PersistentVolume/v Recycler pod: Started container pv-recycler",
    "Normal VolumeRecycled PersistentVolume/v Volume recycled",
  ]);
});

test("a volume whose recycler Pod fails is Failed with its message, and is emptied again later", async () => {
  await using cluster = await released();

  await end(cluster, { phase: "Failed", message: "Pod was active on the node longer than the specified deadline" });

  const message = "Recycle failed: failed to recycle volume: Pod was active on the node longer than the specified deadline";
  assert.deepEqual(eventsOfVolume(cluster), [`Warning VolumeFailedRecycle PersistentVolume/v ${message}`]);
  assert.equal(await stateOf(cluster), `Failed c ${message}`, "no Pod at once, although the deletion of the last one triggers the volume");
  await cluster.clock.advance(60_000);
  assert.equal(await stateOf(cluster), `Failed c ${message}; recycler-for-v`);
  await end(cluster, { phase: "Succeeded" });
  assert.equal(await stateOf(cluster), "Available");
});

test("a Pod that has the recycler's name already is replaced, whatever its state is", async () => {
  const forged = { ...USER, metadata: { ...RECYCLER }, spec: { containers: [{ name: "c", image: "i" }] } } as Pod;
  await using cluster = await given(aVolume("v", RECYCLED), aClaim("c"), forged);
  await end(cluster, { phase: "Succeeded" });
  const { uid } = (await cluster.client.get(pods, RECYCLER)).metadata;
  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();

  await cluster.client.delete(persistentVolumeClaims, CLAIM);
  await cluster.settled();

  assert.equal(
    eventsOfVolume(cluster)[0],
    "Warning VolumeFailedRecycle PersistentVolume/v Recycle failed: old recycler pod found, will retry later",
  );
  assert.notEqual((await cluster.client.get(pods, RECYCLER)).metadata.uid, uid);
  await end(cluster, { phase: "Succeeded" });
  assert.equal(await stateOf(cluster), "Available");
});

test("a volume that a Pod still uses is emptied when the Pod has ended", async () => {
  await using cluster = await released(USER);
  assert.equal(await stateOf(cluster), "Released c; user");
  assert.equal(eventsOfVolume(cluster)[0], "Normal VolumeFailedRecycle PersistentVolume/v Volume is used by pods: default/user");

  await cluster.client.delete(pods, { namespace: "default", name: "user" });
  await cluster.settled();

  assert.equal(await stateOf(cluster), "Released c; recycler-for-v");
});

test("a recycler Pod is deleted with its volume", async () => {
  await using cluster = await released();

  await cluster.client.delete(persistentVolumes, { name: "v" });
  const { metadata } = await cluster.client.get(persistentVolumes, { name: "v" }).catch(() => ({ metadata: undefined }));
  if (metadata !== undefined)
    await cluster.client.patch(persistentVolumes, { name: "v" }, { type: "merge", value: { metadata: { finalizers: null } } });
  await cluster.settled();

  assert.deepEqual((await cluster.client.list(pods)).items, []);
});

/** Replaces scheduler and kubelet: every Pod succeeds at once. */
function successfulPods(): Controller {
  return defineController({
    name: "successful-pods",
    account: "generic-garbage-collector",
    rules: [
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["pods/status"], verbs: ["update"] },
    ],
    watches: [watch(pods, itself)],
    async reconcile(key, { read, write }) {
      const pod = read.get(pods, key);
      if (pod === undefined || pod.status?.phase === "Succeeded") return onChange;
      await write.updateStatus(pods, { ...pod, status: { ...pod.status, phase: "Succeeded" } }).catch((error: unknown) => {
        if (!isReason(error, "NotFound")) throw error;
      });
      return onChange;
    },
  });
}

test("a crash at any step of recycling does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [aVolume("v", RECYCLED), aClaim("c")],
      controllers: () => [persistentVolumeBinderController(), successfulPods()],
      restMs: 70_000,
      // A restarted process replaces the Pod.
      ignored: [pods],
      steps: [async ({ client }) => void (await client.delete(persistentVolumeClaims, CLAIM))],
    },
    { deathsMax: rounds({ quick: 8, full: 1_000 }), disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
