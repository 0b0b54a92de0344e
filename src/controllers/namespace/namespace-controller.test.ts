import assert from "node:assert/strict";
import test from "node:test";
import { apiServices } from "../../api/apiregistration.k8s.io/v1/api-service.ts";
import { horizontalPodAutoscalers as scalers } from "../../api/autoscaling/horizontal-pod-autoscaler.ts";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason, StatusError } from "../../api/machinery/status-error.ts";
import { silentLogger } from "../../base/logger.ts";
import { MetricSet } from "../../base/metrics/metric-set.ts";
import { seededRandom } from "../../base/random.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { createClient } from "../../client/rest-client.ts";
import { given, createObject, silentRecorder, type Given } from "../../testing/given.ts";
import { anApiService, runWorld, withGroup } from "../runtime/testing/run-world.ts";
import { namespaceController } from "./namespace-controller.ts";
import { UNAVAILABLE_FOR_MS } from "./unavailable-groups.ts";
import { stub } from "../../base/testing/stub.ts";
import { buildPod } from "../../api/testing/pod.ts";

const SPACE = "space";
const KEPT = { finalizers: ["example.com/kept"] };

function aNamespace(finalizers: readonly string[] = []): object {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: SPACE }, spec: { finalizers } };
}

function aConfigMap(name: string, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: SPACE, ...metadata } };
}

function aSecret(name: string, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: SPACE, ...metadata } };
}

/** A Pod on a node is not removed before its kubelet has confirmed it. */
function aPod(name: string, { metadata = {}, spec = {} }: { readonly metadata?: object; readonly spec?: object } = {}): object {
  const containers = [{ name: "c", image: "i" }];
  return buildPod({ metadata: { name, namespace: SPACE, ...metadata }, spec: { containers, ...spec } });
}

async function deleteSpace({ client }: Given): Promise<void> {
  await client.delete(namespaces, { name: SPACE });
}

async function isThere({ client }: Given, kind: ResourceKind, name: string): Promise<boolean> {
  try {
    await client.get(kind, kind.scope === "Cluster" ? { name } : { namespace: SPACE, name });
    return true;
  } catch (error) {
    if (isReason(error, "NotFound")) return false;
    throw error;
  }
}

/** Conditions that differ from the problem-free ones. */
async function complaints({ client }: Given): Promise<readonly string[]> {
  const { status } = await client.get(namespaces, { name: SPACE });
  const conditions = status?.conditions ?? [];
  assert.equal(conditions.length, 5);
  return conditions.filter((condition) => condition.status !== "False").map(({ type, reason, message }) => `${type} ${reason} ${message}`);
}

async function letGo({ client }: Given, kind: ResourceKind<KubeObject>, name: string): Promise<void> {
  await client.patch(kind, { namespace: SPACE, name }, { type: "merge", value: { metadata: { finalizers: null } } });
}

test("deleting a namespace deletes its content, Pods first, and nothing elsewhere", async () => {
  const elsewhere = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "elsewhere", namespace: "default" } };
  await using cluster = await given(aNamespace(), aPod("a"), aConfigMap("a"), aConfigMap("b"), aSecret("a"), elsewhere);
  await cluster.run(namespaceController);
  await cluster.settled();
  assert.equal(cluster.actions.length, 0);

  await deleteSpace(cluster);
  await cluster.settled();

  assert.deepEqual(
    cluster.actions.map((line) => line.replace(/ \{.*/, "")),
    [
      "deletecollection pods space",
      "deletecollection configmaps space",
      "deletecollection secrets space",
      "status namespaces space",
      "update namespaces/finalize space",
    ],
  );
  assert.equal(await isThere(cluster, namespaces, SPACE), false);
  assert.deepEqual(
    (await cluster.list(configMaps)).map(({ metadata }) => metadata.name),
    ["elsewhere"],
  );
});

