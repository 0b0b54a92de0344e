import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { PersistentVolumeSpec } from "../../api/generated/core/v1.ts";
import type { Client } from "../../client/client.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { persistentVolumeExpanderController as controller } from "./persistent-volume-expander-controller.ts";

const KEY = { namespace: "default", name: "data" };
const CLAIM = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: KEY,
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "std", volumeName: "v", resources: { requests: { storage: "1Gi" } } },
};

const CLASS = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "std" },
  provisioner: "d",
  allowVolumeExpansion: true,
};

/** Binds the claim to a new volume of this source. */
async function bindTo(source: Partial<PersistentVolumeSpec>, client: Client): Promise<void> {
  const claim = await client.get(persistentVolumeClaims, KEY);
  const claimRef = { ...KEY, uid: claim.metadata.uid ?? "" };
  const spec: PersistentVolumeSpec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], claimRef, ...source };
  await client.create(persistentVolumes, { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "v" }, spec });
  await client.updateStatus(persistentVolumeClaims, { ...claim, status: { phase: "Bound", capacity: { storage: "1Gi" } } });
}

async function requestMore(client: Client): Promise<void> {
  const value = { spec: { resources: { requests: { storage: "2Gi" } } } };
  await client.patch(persistentVolumeClaims, KEY, { type: "merge", value });
}

async function eventsFor(source: Partial<PersistentVolumeSpec>): Promise<{ readonly cluster: Given; readonly events: readonly string[] }> {
  const cluster = await given(CLASS, CLAIM);
  await cluster.run(controller);
  await bindTo(source, cluster.client);
  await cluster.settled();
  assert.deepEqual(cluster.events, [], "nothing to expand");
  await requestMore(cluster.client);
  await cluster.settled();
  return { cluster, events: cluster.events };
}

test("a claim that requests more waits for its driver, and says so once", async () => {
  const { cluster, events } = await eventsFor({ csi: { driver: "d", volumeHandle: "h" } });
  await using _cluster = cluster;

  assert.deepEqual(events, ["Normal ExternalExpanding PersistentVolumeClaim/data waiting for an external controller to expand this PVC"]);
  assert.deepEqual(cluster.actions, []);
});

test("a claim of a migrated plugin is annotated with the driver that expands it", async () => {
  const { cluster, events } = await eventsFor({ awsElasticBlockStore: { volumeID: "vol-1" } });
  await using _cluster = cluster;

  const message = "CSI migration enabled for kubernetes.io/aws-ebs; waiting for external resizer to expand the pvc";
  assert.deepEqual(events, [`Normal ExternalExpanding PersistentVolumeClaim/data ${message}`]);
  const { metadata, spec } = await cluster.client.get(persistentVolumeClaims, KEY);
  assert.deepEqual(metadata.annotations, { "volume.kubernetes.io/storage-resizer": "ebs.csi.aws.com" });
  assert.equal(spec?.resources?.requests?.["storage"], "2Gi");
});

test("a claim without a volume, one that has what it requests, and one whose volume is another claim's are left alone", async () => {
  await using unbound = await given(CLASS, CLAIM);
  await unbound.run(controller);
  await requestMore(unbound.client).catch(() => undefined); // Only bound claims can grow.
  await unbound.settled();
  assert.deepEqual([unbound.events, unbound.actions], [[], []]);

  const { cluster, events } = await eventsFor({
    csi: { driver: "d", volumeHandle: "h" },
    claimRef: { ...KEY, uid: "another" },
  });
  await using _cluster = cluster;
  assert.deepEqual([events, cluster.actions], [[], []]);
});

test("a crash at any step does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [CLASS, CLAIM],
      controllers: () => [controller],
      restMs: 20_000,
      steps: [({ client }) => bindTo({ cinder: { volumeID: "1" } }, client), ({ client }) => requestMore(client)],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
