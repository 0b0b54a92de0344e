import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PersistentVolumeClaimSpec, Volume } from "../../api/generated/core/v1.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { startControlledServer, WITH_ALL_ADMISSION } from "../../testing/servers/controlled-server.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { onChange, type Pass } from "../runtime/controller.ts";
import { persistentVolumeClaimProtectionController as controller } from "./persistent-volume-claim-protection-controller.ts";
import { stub } from "../../base/testing/stub.ts";
import { buildPod } from "../../api/testing/pod.ts";

const FINALIZER = "kubernetes.io/pvc-protection";
const NOW = { gracePeriodSeconds: 0 };
const CLAIM: PersistentVolumeClaimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const key = (name: string) => ({ namespace: "default", name });

function claim(name: string, finalizers: readonly string[] = [FINALIZER]) {
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { ...key(name), finalizers }, spec: CLAIM } as const;
}

/** A Pod that uses the claims. Without a node it is pending. */
function pod(
  name: string,
  claims: readonly string[],
  { nodeName = "n", volumes = [] }: { nodeName?: string; volumes?: readonly Volume[] } = {},
) {
  const named = claims.map((claimName, index) => ({ name: `v${index}`, persistentVolumeClaim: { claimName } }));
  const spec = { containers: [{ name: "c", image: "i" }], volumes: [...named, ...volumes], ...(nodeName === "" ? {} : { nodeName }) };
  return buildPod({ metadata: key(name), spec });
}

async function claimsOf(cluster: Given): Promise<readonly string[]> {
  return (await cluster.list(persistentVolumeClaims)).map(({ metadata }) => metadata.name);
}

test("claims without the finalizer get it, and others are unchanged", async () => {
  await using cluster = await given(claim("bare", []), claim("mine", ["example.com/mine"]), claim("whole"));

  await cluster.reconcile(controller, "default");

  assert.deepEqual(cluster.actions, ["update persistentvolumeclaims default/bare", "update persistentvolumeclaims default/mine"]);
  const { metadata } = await cluster.client.get(persistentVolumeClaims, key("mine"));
  assert.deepEqual(metadata.finalizers, ["example.com/mine", FINALIZER]);
});

test("terminating claims are released if no Pod with a node uses them", async () => {
  await using cluster = await given(
    claim("a"),
    claim("b"),
    claim("c"),
    claim("d"),
    pod("x", ["a", "b"]),
    pod("y", ["c"], { nodeName: "" }),
  );
  for (const name of ["a", "c", "d"]) await cluster.client.delete(persistentVolumeClaims, key(name));

  assert.deepEqual(await cluster.reconcile(controller, "default"), onChange);

  assert.deepEqual(cluster.actions, ["update persistentvolumeclaims default/c", "update persistentvolumeclaims default/d"]);
  assert.deepEqual(await claimsOf(cluster), ["a", "b"]);
});

test("a claim is released when the last Pod that uses it is deleted, and not when it has completed", async () => {
  await using cluster = await given(claim("data"), pod("x", ["data"]), pod("y", ["data"]));
  await cluster.run(controller);
  await cluster.client.delete(persistentVolumeClaims, key("data"));
  await cluster.client.delete(pods, key("x"), NOW);
  await cluster.settled();
  const y = await cluster.client.get(pods, key("y"));
  await cluster.client.updateStatus(pods, { ...y, status: { ...y.status, phase: "Succeeded" } });
  await cluster.settled();
  assert.deepEqual(await claimsOf(cluster), ["data"]);

  await cluster.client.delete(pods, key("y"), NOW);
  await cluster.settled();

  assert.deepEqual(await claimsOf(cluster), []);
});

test("an ephemeral claim is released when its Pod has terminated, though a finalizer still holds the Pod", async () => {
  const held = pod("x", [], { volumes: [{ name: "data", ephemeral: { volumeClaimTemplate: { spec: CLAIM } } }] });
  await using cluster = await given({ ...held, metadata: { ...held.metadata, finalizers: ["example.com/waits"] } });
  const { uid = "" } = (await cluster.client.get(pods, key("x"))).metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "x", uid, controller: true }];
  const made = claim("x-data");
  await cluster.client.create(persistentVolumeClaims, { ...made, metadata: { ...made.metadata, ownerReferences } });
  await cluster.run(controller);
  await cluster.client.delete(persistentVolumeClaims, key("x-data"));
  await cluster.client.delete(pods, key("x"), { gracePeriodSeconds: 30 });
  await cluster.settled();
  assert.deepEqual(await claimsOf(cluster), ["x-data"]);

  await cluster.client.delete(pods, key("x"), NOW);
  await cluster.settled();

  assert.deepEqual(await claimsOf(cluster), []);
  assert.equal((await cluster.list(pods)).length, 1);
});