test("while a Pod remains nothing else is deleted", async () => {
  await using cluster = await given(aNamespace(), aPod("held", { metadata: KEPT }), aConfigMap("a"));
  await cluster.run(namespaceController);

  await deleteSpace(cluster);
  await cluster.settled();

  assert.equal(await isThere(cluster, configMaps, "a"), true);
  assert.deepEqual(await complaints(cluster), []);
  await letGo(cluster, pods, "held");
  await cluster.settled();
  assert.equal(await isThere(cluster, namespaces, SPACE), false);
});

test("a namespace reports the remaining content and its finalizers, and is removed when that is", async () => {
  const twice = { finalizers: ["example.com/kept", "example.com/also"] };
  await using cluster = await given(aNamespace(), aConfigMap("a", KEPT), aConfigMap("b"), aSecret("a", twice), aSecret("b", KEPT));
  await cluster.run(namespaceController);

  await deleteSpace(cluster);
  await cluster.settled();

  assert.deepEqual(await complaints(cluster), [
    "NamespaceContentRemaining SomeResourcesRemain Some resources are remaining: configmaps. has 1 resource instances, secrets. has 2 resource instances",
    "NamespaceFinalizersRemaining SomeFinalizersRemain Some content in the namespace has finalizers remaining: example.com/also in 1 resource instances, example.com/kept in 3 resource instances",
  ]);
  for (const name of ["a", "b"]) await letGo(cluster, secrets, name);
  // The ConfigMap causes no event: it is observed at the next retry, half of the 15 s that a finalizer may take.
  await cluster.clock.advance(8_000);
  await cluster.settled();
  assert.deepEqual(await complaints(cluster), [
    "NamespaceContentRemaining SomeResourcesRemain Some resources are remaining: configmaps. has 1 resource instances",
    "NamespaceFinalizersRemaining SomeFinalizersRemain Some content in the namespace has finalizers remaining: example.com/kept in 1 resource instances",
  ]);
  await letGo(cluster, configMaps, "a");
  await cluster.settled();
  assert.equal(await isThere(cluster, namespaces, SPACE), false);
});

test("Pods have their grace period; after it the namespace reports a problem", async () => {
  const spec = { nodeName: "node-1", terminationGracePeriodSeconds: 12 };
  await using cluster = await given(aNamespace(), aPod("slow", { spec }), aConfigMap("a"));

  await deleteSpace(cluster);
  const outcome = await cluster.reconcile(namespaceController, SPACE);

  assert.deepEqual(outcome, { again: "after", delayMs: 7_000 });
  assert.deepEqual(await complaints(cluster), []);

  await cluster.clock.advance(13_000);
  const problem = "unexpected items still remain in namespace: space for gvr: /v1, Resource=pods";
  await assert.rejects(cluster.reconcile(namespaceController, SPACE), { message: `Cannot empty namespace "space": ${problem}` });
  assert.deepEqual(await complaints(cluster), [
    `NamespaceDeletionContentFailure ContentDeletionFailed Failed to delete all resource types, 1 remaining: ${problem}`,
  ]);
  assert.equal(await isThere(cluster, configMaps, "a"), true);

  await cluster.client.delete(pods, { namespace: SPACE, name: "slow" }, { gracePeriodSeconds: 0 });
  await cluster.reconcile(namespaceController, SPACE);
  assert.equal(await isThere(cluster, namespaces, SPACE), false);
});

test("foreign finalizers of the spec keep an empty namespace", async () => {
  await using cluster = await given(aNamespace(["example.com/z", "example.com/a"]), aConfigMap("a"));
  await cluster.run(namespaceController);

  await deleteSpace(cluster);
  await cluster.settled();

  const { spec } = await cluster.client.get(namespaces, { name: SPACE });
  assert.deepEqual(spec?.finalizers, ["example.com/a", "example.com/z"]);
  assert.equal(await isThere(cluster, configMaps, "a"), false);
});

test("while the awaited object exists, other deletions cost nothing", async () => {
  const many = Array.from({ length: 20 }, (_, at) => aPod(`p-${at}`, { metadata: KEPT }));
  await using cluster = await given(aNamespace(), ...many);
  await cluster.run(namespaceController);
  await deleteSpace(cluster);
  await cluster.settled();
  const before = cluster.actions.length;

  for (let at = 0; at < 8; at++) await letGo(cluster, pods, `p-${at}`);
  await cluster.settled();

  assert.deepEqual(cluster.actions.slice(before), []);
});

