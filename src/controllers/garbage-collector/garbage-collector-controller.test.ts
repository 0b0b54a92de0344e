import assert from "node:assert/strict";
import test from "node:test";
import { deployments } from "../../api/apps/v1/deployment.ts";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { KubeObject, OwnerReference } from "../../api/machinery/object.ts";
import type { Draft, ResourceKind } from "../../client/client.ts";
import { given, type Given } from "../../testing/given.ts";
import { garbageCollectorController } from "./garbage-collector-controller.ts";
import { giveOwners, heldBy, makeMap, ownedBy } from "./testing/owned-maps.ts";

const DEFAULT = "default";
const FOREGROUND = { propagationPolicy: "Foreground" } as const;

async function collecting(): Promise<Given> {
  const cluster = await given();
  await cluster.run(garbageCollectorController);
  await cluster.settled();
  return cluster;
}

/** The ConfigMaps that are left. */
async function names(cluster: Given, namespace = DEFAULT): Promise<readonly string[]> {
  return (await cluster.list(configMaps, namespace)).map(({ metadata }) => metadata.name);
}

async function ownersNow(cluster: Given, name: string): Promise<readonly string[]> {
  const { metadata } = await cluster.client.get(configMaps, { namespace: DEFAULT, name });
  return metadata.ownerReferences?.map((owner) => owner.name) ?? [];
}

test("dependents of a deleted owner are deleted, transitively", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const a = await makeMap(client, "a");
  const b = await makeMap(client, "b", { owners: [ownedBy(a)] });
  await makeMap(client, "c", { owners: [ownedBy(b)] });
  await makeMap(client, "unowned");
  await cluster.settled();
  assert.deepEqual(cluster.actions, []);

  await client.delete(configMaps, { namespace: DEFAULT, name: "a" });
  await cluster.settled();

  assert.deepEqual(cluster.actions, ["delete configmaps default/b", "delete configmaps default/c"]);
  assert.deepEqual(await names(cluster), ["unowned"]);
});

test("dependents orphaned while the controller was down are found at startup", async () => {
  await using cluster = await given();
  const { client } = cluster;
  const a = await makeMap(client, "a");
  await makeMap(client, "b", { owners: [ownedBy(a)] });
  await client.delete(configMaps, { namespace: DEFAULT, name: "a" });

  await cluster.run(garbageCollectorController);
  await cluster.settled();

  assert.deepEqual(await names(cluster), []);
});

test("an owner of the same name with another uid is not the owner", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const a = await makeMap(client, "a");

  await makeMap(client, "b", { owners: [{ ...ownedBy(a), uid: "11111111-2222-3333-4444-555555555555" }] });
  await cluster.settled();

  assert.deepEqual(await names(cluster), ["a"]);
});

test("a dependent with another owner stays, and loses exactly the dangling reference", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const [a, b, c] = [await makeMap(client, "a"), await makeMap(client, "b"), await makeMap(client, "c")];
  const d = await makeMap(client, "d", { owners: [ownedBy(a), heldBy(b), ownedBy(c)] });

  await client.delete(configMaps, { namespace: DEFAULT, name: "b" });
  await cluster.settled();

  const patch = { metadata: { uid: d.metadata.uid, ownerReferences: [{ $patch: "delete", uid: b.metadata.uid }] } };
  assert.deepEqual(cluster.actions, [`patch configmaps default/d ${JSON.stringify(patch)}`]);
  assert.deepEqual(await ownersNow(cluster, "d"), ["a", "c"]);
});

test("foreground deletion removes an owner after all its dependents, transitively", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { replicas: 1, selector: { matchLabels: { a: "b" } }, template };
  const make = <T extends KubeObject>(kind: ResourceKind<T>, object: object, ...owners: readonly OwnerReference[]): Promise<T> => {
    const metadata = { name: "web", namespace: DEFAULT, labels: { a: "b" }, ownerReferences: owners };
    return client.create(kind, { ...object, metadata } as unknown as Draft<T>);
  };
  const deployment = await make(deployments, { apiVersion: "apps/v1", kind: "Deployment", spec });
  const replicaSet = await make(replicaSets, { apiVersion: "apps/v1", kind: "ReplicaSet", spec }, heldBy(deployment));
  await make(pods, { apiVersion: "v1", kind: "Pod", spec: template.spec }, heldBy(replicaSet));
  await cluster.settled();

  await client.delete(deployments, { namespace: DEFAULT, name: "web" }, FOREGROUND);
  await cluster.settled();

  assert.deepEqual(
    cluster.actions.map((line) => line.split(" ").slice(0, 3).join(" ")),
    ["delete replicasets default/web", "delete pods default/web", "patch replicasets default/web", "patch deployments default/web"],
  );
  assert.deepEqual([await cluster.list(deployments), await cluster.list(replicaSets), await cluster.list(pods)], [[], [], []]);
});

