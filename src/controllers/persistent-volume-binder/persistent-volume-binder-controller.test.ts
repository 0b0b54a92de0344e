import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { storageClasses } from "../../api/storage.k8s.io/v1/storage-class.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { persistentVolumeBinderController } from "./persistent-volume-binder-controller.ts";
import { aClaim, aClass, aVolume, withoutClass } from "./testing/storage.ts";

const key = (name: string) => ({ namespace: "default", name });

/** "c Bound v 1Gi", "v Bound c". */
async function stateOf(cluster: Given): Promise<readonly string[]> {
  const claims = (await cluster.list(persistentVolumeClaims)).map(({ metadata, spec, status }) =>
    [metadata.name, status?.phase, spec?.volumeName, status?.capacity?.["storage"]].filter((part) => part !== undefined).join(" "),
  );
  const volumes = (await cluster.list(persistentVolumes)).map(({ metadata, spec, status }) =>
    [metadata.name, status?.phase, spec?.claimRef?.name].filter((part) => part !== undefined).join(" "),
  );
  return [...claims, ...volumes];
}

test("claims get the smallest volumes that fit, each its own, and both sides say so", async () => {
  await using cluster = await given(
    aVolume("v1", { size: "1Gi" }),
    aVolume("v2", { size: "2Gi" }),
    aVolume("v5", { size: "5Gi" }),
    aClaim("a", { size: "1500Mi" }),
    aClaim("b", { size: "1500Mi" }),
    aClaim("c", { size: "1Gi" }),
    aClaim("d", { size: "9Gi" }),
  );

  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();

  const state = await stateOf(cluster);
  assert.deepEqual(state.slice(2), ["c Bound v1 1Gi", "d Pending", "v1 Bound c", ...state.slice(5)]);
  assert.deepEqual(new Set(state.slice(0, 2).map((line) => line.split(" ")[2])), new Set(["v2", "v5"]));
  const { metadata, status } = await cluster.client.get(persistentVolumeClaims, key("c"));
  assert.deepEqual(metadata.annotations, { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" });
  assert.deepEqual(status, { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } });
  const volume = await cluster.client.get(persistentVolumes, { name: "v1" });
  assert.deepEqual(volume.metadata.annotations, { "pv.kubernetes.io/bound-by-controller": "yes" });
  assert.equal(volume.spec?.claimRef?.uid, metadata.uid);
});

test("one claim is bound in four writes, the volume first", async () => {
  await using cluster = await given(aVolume("v", { phase: "Available" }), aClaim("c"));

  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();

  assert.deepEqual(
    cluster.actions.map((line) => line.split(" ").slice(0, 3).join(" ")),
    [
      "update persistentvolumes v",
      "status persistentvolumes v",
      "update persistentvolumeclaims default/c",
      "status persistentvolumeclaims default/c",
    ],
  );
});

test("a hundred claims and a hundred volumes that come later are paired without leftovers", async () => {
  const names = Array.from({ length: 100 }, (_, index) => String(index).padStart(3, "0"));
  await using cluster = await given(...names.map((name) => aClaim(`c${name}`)));
  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();

  await Promise.all(names.map((name) => cluster.client.create(persistentVolumes, aVolume(`v${name}`))));
  await cluster.settled();

  const state = await stateOf(cluster);
  assert.equal(state.filter((line) => line.includes("Bound")).length, 200, state.join("\n"));
});

test("labels, classes, a reserved volume and a named volume decide which claim gets which volume", async () => {
  await using cluster = await given(
    aVolume("gold", { labels: { tier: "gold" } }),
    aVolume("fast", { storageClassName: "fast" }),
    aVolume("mine", { size: "100Gi", claimRef: key("reserved") }),
    aVolume("named", { size: "50Gi" }),
    aClaim("labelled", { selector: { matchLabels: { tier: "gold" } } }),
    aClaim("quick", { storageClassName: "fast" }),
    aClaim("reserved"),
    aClaim("naming", { volumeName: "named" }),
    aClaim("none", { selector: { matchLabels: { tier: "iron" } } }),
  );

  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();

  assert.deepEqual((await stateOf(cluster)).slice(0, 5), [
    "labelled Bound gold 1Gi",
    "naming Bound named 50Gi",
    "none Pending",
    "quick Bound fast 1Gi",
    "reserved Bound mine 100Gi",
  ]);
  const mine = await cluster.client.get(persistentVolumes, { name: "mine" });
  assert.equal(mine.metadata.annotations, undefined, "the user's reservation stays the user's");
});

test("a volume is released with its claim and only then; a new claim of the same name does not get it", async () => {
  await using cluster = await given(aVolume("v"), aClaim("c"));
  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();

  await cluster.client.delete(persistentVolumeClaims, key("c"));
  await cluster.settled();
  await cluster.client.create(persistentVolumeClaims, aClaim("c"));
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), ["c Pending", "v Released c"]);
  const { spec, ...rest } = await cluster.client.get(persistentVolumes, { name: "v" });
  const { claimRef: _released, ...free } = spec ?? {};
  await cluster.client.update(persistentVolumes, { ...rest, spec: free });
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["c Bound v 1Gi", "v Bound c"]);
});