test("a Pod known only to the server keeps its claim, which is checked again", async () => {
  await using cluster = await given(claim("data"), claim("free"), pod("x", ["data"]));
  for (const name of ["data", "free"]) await cluster.client.delete(persistentVolumeClaims, key(name));
  const claims = await cluster.list(persistentVolumeClaims);
  const read = stub<Reader>({ indexed: (index: object) => ("kind" in index && index.kind === pods ? [] : claims) });
  const reconcile = controller.start(undefined as never);

  const outcome = await reconcile({ name: "default" }, { read, write: cluster.client } as Pass);

  assert.deepEqual(outcome, { again: "after", delayMs: 1_000 });
  assert.deepEqual(await claimsOf(cluster), ["data"]);
});

test("Pods queue a namespace only if a claim waits for them", async () => {
  await using cluster = await given(claim("data"), pod("x", ["data"]), pod("y", ["none"]));
  const x = await cluster.client.get(pods, key("x"));
  const [, ofPods] = controller.watches;
  const wakes = async (change: object): Promise<readonly object[]> => {
    const known = new Map((await cluster.list(persistentVolumeClaims)).map((found) => [found.metadata.name, found]));
    const read = { get: (_kind: object, { name }: { readonly name: string }) => known.get(name) } as Reader;
    return [...(ofPods as { keys(...args: readonly object[]): Iterable<object> }).keys(change, read)];
  };
  assert.deepEqual(await wakes({ is: "deleted", object: x }), [], "the claim is not going");
  await cluster.client.delete(persistentVolumeClaims, key("data"));

  assert.deepEqual(await wakes({ is: "added", object: x }), []);
  assert.deepEqual(await wakes({ is: "updated", object: x, previous: x }), [], "it still uses it");
  assert.deepEqual(await wakes({ is: "deleted", object: x }), [{ name: "default" }]);
  assert.deepEqual(await wakes({ is: "updated", object: pod("x", []), previous: x }), [{ name: "default" }], "it is another of its name");
  assert.deepEqual(await wakes({ is: "deleted", object: await cluster.client.get(pods, key("y")) }), []);
});

test("with a cluster's roles and admission a namespace with claims in use is emptied", async () => {
  const all = ["pvc-protection", "namespace-controller", "serviceaccount-controller"];
  await using server = await startControlledServer(all, { config: WITH_ALL_ADMISSION });
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
  await server.clock.settle();
  const make = (plural: string, name: string, object: object) =>
    server.call("POST", `/api/v1/namespaces/shop/${plural}`, JSON.stringify({ ...object, metadata: { name } }));
  const made = await make("persistentvolumeclaims", "data", claim("data"));
  assert.deepEqual(made.body.metadata.finalizers, [FINALIZER]);
  await make("pods", "x", pod("x", ["data"]));

  await server.call("DELETE", "/api/v1/namespaces/shop");
  await server.clock.settle();
  assert.equal((await server.call("GET", "/api/v1/namespaces/shop/persistentvolumeclaims/data")).code, 200);
  await server.call("DELETE", "/api/v1/namespaces/shop/pods/x?gracePeriodSeconds=0");
  await server.clock.settle();

  assert.equal((await server.call("GET", "/api/v1/namespaces/shop")).code, 404);
});

test("a crash at any step does not change the final state", () =>
  everyStepMayBeTheLast(
    {
      objects: [claim("a"), claim("b"), claim("bare", []), pod("x", ["a", "b"]), pod("y", ["bare"])],
      controllers: () => [controller],
      restMs: 20_000,
      steps: [
        ({ client }) => client.deleteCollection(persistentVolumeClaims, { namespace: "default" }),
        async ({ client }) => void (await client.delete(pods, key("x"), NOW)),
      ],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
