/** The client against the real API server, in one process. The request of each call is tested in rest-client.test.ts. */
import { deepEqual, equal, notEqual, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { deployments } from "../api/apps/v1/deployment.ts";
import { configMaps } from "../api/core/v1/config-map.ts";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import { serviceAccounts } from "../api/core/v1/service-account.ts";
import type { Deployment } from "../api/generated/apps/v1.ts";
import type { ConfigMap, Pod } from "../api/generated/core/v1.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import { isReason, type Reason } from "../api/machinery/status-error.ts";
import { given, type Given } from "../testing/given.ts";
import type { Draft, ResourceKind, WatchEvent } from "./client.ts";
import { buildPod } from "../api/testing/pod.ts";

const KEY = { namespace: "default", name: "a" };

function map(name: string, data: Readonly<Record<string, string>> = {}, labels: Readonly<Record<string, string>> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name, labels }, data } satisfies Draft<ConfigMap>;
}

function pod(name: string, more: object = {}): Draft<Pod> {
  return buildPod({ metadata: { name }, spec: more });
}

function deployment(): Draft<Deployment> {
  const labels = { app: "a" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: KEY, spec: { replicas: 1, selector: { matchLabels: labels }, template } };
}

function reason(expected: Reason): (error: unknown) => boolean {
  return (error) => isReason(error, expected);
}