test("a claim whose volume is deleted is lost, and found when the volume is restored", async () => {
  await using cluster = await given(aVolume("v"), aClaim("c"));
  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();
  const { claimRef } = (await cluster.client.get(persistentVolumes, { name: "v" })).spec ?? {};
  await cluster.client.delete(persistentVolumes, { name: "v" });
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["c Lost v"]);
  assert.ok(
    cluster.events.includes(
      "Warning ClaimLost PersistentVolumeClaim/c Bound claim has lost its PersistentVolume. Data on the volume is lost!",
    ),
  );

  await cluster.client.create(persistentVolumes, aVolume("v", claimRef === undefined ? {} : { claimRef }));
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), ["c Bound v 1Gi", "v Bound c"]);
});

test("provisioning is requested from the class's provisioner, whose volume is then bound", async () => {
  await using cluster = await given(withoutClass(aClaim("c")), aVolume("other", { storageClassName: "x" }));
  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["c Pending", "other Available"]);

  await cluster.client.create(storageClasses, aClass("std", { isDefault: true }));
  await cluster.settled();
  const asked = await cluster.client.get(persistentVolumeClaims, key("c"));
  assert.equal(asked.spec?.storageClassName, "std");
  assert.deepEqual(asked.metadata.annotations, {
    "volume.beta.kubernetes.io/storage-provisioner": "example.com/disks",
    "volume.kubernetes.io/storage-provisioner": "example.com/disks",
  });
  assert.match(
    cluster.events.at(-1) ?? "",
    /^Normal ExternalProvisioning PersistentVolumeClaim\/c Waiting for a volume to be created either by the external/,
  );

  const claimRef = { kind: "PersistentVolumeClaim", apiVersion: "v1", ...key("c"), uid: asked.metadata.uid ?? "" };
  const annotations = { "pv.kubernetes.io/provisioned-by": "example.com/disks" };
  await cluster.client.create(
    persistentVolumes,
    aVolume("pvc-1", { storageClassName: "std", claimRef, annotations, persistentVolumeReclaimPolicy: "Delete" }),
  );
  await cluster.settled();
  assert.deepEqual((await stateOf(cluster))[0], "c Bound pvc-1 1Gi");

  await cluster.client.delete(persistentVolumeClaims, key("c"));
  await cluster.settled();
  assert.deepEqual(await stateOf(cluster), ["other Available", "pvc-1 Released c"], "the provisioner deletes it");
});

