/** @kubernetes/client-node, the official JavaScript client: typed requests, pagination, patches, errors, watches and informers. */
import {
  ApiException,
  AppsV1Api,
  AutoscalingV1Api,
  AutoscalingV2Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  type V1ConfigMap,
  type V1Deployment,
} from "@kubernetes/client-node";
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { Arrivals } from "./arrivals.ts";
import { aConfigMap, aDeployment } from "../../src/testing/clients/manifests.ts";

const server = await startTestApiServer();
after(() => server.close());

const config = new KubeConfig();
config.loadFromFile(server.kubeconfig);
const core = config.makeApiClient(CoreV1Api);
const apps = config.makeApiClient(AppsV1Api);

function configMap(name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}): V1ConfigMap {
  return { metadata: { name, labels }, data };
}

test("client-node creates, reads, replaces and deletes typed objects", async () => {
  const namespace = "crud";
  await server.makeNamespace(namespace);

  const made = await core.createNamespacedConfigMap({ namespace, body: configMap("settings", { a: "1" }) });
  made.data = { b: "2" };
  const replaced = await core.replaceNamespacedConfigMap({ namespace, name: "settings", body: made });
  const read = await core.readNamespacedConfigMap({ namespace, name: "settings" });
  const status = await core.deleteNamespacedConfigMap({ namespace, name: "settings", gracePeriodSeconds: 0 });

  equal(made.metadata?.creationTimestamp instanceof Date, true);
  deepEqual([replaced.metadata?.uid, replaced.data], [made.metadata?.uid, { b: "2" }]);
  deepEqual(read, replaced);
  deepEqual([status.status, status.details?.name, status.details?.uid], ["Success", "settings", made.metadata?.uid]);
});

test("client-node throws errors with the server's Status", async () => {
  const namespace = "errors";
  await server.makeNamespace(namespace);
  const made = await core.createNamespacedConfigMap({ namespace, body: configMap("settings") });
  await core.replaceNamespacedConfigMap({ namespace, name: "settings", body: configMap("settings", { a: "1" }) });

  const refusals: readonly (readonly [act: () => Promise<unknown>, code: number, reason: string])[] = [
    [() => core.readNamespacedConfigMap({ namespace, name: "nope" }), 404, "NotFound"],
    [() => core.createNamespacedConfigMap({ namespace, body: configMap("settings") }), 409, "AlreadyExists"],
    [() => core.replaceNamespacedConfigMap({ namespace, name: "settings", body: made }), 409, "Conflict"],
    [() => core.createNamespacedConfigMap({ namespace, body: configMap("Bad Name") }), 422, "Invalid"],
  ];
  for (const [act, code, reason] of refusals) {
    await rejects(
      act,
      (error) => error instanceof ApiException && error.code === code && JSON.parse(error.body as string).reason === reason,
    );
  }
});

test("client-node reads and writes the status and scale of a Deployment", async () => {
  const namespace = "scales";
  await server.makeNamespace(namespace);
  await apps.createNamespacedDeployment({ namespace, body: aDeployment("web", { replicas: 1 }) });

  const scale = await apps.readNamespacedDeploymentScale({ namespace, name: "web" });
  scale.spec = { replicas: 4 };
  await apps.replaceNamespacedDeploymentScale({ namespace, name: "web", body: scale });
  const deployment = await apps.readNamespacedDeployment({ namespace, name: "web" });
  deployment.status = { replicas: 3 };
  await apps.replaceNamespacedDeploymentStatus({ namespace, name: "web", body: deployment });

  const read = await apps.readNamespacedDeploymentScale({ namespace, name: "web" });
  deepEqual([read.spec?.replicas, read.status?.replicas, read.status?.selector], [4, 3, "app=web"]);
});

test("client-node creates an autoscaler in one version and reads it in the other", async () => {
  const namespace = "versions";
  await server.makeNamespace(namespace);
  const spec = {
    maxReplicas: 3,
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    targetCPUUtilizationPercentage: 55,
  };
  await config
    .makeApiClient(AutoscalingV1Api)
    .createNamespacedHorizontalPodAutoscaler({ namespace, body: { metadata: { name: "web" }, spec } });

  const read = await config.makeApiClient(AutoscalingV2Api).readNamespacedHorizontalPodAutoscaler({ namespace, name: "web" });

  deepEqual([read.apiVersion, read.spec?.metrics?.[0]?.resource?.target.averageUtilization], ["autoscaling/v2", 55]);
});

test("client-node lists consistent pages of one resource version", async () => {
  const namespace = "paged";
  await server.makeNamespace(namespace);
  const names = ["a", "b", "c", "d", "e"];
  for (const name of names) await core.createNamespacedConfigMap({ namespace, body: configMap(name) });

  const first = await core.listNamespacedConfigMap({ namespace, limit: 2 });
  await core.createNamespacedConfigMap({ namespace, body: configMap("bb") });
  const second = await core.listNamespacedConfigMap({ namespace, limit: 2, _continue: first.metadata?._continue ?? "" });
  const third = await core.listNamespacedConfigMap({ namespace, limit: 2, _continue: second.metadata?._continue ?? "" });

  deepEqual(
    [first, second, third].map(({ items, metadata }) => [items.map((item) => item.metadata?.name).join(), metadata?.remainingItemCount]),
    [
      ["a,b", 3],
      ["c,d", 1],
      ["e", undefined],
    ],
  );
  deepEqual([second.metadata?.resourceVersion, third.metadata?._continue], [first.metadata?.resourceVersion, undefined]);
});