/** In-process objects omit managed fields; over HTTP they are included. */
async function managersOf({ server }: Given): Promise<readonly string[]> {
  const { body } = await server.call("GET", "/api/v1/namespaces/default/configmaps/a");
  const { managedFields } = (body as KubeObject).metadata;
  return (managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`).toSorted();
}

test("create, read, update and delete work, and every error has its reason", async () => {
  await using cluster = await given();
  const { client } = cluster;
  const made = await client.create(configMaps, map("a"));

  equal(await client.get(configMaps, KEY), made, "in one process it is the same object, not a copy");
  await rejects(client.create(configMaps, map("a")), reason("AlreadyExists"));
  const updated = await client.update(configMaps, { ...made, data: { a: "b" } });
  await rejects(client.update(configMaps, { ...made, data: { a: "c" } }), reason("Conflict"));
  deepEqual(updated.data, { a: "b" });
  equal(await client.delete(configMaps, KEY), undefined);
  await rejects(client.get(configMaps, KEY), reason("NotFound"));
  await rejects(client.delete(configMaps, KEY), reason("NotFound"));
  await rejects(client.create(configMaps, map("Not A Name")), reason("Invalid"));
});

test("generateName lets the server choose the name, and a dry run writes nothing", async () => {
  await using cluster = await given();
  const { client } = cluster;
  const dry = await client.create(configMaps, map("a"), { dryRun: ["All"] });
  const named = await client.create(configMaps, { ...map(""), metadata: { namespace: "default", generateName: "b-" } });

  equal(dry.metadata.name, "a");
  ok(named.metadata.name.startsWith("b-") && named.metadata.name.length > 2);
  deepEqual(
    (await client.list(configMaps, { namespace: "default" })).items.map(({ metadata }) => metadata.name),
    [named.metadata.name],
  );
});

test("a list is restricted by namespace and selectors", async () => {
  await using cluster = await given(map("a", {}, { side: "left" }), map("b", {}, { side: "right" }));
  const { client } = cluster;
  const names = async (options: Parameters<typeof client.list>[1]) =>
    (await client.list(configMaps, options)).items.map(({ metadata }) => metadata.name);

  deepEqual(await names({ namespace: "default" }), ["a", "b"]);
  deepEqual(await names({ namespace: "default", labelSelector: "side=left" }), ["a"]);
  deepEqual(await names({ namespace: "default", fieldSelector: "metadata.name=b" }), ["b"]);
  deepEqual(await names({ namespace: "nowhere" }), []);
  ok((await names({})).length >= 2);
  const { metadata } = await client.list(configMaps, { namespace: "default", limit: 1 });
  deepEqual([metadata.continue === undefined, metadata.remainingItemCount], [false, 1]);
});

test("all pages are from one revision, whatever is written in between", async () => {
  await using cluster = await given(...Array.from("abcde", (name) => map(name)));
  const { client } = cluster;
  const seen: string[][] = [];
  const revisions = new Set<string | undefined>();
  for await (const { items, metadata } of client.pages(configMaps, { namespace: "default", limit: 2 })) {
    seen.push(items.map((item) => item.metadata.name));
    revisions.add(metadata.resourceVersion);
    await client.create(configMaps, map(`bb-${seen.length}`));
    if (seen.length === 1) await client.delete(configMaps, { namespace: "default", name: "e" });
  }

  deepEqual(seen, [["a", "b"], ["c", "d"], ["e"]]);
  equal(revisions.size, 1);
});

test("a watch delivers changes from a revision on until it is stopped", async () => {
  await using cluster = await given(map("a"));
  const { client, clock } = cluster;
  const { metadata } = await client.list(configMaps, { namespace: "default" });
  const delivered: string[] = [];
  // The object has the kind's type: otherwise this would not compile.
  const event = (happened: WatchEvent<ConfigMap>) =>
    void delivered.push(
      `${happened.type} ${"object" in happened ? `${happened.object.metadata.name} ${happened.object.data?.["x"] ?? ""}` : ""}`,
    );
  const options = { namespace: "default", resourceVersion: metadata.resourceVersion ?? "" };
  const watch = await client.watch(configMaps, options, { event, ended: () => void delivered.push("ended") });
  await client.create(configMaps, map("b"));
  await client.patch(configMaps, KEY, { type: "merge", value: { data: { x: "y" } } });
  await client.delete(configMaps, KEY);
  await clock.settle();

  watch.stop();
  await client.create(configMaps, map("c"));
  await clock.settle();

  deepEqual(delivered, ["ADDED b ", "MODIFIED a y", "DELETED a y", "ended"]);
});

test("each patch type has its effect", async () => {
  await using cluster = await given(map("a", { a: "1" }), pod("p"));
  const { client } = cluster;
  const merged = await client.patch(configMaps, KEY, { type: "merge", value: { data: { b: "2" } } });
  const byJson = await client.patch(configMaps, KEY, { type: "json", value: [{ op: "remove", path: "/data/a" }] });
  const value = { spec: { containers: [{ name: "c", image: "other" }] } };
  const strategic = await client.patch(pods, { namespace: "default", name: "p" }, { type: "strategic", value });

  deepEqual([merged.data, byJson.data], [{ a: "1", b: "2" }, { b: "2" }]);
  deepEqual(
    strategic.spec?.containers.map(({ name, image }) => `${name} ${image}`),
    ["c other"],
  );
});

test("applied fields belong to their manager, unless another forces the apply", async () => {
  await using cluster = await given();
  const { client } = cluster;
  await client.apply(configMaps, map("a", { key: "mine" }), { fieldManager: "me" });
  const apply = (force: boolean) => client.apply(configMaps, map("a", { key: "yours" }), { fieldManager: "you", force });

  await rejects(apply(false), reason("Conflict"));
  const taken = await apply(true);

  deepEqual(taken.data, { key: "yours" });
  deepEqual(await managersOf(cluster), ["you Apply"]);
});

test("status and spec are written separately, and scale is a subresource of its own", async () => {
  await using cluster = await given();
  const { client } = cluster;
  const made = await client.create(deployments, { ...deployment(), status: { replicas: 7 } });
  equal(made.status?.replicas ?? 0, 0, "a create does not take it");
  const reported = await client.updateStatus(deployments, {
    ...made,
    spec: { ...made.spec, replicas: 9 },
    status: { replicas: 1 },
  } as Deployment);
  deepEqual([reported.status?.replicas, reported.spec?.replicas], [1, 1]);

  const scales = deployments as ResourceKind as ResourceKind<KubeObject & { readonly spec: { readonly replicas: number } }>;
  const scale = await client.get(scales, KEY, { subresource: "scale" });
  const scaled = await client.update(scales, { ...scale, spec: { replicas: 3 } }, { subresource: "scale" });

  deepEqual([scale.kind, scale.spec.replicas, scaled.spec.replicas], ["Scale", 1, 3]);
  equal((await client.get(deployments, KEY)).spec?.replicas, 3);
});

test("a deletion honours preconditions, propagation policy and grace period", async () => {
  await using cluster = await given(map("a"), deployment(), pod("p", { nodeName: "n" }));
  const { client } = cluster;
  await rejects(client.delete(configMaps, KEY, { preconditions: { uid: "another" } }), reason("Conflict"));
  await rejects(client.delete(configMaps, KEY, { preconditions: { resourceVersion: "1" } }), reason("Conflict"));
  const { uid = "" } = (await client.get(configMaps, KEY)).metadata;
  await client.delete(configMaps, KEY, { preconditions: { uid } });
  await rejects(client.get(configMaps, KEY), reason("NotFound"));

  const going = await client.delete(deployments, KEY, { propagationPolicy: "Foreground" });
  deepEqual(going?.metadata.finalizers, ["foregroundDeletion"]);
  notEqual(going?.metadata.deletionTimestamp, undefined);

  const key = { namespace: "default", name: "p" };
  equal((await client.delete(pods, key, { gracePeriodSeconds: 5 }))?.metadata.deletionGracePeriodSeconds, 5);
  await client.delete(pods, key, { gracePeriodSeconds: 0 });
  await rejects(client.get(pods, key), reason("NotFound"));
});

test("deleteCollection deletes the selected objects", async () => {
  await using cluster = await given(map("a", {}, { side: "left" }), map("b", {}, { side: "right" }), map("c", {}, { side: "left" }));
  const { client } = cluster;
  const left = async () => (await client.list(configMaps, { namespace: "default" })).items.map(({ metadata }) => metadata.name);
  await client.deleteCollection(configMaps, { namespace: "default", labelSelector: "side=left", dryRun: ["All"] });
  deepEqual(await left(), ["a", "b", "c"]);
  await client.deleteCollection(configMaps, { namespace: "default", labelSelector: "side=left" });
  deepEqual(await left(), ["b"]);
  await client.deleteCollection(configMaps, { namespace: "default", fieldSelector: "metadata.name=c" });
  deepEqual(await left(), ["b"]);
});

test("evictions, bindings and tokens are posted to their subresources", async () => {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: KEY };
  await using cluster = await given(pod("p"), account, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
  const { client } = cluster;
  const key = { namespace: "default", name: "p" };
  const target = { apiVersion: "v1", kind: "Node", name: "n" };
  const bound = await client.post(pods, key, "binding", { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target });
  equal(bound["status"], "Success");
  equal((await client.get(pods, key)).spec?.nodeName, "n");

  await client.post(pods, key, "eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } });
  notEqual((await client.get(pods, key)).metadata.deletionTimestamp, undefined);

  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: [] } };
  // Without a signing key this server issues none, and reports so.
  await rejects(client.post(serviceAccounts, KEY, "token", request), /service account tokens cannot be issued/);
});

test("a cluster-scoped object may be requested with a namespace", async () => {
  await using cluster = await given();
  const { client } = cluster;
  await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { namespace: "default", name: "n" } });

  equal((await client.get(nodes, { namespace: "default", name: "n" })).metadata.name, "n");
  equal((await client.list(nodes, { namespace: "default" })).items.length, 1);
});

test("the field manager owns the fields, and an aborted write has no effect", async () => {
  await using cluster = await given();
  const { client } = cluster;
  await client.with({ fieldManager: "me" }).create(configMaps, map("a", { a: "b" }));
  deepEqual(await managersOf(cluster), ["me Update"]);

  const gone = client.with({ signal: AbortSignal.abort() });
  await rejects(gone.create(configMaps, map("b")), reason("Timeout"));
  equal((await client.list(configMaps, { namespace: "default" })).items.length, 1);
});