test("foreground deletion waits only for blocking dependents, but deletes all of them", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const a = await makeMap(client, "a");
  await makeMap(client, "holding", { owners: [heldBy(a)], finalizers: ["example.com/kept"] });
  await makeMap(client, "other", { owners: [ownedBy(a)], finalizers: ["example.com/kept"] });
  await client.delete(configMaps, { namespace: DEFAULT, name: "a" }, FOREGROUND);
  await cluster.settled();
  const isTerminating = async (name: string): Promise<boolean> =>
    (await client.get(configMaps, { namespace: DEFAULT, name })).metadata.deletionTimestamp !== undefined;
  assert.deepEqual([await isTerminating("holding"), await isTerminating("other")], [true, true]);

  const value = { metadata: { finalizers: null } };
  await client.patch(configMaps, { namespace: DEFAULT, name: "holding" }, { type: "merge", value });
  await cluster.settled();

  assert.deepEqual(await names(cluster), ["other"]);
});

test("foreground deletion keeps a dependent with another owner, and does not wait for it", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const [a, b] = [await makeMap(client, "a"), await makeMap(client, "b")];
  await makeMap(client, "both", { owners: [heldBy(a), heldBy(b)] });
  await makeMap(client, "one", { owners: [heldBy(a)] });
  await cluster.settled();

  await client.delete(configMaps, { namespace: DEFAULT, name: "a" }, FOREGROUND);
  await cluster.settled();

  assert.deepEqual(await names(cluster), ["b", "both"]);
  assert.deepEqual(await ownersNow(cluster, "both"), ["b"]);
});

test("a waiting owner is deleted when blockOwnerDeletion is removed", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const a = await makeMap(client, "a");
  const b = await makeMap(client, "b", { owners: [heldBy(a)], finalizers: ["example.com/kept"] });
  await client.delete(configMaps, { namespace: DEFAULT, name: "a" }, FOREGROUND);
  await cluster.settled();
  assert.deepEqual(await names(cluster), ["a", "b"]);

  await giveOwners(client, b, [ownedBy(a)]);
  await cluster.settled();

  assert.deepEqual(await names(cluster), ["b"]);
});

test("orphan deletion removes the owner references before the owner", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const [a, b] = [await makeMap(client, "a"), await makeMap(client, "b")];
  await makeMap(client, "one", { owners: [heldBy(a)] });
  await makeMap(client, "two", { owners: [ownedBy(a), ownedBy(b)] });
  await cluster.settled();

  await client.delete(configMaps, { namespace: DEFAULT, name: "a" }, { propagationPolicy: "Orphan" });
  await cluster.settled();

  assert.deepEqual(
    cluster.actions.map((line) => line.split(" ").slice(0, 3).join(" ")),
    ["patch configmaps default/one", "patch configmaps default/two", "patch configmaps default/a"],
  );
  assert.deepEqual(await names(cluster), ["b", "one", "two"]);
  assert.deepEqual([await ownersNow(cluster, "one"), await ownersNow(cluster, "two")], [[], ["b"]]);
});

test("a collected object handles its own dependents as requested before", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const a = await makeMap(client, "a");
  const b = await makeMap(client, "b", { owners: [ownedBy(a)], finalizers: ["orphan"] });
  await makeMap(client, "c", { owners: [ownedBy(b)] });
  await cluster.settled();

  await client.delete(configMaps, { namespace: DEFAULT, name: "a" });
  await cluster.settled();

  assert.deepEqual(await names(cluster), ["c"]);
  assert.deepEqual(await ownersNow(cluster, "c"), []);
});

for (const { it, deleted } of [
  { it: "one of them is deleted", deleted: ["a"] },
  { it: "all of them are deleted at once", deleted: ["a", "b", "c"] },
]) {
  test(`three objects that own each other in a cycle are removed when ${it} in the foreground`, async () => {
    await using cluster = await collecting();
    const { client } = cluster;
    const [a, b, c] = [await makeMap(client, "a"), await makeMap(client, "b"), await makeMap(client, "c")];
    await giveOwners(client, a, [heldBy(c)]);
    await giveOwners(client, b, [heldBy(a)]);
    await giveOwners(client, c, [heldBy(b)]);
    await cluster.settled();
    assert.deepEqual(cluster.actions, []);

    await Promise.all(deleted.map((name) => client.delete(configMaps, { namespace: DEFAULT, name }, FOREGROUND)));
    await cluster.settled();

    assert.deepEqual(await names(cluster), []);
  });
}

