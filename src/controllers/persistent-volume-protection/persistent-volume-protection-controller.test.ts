import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { startControlledServer, WITH_ALL_ADMISSION } from "../../testing/servers/controlled-server.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { persistentVolumeProtectionController as controller } from "./persistent-volume-protection-controller.ts";

const FINALIZER = "kubernetes.io/pv-protection";
const DISK = { name: "disk" };

function volume(name: string, { phase = "Available", finalizers = [FINALIZER] }: { phase?: string; finalizers?: readonly string[] } = {}) {
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name, finalizers }, spec, status: { phase } } as const;
}

test("a volume without the finalizer gets it, and one with it is unchanged", async () => {
  await using cluster = await given(volume("bare", { finalizers: ["example.com/mine"] }), volume("disk"));

  for (const name of ["bare", "disk", "nowhere"]) await cluster.reconcile(controller, name);

  assert.deepEqual(cluster.actions, ["update persistentvolumes bare"]);
  const { metadata } = await cluster.client.get(persistentVolumes, { name: "bare" });
  assert.deepEqual(metadata.finalizers, ["example.com/mine", FINALIZER]);
});

for (const [phase, isGone] of [
  ["Pending", true],
  ["Available", true],
  ["Bound", false],
  ["Released", true],
  ["Failed", true],
] as const) {
  test(`a volume deleted while ${phase} ${isGone ? "is removed" : "stays"}`, async () => {
    await using cluster = await given(volume("disk", { phase }));
    await cluster.client.delete(persistentVolumes, DISK);

    await cluster.reconcile(controller, "disk");

    assert.deepEqual((await cluster.list(persistentVolumes)).length, isGone ? 0 : 1);
    assert.deepEqual(cluster.actions, isGone ? ["update persistentvolumes disk"] : []);
  });
}

test("a volume is removed when its claim releases it, and other finalizers stay", async () => {
  await using cluster = await given(volume("disk", { phase: "Bound", finalizers: ["example.com/mine", FINALIZER] }));
  await cluster.run(controller);
  await cluster.client.delete(persistentVolumes, DISK);
  await cluster.settled();
  assert.deepEqual(cluster.actions, []);

  const bound = await cluster.client.get(persistentVolumes, DISK);
  await cluster.client.updateStatus(persistentVolumes, { ...bound, status: { phase: "Released" } });
  await cluster.settled();

  assert.deepEqual((await cluster.client.get(persistentVolumes, DISK)).metadata.finalizers, ["example.com/mine"]);
});

test("with a cluster's roles and admission a deleted volume is removed", async () => {
  await using server = await startControlledServer(["pv-protection"], { config: WITH_ALL_ADMISSION });
  const { finalizers: _none, ...metadata } = volume("disk").metadata;
  const made = await server.call("POST", "/api/v1/persistentvolumes", { ...volume("disk"), metadata });
  assert.deepEqual(made.body.metadata.finalizers, [FINALIZER]);

  await server.call("DELETE", "/api/v1/persistentvolumes/disk");
  await server.clock.settle();

  assert.equal((await server.call("GET", "/api/v1/persistentvolumes/disk")).code, 404);
});

test("a crash at any step does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [volume("disk"), volume("bare", { finalizers: [] }), volume("bound", { phase: "Bound" })],
      controllers: () => [controller],
      restMs: 20_000,
      steps: [({ client }) => client.deleteCollection(persistentVolumes)],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
