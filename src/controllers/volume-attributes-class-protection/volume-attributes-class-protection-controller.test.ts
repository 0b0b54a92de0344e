import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { PersistentVolumeClaimStatus } from "../../api/generated/core/v1.ts";
import { volumeAttributesClasses } from "../../api/storage.k8s.io/v1/volume-attributes-class.ts";
import { startControlledServer, WITH_ALL_ADMISSION } from "../../testing/servers/controlled-server.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { after } from "../runtime/controller.ts";
import { seeing } from "../runtime/testing/overtaken.ts";
import { volumeAttributesClassProtectionController as controller } from "./volume-attributes-class-protection-controller.ts";

const FINALIZER = "kubernetes.io/vac-protection";
const GOLD = { name: "gold" };
const DATA = { namespace: "default", name: "data" };
const MODES = { accessModes: ["ReadWriteOnce"] };

function attributesClass(name: string, finalizers: readonly string[] = [FINALIZER]) {
  const rest = { driverName: "example.com", parameters: { speed: "high" } };
  return { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttributesClass", metadata: { name, finalizers }, ...rest } as const;
}

function volume(named: string | undefined) {
  const source = { csi: { driver: "example.com", volumeHandle: "x" } };
  const spec = { ...MODES, capacity: { storage: "1Gi" }, volumeAttributesClassName: named, ...source };
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "disk" }, spec };
}

function claim(named: string | undefined, status: PersistentVolumeClaimStatus = {}) {
  const spec = { ...MODES, resources: { requests: { storage: "1Gi" } }, volumeAttributesClassName: named };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: DATA, spec, status };
}

test("a class without the finalizer gets it, and one with it is unchanged", async () => {
  await using cluster = await given(attributesClass("bare", []), attributesClass("gold"));

  for (const name of ["bare", "gold", "nowhere"]) await cluster.reconcile(controller, name);

  assert.deepEqual(cluster.actions, ["update volumeattributesclasses bare"]);
  assert.deepEqual((await cluster.client.get(volumeAttributesClasses, { name: "bare" })).metadata.finalizers, [FINALIZER]);
});

for (const [user, object, isGone] of [
  ["a volume has", volume("gold"), false],
  ["a claim requests", claim("gold"), false],
  ["a claim has", claim("silver", { currentVolumeAttributesClassName: "gold" }), false],
  ["a claim is changed to", claim("silver", { modifyVolumeStatus: { targetVolumeAttributesClassName: "gold", status: "Pending" } }), false],
  ["only a volume without a class might name", volume(undefined), true],
  ["only a claim with an empty name might name", claim("", { currentVolumeAttributesClassName: "" }), true],
  ["is not referenced, though others are,", claim("silver"), true],
] as const) {
  test(`a class that ${user} ${isGone ? "is removed" : "stays"} when it is deleted`, async () => {
    await using cluster = await given(attributesClass("gold"), object);
    await cluster.client.delete(volumeAttributesClasses, GOLD);

    await cluster.reconcile(controller, "gold");

    assert.equal((await cluster.list(volumeAttributesClasses)).length, isGone ? 0 : 1);
  });
}

test("a class is removed when the last reference is: by naming another, and by deletion", async () => {
  await using cluster = await given(attributesClass("gold"), volume("gold"), claim("gold"));
  await cluster.run(controller);
  await cluster.client.delete(volumeAttributesClasses, GOLD);
  await cluster.settled();

  await cluster.client.delete(persistentVolumes, { name: "disk" });
  await cluster.settled();
  assert.deepEqual(cluster.actions, []);
  const data = await cluster.client.get(persistentVolumeClaims, DATA);
  const bound = await cluster.client.updateStatus(persistentVolumeClaims, {
    ...data,
    status: { phase: "Bound", currentVolumeAttributesClassName: "gold" },
  });
  const asks = await cluster.client.update(persistentVolumeClaims, {
    ...bound,
    spec: { ...bound.spec, volumeAttributesClassName: "silver" },
  });
  await cluster.settled();
  assert.deepEqual(cluster.actions, []);

  await cluster.client.updateStatus(persistentVolumeClaims, {
    ...asks,
    status: { phase: "Bound", currentVolumeAttributesClassName: "silver" },
  });
  await cluster.settled();
  assert.deepEqual(await cluster.list(volumeAttributesClasses), []);
});

test("with a cluster's roles and admission a deleted class is removed", async () => {
  const path = "/apis/storage.k8s.io/v1/volumeattributesclasses";
  await using server = await startControlledServer([controller.name], { config: WITH_ALL_ADMISSION });
  const made = await server.call("POST", path, attributesClass("gold", []));
  assert.deepEqual(made.body.metadata.finalizers, [FINALIZER]);

  await server.call("DELETE", `${path}/gold`);
  await server.clock.settle();

  assert.equal((await server.call("GET", `${path}/gold`)).code, 404);
});

for (const user of [volume("gold"), claim("gold")]) {
  test(`a class stays as long as the server knows a ${user.kind} that references it, although the informers do not`, async () => {
    await using cluster = await given(attributesClass("gold"), user);
    await cluster.client.delete(volumeAttributesClasses, GOLD);

    assert.deepEqual(await cluster.reconcile(seeing(controller, { indexed: () => [] }), "gold"), after(1_000));
    assert.deepEqual(cluster.actions, []);
  });
}

test("a crash at any step does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [attributesClass("gold"), attributesClass("bare", []), attributesClass("silver"), volume("gold"), claim("silver")],
      controllers: () => [controller],
      restMs: 20_000,
      steps: [
        ({ client }) => client.deleteCollection(volumeAttributesClasses),
        async ({ client }) => void (await client.delete(persistentVolumes, { name: "disk" })),
      ],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
