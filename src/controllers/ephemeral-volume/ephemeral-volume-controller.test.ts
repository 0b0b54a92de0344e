import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PersistentVolumeClaimSpec, Pod, Volume } from "../../api/generated/core/v1.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { ephemeralVolumeController as controller } from "./ephemeral-volume-controller.ts";

const key = (name: string) => ({ namespace: "default", name });
const CLAIM: PersistentVolumeClaimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

function scratch(name: string): Volume {
  return { name, ephemeral: { volumeClaimTemplate: { metadata: { labels: { app: "web" }, annotations: { a: "b" } }, spec: CLAIM } } };
}

function aPod(name: string, ...volumes: readonly Volume[]): Pod {
  return buildPod({ metadata: key(name), spec: { containers: [{ name: "c", image: "i" }], volumes: [...volumes] } });
}

test("each ephemeral volume of a Pod gets a claim from its template, owned by the Pod", async () => {
  await using cluster = await given(aPod("web", scratch("a"), { name: "other", emptyDir: {} }, scratch("b")));
  await cluster.run(controller);
  await cluster.settled();

  assert.deepEqual(
    cluster.actions.map((line) => line.split(" ").slice(0, 3).join(" ")),
    ["create persistentvolumeclaims default/web-a", "create persistentvolumeclaims default/web-b"],
  );
  const { metadata, spec } = await cluster.client.get(persistentVolumeClaims, key("web-a"));
  const { uid = "" } = (await cluster.client.get(pods, key("web"))).metadata;
  assert.deepEqual(metadata.ownerReferences, [
    { apiVersion: "v1", kind: "Pod", name: "web", uid, controller: true, blockOwnerDeletion: true },
  ]);
  assert.deepEqual([metadata.labels, metadata.annotations, spec?.resources], [{ app: "web" }, { a: "b" }, CLAIM.resources]);
});

test("a deleted claim is created again, but not for a terminating Pod", async () => {
  const held = aPod("web", scratch("a"));
  await using cluster = await given({ ...held, metadata: { ...held.metadata, finalizers: ["example.com/waits"] } });
  await cluster.run(controller);
  await cluster.settled();

  await cluster.client.delete(persistentVolumeClaims, key("web-a"));
  await cluster.settled();
  assert.equal((await cluster.list(persistentVolumeClaims)).length, 1);

  await cluster.client.delete(pods, key("web"), { gracePeriodSeconds: 0 });
  await cluster.client.delete(persistentVolumeClaims, key("web-a"));
  await cluster.settled();
  assert.deepEqual(await cluster.list(persistentVolumeClaims), []);
});

test("a claim of that name that is not the Pod's is reported and left alone until it is deleted", async () => {
  const foreign = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: key("web-a"), spec: CLAIM };
  await using cluster = await given(foreign, aPod("web", scratch("a")));
  await cluster.run(controller);
  await cluster.settled();

  const message = "ephemeral volume a: PVC default/web-a was not created for pod default/web (pod is not owner)";
  assert.equal(cluster.events[0], `Warning FailedBinding Pod/web ${message}`);
  assert.deepEqual(cluster.actions, []);

  await cluster.client.delete(persistentVolumeClaims, key("web-a"));
  await cluster.settled();
  assert.equal((await cluster.client.get(persistentVolumeClaims, key("web-a"))).metadata.ownerReferences?.[0]?.name, "web");
});

test("a failed creation is reported and counted", async () => {
  const bad = aPod("web", scratch("a"));
  await using cluster = await given(bad);
  const running = await cluster.run(controller);
  await cluster.settled();

  const names = running.metrics().map(({ name }) => name);
  assert.ok(names.includes("ephemeral_volume_controller_create_total"));
});

test("a crash at any step does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [aPod("web", scratch("a"), scratch("b")), aPod("plain")],
      controllers: () => [controller],
      restMs: 20_000,
      steps: [async ({ client }) => void (await client.delete(persistentVolumeClaims, key("web-a")))],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