test("a group that does not respond keeps the namespace", async () => {
  await using cluster = await given(aNamespace(), aConfigMap("a"));
  await deleteSpace(cluster);
  const transport = cluster.server.transport();
  const down = new StatusError("ServiceUnavailable", "the server is currently unable to handle the request");
  const write = createClient({
    ...transport,
    document: (path, options) => (path === "/apis/apps/v1" ? Promise.reject(down) : transport.document(path, options)),
  });
  const found = await cluster.client.get(namespaces, { name: SPACE });
  const read = stub<Reader>({ get: () => found });
  const { clock } = cluster;
  const context = { clock, random: seededRandom(1), log: silentLogger, read, signal: new AbortController().signal, wake() {} };

  const reconcile = namespaceController.start({ ...context, kinds: () => [] });

  const message = 'Cannot empty namespace "space": apps/v1: the server is currently unable to handle the request';
  await assert.rejects(reconcile({ name: SPACE }, { ...context, metrics: new MetricSet(), write, events: silentRecorder }), { message });
  assert.equal(await isThere(cluster, configMaps, "a"), false);
  assert.deepEqual(await complaints(cluster), [
    "NamespaceDeletionDiscoveryFailure DiscoveryFailed Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: apps/v1: the server is currently unable to handle the request",
  ]);
});

function aRemoteGroup(): object {
  const service = { namespace: "default", name: "missing" };
  const spec = { group: "remote.example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 100, service };
  return { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: "v1.remote.example.com" }, spec };
}

test("an aggregated API server that is down keeps a namespace for a minute, and only itself", async () => {
  await using cluster = await given(aNamespace(), aConfigMap("a"), aRemoteGroup());
  await cluster.run(namespaceController);

  await deleteSpace(cluster);
  await cluster.settled();

  assert.equal(await isThere(cluster, configMaps, "a"), false);
  assert.match((await complaints(cluster)).join(), /^NamespaceDeletionDiscoveryFailure DiscoveryFailed .*remote\.example\.com\/v1: /);
  await cluster.clock.advance(UNAVAILABLE_FOR_MS);
  assert.equal(await isThere(cluster, namespaces, SPACE), false);
});

test("a namespace is removed as soon as the APIService that it waits for is", async () => {
  await using cluster = await given(aNamespace(), aRemoteGroup());
  await cluster.run(namespaceController);
  await deleteSpace(cluster);
  await cluster.settled();
  assert.equal(await isThere(cluster, namespaces, SPACE), true);

  await cluster.client.delete(apiServices, { name: "v1.remote.example.com" });
  await cluster.settled();

  assert.equal(await isThere(cluster, namespaces, SPACE), false);
});

test("a namespace that is not terminating, or is deleted, is ignored", async () => {
  await using cluster = await given(aNamespace(), aConfigMap("a"));

  for (const key of [SPACE, "missing"]) {
    assert.deepEqual(await cluster.reconcile(namespaceController, key), { again: "on-change" });
  }
  assert.deepEqual(cluster.actions, []);
});

test("the awaited object may be served in another version meanwhile", async () => {
  await using world = await runWorld();
  const { client, clock } = world.cluster;
  await createObject(client, aNamespace());
  const spec = { maxReplicas: 1, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" } };
  const key = { namespace: SPACE, name: "a" };
  await client.create(scalers, { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: { ...key, ...KEPT }, spec });
  await world.start(namespaceController);
  await client.delete(namespaces, { name: SPACE });
  await clock.settle();
  world.document = (path, answer) => (path === "/apis" ? withGroup(answer, "autoscaling", "v1") : answer);
  await client.create(apiServices, anApiService("v1"));
  await clock.settle();

  await client.patch(scalers, key, { type: "merge", value: { metadata: { finalizers: null } } });
  await clock.settle();

  assert.equal(await isThere(world.cluster, namespaces, SPACE), false);
});