test("client-node sends patches of every type", async () => {
  const namespace = "patches";
  await server.makeNamespace(namespace);
  const target = { namespace, name: "settings" };
  await core.createNamespacedConfigMap({ namespace, body: configMap("settings", { a: "1" }, { tier: "web" }) });
  const patch = async (type: string, body: object, more: object = {}) =>
    (await core.patchNamespacedConfigMap({ ...target, body, ...more }, setHeaderOptions("Content-Type", type))).data;

  deepEqual(await patch(PatchStrategy.JsonPatch, [{ op: "add", path: "/data/b", value: "2" }]), { a: "1", b: "2" });
  deepEqual(await patch(PatchStrategy.MergePatch, { data: { a: null } }), { b: "2" });
  deepEqual(await patch(PatchStrategy.StrategicMergePatch, { data: { c: "3" } }), { b: "2", c: "3" });
  deepEqual(await patch(PatchStrategy.ServerSideApply, aConfigMap("settings", { d: "4" }), { fieldManager: "test" }), {
    b: "2",
    c: "3",
    d: "4",
  });
  await rejects(patch(PatchStrategy.ServerSideApply, aConfigMap("settings", { b: "9" }), { fieldManager: "test" }), { code: 409 });
  deepEqual(await patch(PatchStrategy.ServerSideApply, aConfigMap("settings", { b: "9" }), { fieldManager: "test", force: true }), {
    b: "9",
    c: "3",
  });
});

test("client-node reads and writes objects of any kind found by discovery", async () => {
  const namespace = "any";
  await server.makeNamespace(namespace);
  const objects = KubernetesObjectApi.makeApiClient(config);
  const deployment = { ...aDeployment("web", { replicas: 1 }), metadata: { name: "web", namespace } };

  await objects.create(deployment);
  const patched = await objects.patch(
    { ...deployment, spec: { replicas: 2 } },
    undefined,
    undefined,
    undefined,
    undefined,
    PatchStrategy.MergePatch,
  );
  const list = await objects.list<V1Deployment>("apps/v1", "Deployment", namespace);
  await objects.delete(deployment);

  equal((patched as V1Deployment).spec?.replicas, 2);
  deepEqual(
    list.items.map((item) => item.metadata?.name),
    ["web"],
  );
  await rejects(objects.read(deployment), { code: 404 });
});

test("client-node deletes a collection by labels", async () => {
  const namespace = "collection";
  await server.makeNamespace(namespace);
  for (const name of ["a", "b", "c"])
    await core.createNamespacedConfigMap({ namespace, body: configMap(name, {}, { goes: name === "b" ? "no" : "yes" }) });

  await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: "goes=yes" });

  const { items } = await core.listNamespacedConfigMap({ namespace });
  deepEqual(
    items.map((item) => item.metadata?.name),
    ["b"],
  );
});

test("a client-node watch reports every change in order until it is aborted", async () => {
  const namespace = "watched";
  await server.makeNamespace(namespace);
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  const events = new Arrivals<string>();
  const ended = new Arrivals<unknown>();
  const query = { resourceVersion: metadata?.resourceVersion, allowWatchBookmarks: true, labelSelector: "seen=yes" };
  const watch = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    query,
    (type: string, object: V1ConfigMap) => events.push(`${type} ${object.metadata?.name} ${object.data?.["a"]}`),
    (error: unknown) => ended.push(error ?? "closed"),
  );

  await core.createNamespacedConfigMap({ namespace, body: configMap("unseen") });
  await core.createNamespacedConfigMap({ namespace, body: configMap("one", { a: "1" }, { seen: "yes" }) });
  await core.replaceNamespacedConfigMap({ namespace, name: "one", body: configMap("one", { a: "2" }, { seen: "yes" }) });
  await core.replaceNamespacedConfigMap({ namespace, name: "one", body: configMap("one", { a: "3" }) });

  // An object that leaves the selection is reported in its last selected state.
  deepEqual(await events.take(3), ["ADDED one 1", "MODIFIED one 2", "DELETED one 2"]);
  watch.abort();
  match(String(await ended.next()), /AbortError/);
});

test("a client-node watch ends after timeoutSeconds", async () => {
  const ended = new Arrivals<unknown>();
  await new Watch(config).watch(
    "/api/v1/configmaps",
    { timeoutSeconds: 1 },
    () => {},
    (error: unknown) => ended.push(error ?? "closed"),
  );

  equal(await ended.next(), "closed");
});

test("a client-node informer caches existing objects and reports added, updated and deleted ones", async () => {
  const namespace = "informer";
  await server.makeNamespace(namespace);
  await core.createNamespacedConfigMap({ namespace, body: configMap("early", { a: "1" }) });
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
  const events = new Arrivals<string>();
  for (const event of ["add", "update", "delete"] as const)
    informer.on(event, ({ metadata, data }) => events.push(`${event} ${metadata?.name} ${data?.["a"]}`));

  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: configMap("late", { a: "1" }) });
  await core.replaceNamespacedConfigMap({ namespace, name: "late", body: configMap("late", { a: "2" }) });
  await core.deleteNamespacedConfigMap({ namespace, name: "early" });

  deepEqual(await events.take(4), ["add early 1", "add late 1", "update late 2", "delete early 1"]);
  deepEqual([informer.list().length, informer.get("late", namespace)?.data], [1, { a: "2" }]);
  await informer.stop();
});