test("a claim that waits for its first consumer reports the Pod and is provisioned once a node is chosen", async () => {
  await using cluster = await given(
    aClass("slow", { volumeBindingMode: "WaitForFirstConsumer" }),
    aClaim("c", { storageClassName: "slow" }),
    aVolume("v", { storageClassName: "slow" }),
  );
  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();
  const spec = { containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] };
  await cluster.client.create(pods, buildPod({ metadata: key("p"), spec }));
  await cluster.settled();

  assert.deepEqual(
    cluster.events.map((line) => line.split(" ")[1]),
    ["WaitForFirstConsumer", "WaitForPodScheduled"],
  );
  assert.deepEqual(await stateOf(cluster), ["c Pending", "v Available"]);

  const annotations = { "volume.kubernetes.io/selected-node": "n1" };
  await cluster.client.patch(persistentVolumeClaims, key("c"), { type: "merge", value: { metadata: { annotations } } });
  await cluster.settled();
  assert.match(cluster.events.at(-1) ?? "", /ExternalProvisioning/);
});

test("a released volume without a deleter fails and says why, once", async () => {
  await using cluster = await given(aVolume("v", { persistentVolumeReclaimPolicy: "Delete" }), aClaim("c"));
  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();

  await cluster.client.delete(persistentVolumeClaims, key("c"));
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), ["v Failed c"]);
  const message = "host_path deleter only supports /tmp/.+ but received provided /data";
  assert.deepEqual(
    cluster.events.filter((line) => line.startsWith("Warning")),
    [`Warning VolumeFailedDelete PersistentVolume/v ${message}`],
  );
  assert.equal((await cluster.client.get(persistentVolumes, { name: "v" })).status?.message, message);
});

test("a claim that only the server knows keeps its volume bound", async () => {
  await using cluster = await given(aClaim("c"));
  const { uid = "" } = (await cluster.client.get(persistentVolumeClaims, key("c"))).metadata;
  const volume = aVolume("v", { claimRef: { ...key("c"), uid: "gone" }, phase: "Bound" });
  await cluster.client.create(persistentVolumes, volume);
  await cluster.client.create(persistentVolumes, aVolume("w", { claimRef: { ...key("c"), uid } }));

  await cluster.run(persistentVolumeBinderController());
  await cluster.settled();

  assert.deepEqual(await stateOf(cluster), ["c Bound w 1Gi", "v Released c", "w Bound c"]);
});

test("metrics count volumes and claims by class, and the time of provisioning", async () => {
  await using cluster = await given(aVolume("v"), aClaim("c"), aClaim("d", { storageClassName: "x" }));
  const running = await cluster.run(persistentVolumeBinderController());
  await cluster.settled();
  await cluster.client.delete(persistentVolumeClaims, key("d"));
  await cluster.settled();

  const text = JSON.stringify(running.metrics());
  assert.match(text, /pv_collector_bound_pv_count/);
  assert.match(text, /pv_collector_total_pv_count/);
  assert.doesNotMatch(text, /"storage_class":"x"/);
});

/** Each claim fits one volume only, so that the end does not depend on who comes first. */
const only = (role: string) => ({ selector: { matchLabels: { role } } });

test("a crash at any step of binding, releasing and provisioning does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [
        aVolume("v1", { labels: { role: "a" } }),
        aVolume("mine", { claimRef: key("b") }),
        aClaim("a", only("a")),
        aClaim("b", only("b")),
        withoutClass(aClaim("z", { size: "5Gi" })),
      ],
      controllers: () => [persistentVolumeBinderController()],
      restMs: 20_000,
      steps: [
        async ({ client }) => void (await client.delete(persistentVolumeClaims, key("a"))),
        async ({ client }) => void (await client.create(storageClasses, aClass("std", { isDefault: true }))),
        async ({ client }) => {
          await client.create(persistentVolumeClaims, aClaim("late", { size: "3Gi" }));
          await client.create(persistentVolumes, aVolume("late", { size: "3Gi" }));
        },
      ],
    },
    { deathsMax: rounds({ quick: 8, full: 1_000 }), disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