test("an object that owns itself can be deleted in the foreground", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const a = await makeMap(client, "a");
  await giveOwners(client, a, [heldBy(a)]);

  await client.delete(configMaps, { namespace: DEFAULT, name: "a" }, FOREGROUND);
  await cluster.settled();

  assert.deepEqual(await names(cluster), []);
});

test("an owner in another namespace does not count, which is reported by an event", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "elsewhere" } });
  const a = await makeMap(client, "a", { namespace: "elsewhere" });

  await makeMap(client, "b", { owners: [ownedBy(a)] });
  await cluster.settled();

  const identity = `[v1/ConfigMap, namespace: default, name: a, uid: ${a.metadata.uid}]`;
  assert.deepEqual(cluster.events, [
    `Warning OwnerRefInvalidNamespace ConfigMap/b ownerRef ${identity} does not exist in namespace "default"`,
  ]);
  assert.deepEqual([await names(cluster), await names(cluster, "elsewhere")], [[], ["a"]]);
});

test("a cluster-scoped object with a namespaced owner is ignored, which is reported by an event", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const a = await makeMap(client, "a");

  const metadata = { name: "owned", ownerReferences: [ownedBy(a)] };
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
  await cluster.settled();

  const identity = `[v1/ConfigMap, namespace: , name: a, uid: ${a.metadata.uid}]`;
  assert.deepEqual(cluster.events, [
    `Warning OwnerRefInvalidNamespace Namespace/owned ownerRef ${identity} does not exist in namespace ""`,
  ]);
  assert.deepEqual(cluster.actions, []);
});

test("a cluster-scoped owner owns objects of any namespace", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const owner = await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "owner" } });

  await makeMap(client, "a", { owners: [ownedBy(owner)] });
  await cluster.settled();

  assert.deepEqual(await names(cluster), ["a"]);
});

for (const { it, owner } of [
  { it: "a kind that the server does not have", owner: { apiVersion: "example.com/v1", kind: "Widget" } },
  { it: "a kind that is not in this version", owner: { apiVersion: "apps/v1", kind: "ConfigMap" } },
  { it: "a version that the server does not have", owner: { apiVersion: "apps/v1beta1", kind: "Deployment" } },
]) {
  test(`nothing is deleted because its owner is of ${it}`, async () => {
    await using cluster = await given();
    const { client } = cluster;
    await makeMap(client, "a", { owners: [{ ...owner, name: "x", uid: "11111111-2222-3333-4444-555555555555" }] });

    await assert.rejects(cluster.reconcile(garbageCollectorController, "configmaps default/a"), /has no such kind/);
    assert.deepEqual(await names(cluster), ["a"]);
  });
}

test("an owner may be referenced in any served version", async () => {
  await using cluster = await given();
  const { client } = cluster;
  const owner = { apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler", name: "x", uid: "11111111-2222-3333-4444-555555555555" };
  await makeMap(client, "a", { owners: [owner] });

  await cluster.reconcile(garbageCollectorController, "configmaps default/a");

  assert.deepEqual(await names(cluster), []);
});

test("reconciling a deleted object, or one of a removed kind, does nothing", async () => {
  await using cluster = await given();

  for (const key of ["configmaps default/a", "widgets.example.com default/a", "example.com/v1/Widget default/a", "* unknown"]) {
    assert.deepEqual(await cluster.reconcile(garbageCollectorController, key), { again: "on-change" });
  }
  assert.deepEqual(cluster.actions, []);
});

test("objects whose owners exist are not written, however they change", async () => {
  await using cluster = await collecting();
  const { client } = cluster;
  const a = await makeMap(client, "a");
  await makeMap(client, "b", { owners: [heldBy(a)] });

  await client.patch(configMaps, { namespace: DEFAULT, name: "b" }, { type: "merge", value: { data: { x: "1" } } });
  await client.patch(configMaps, { namespace: DEFAULT, name: "a" }, { type: "merge", value: { data: { x: "1" } } });
  await cluster.settled();

  assert.deepEqual(cluster.actions, []);
});
