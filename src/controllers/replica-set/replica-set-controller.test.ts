import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { ReplicaSet } from "../../api/generated/apps/v1.ts";
import type { JsonObject, OwnerReference } from "../../api/machinery/object.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, createObject, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, onChange, type ControllerContext, type Pass } from "../runtime/controller.ts";
import { overtaken } from "../runtime/testing/overtaken.ts";
import { anOrphan, markReady, podNames, podsOf, POD_SPEC, setLabels, setStatus } from "../runtime/testing/pods.ts";
import { replicaSetController } from "./replica-set-controller.ts";
import { stub } from "../../base/testing/stub.ts";

const WEB = { namespace: "default", name: "web" };
const LABELS = { app: "web" };

interface SetParts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  readonly template?: JsonObject;
}

function aSet(replicas: number, { metadata = {}, spec = {}, template = {} }: SetParts = {}) {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { ...WEB, ...metadata },
    spec: { replicas, selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS, ...template }, spec: POD_SPEC }, ...spec },
  };
}

/** Reconciles until there is nothing to do. */
async function settle(cluster: Given): Promise<void> {
  await cluster.reconcile(replicaSetController, "default/web");
  await cluster.reconcile(replicaSetController, "default/web");
  cluster.actions.length = 0;
  cluster.events.length = 0;
}

function pass(cluster: Given) {
  return cluster.reconcile(replicaSetController, "default/web");
}

function scale(cluster: Given, replicas: number): Promise<ReplicaSet> {
  return cluster.client.patch(replicaSets, WEB, { type: "merge", value: { spec: { replicas } } });
}

async function statusOf(cluster: Given): Promise<ReplicaSet["status"]> {
  return (await cluster.client.get(replicaSets, WEB)).status;
}

test("a ReplicaSet of three creates three Pods, emits SuccessfulCreate, and reports the observed status", async () => {
  await using cluster = await given(aSet(3));

  deepEqual(await pass(cluster), onChange);

  deepEqual(cluster.actions, [
    "create pods default/web-*",
    "create pods default/web-*",
    "create pods default/web-*",
    'status replicasets default/web {"replicas":0,"observedGeneration":1,"terminatingReplicas":0}',
  ]);
  deepEqual(
    cluster.events.toSorted(),
    (await podNames(cluster)).map((name) => `Normal SuccessfulCreate ReplicaSet/web Created pod: ${name}`),
  );
});

test("the next reconciliation reports the Pods, and the one after does nothing", async () => {
  await using cluster = await given(aSet(2));
  await pass(cluster);
  cluster.actions.length = 0;

  await pass(cluster);
  await pass(cluster);

  deepEqual(cluster.actions, [
    'status replicasets default/web {"replicas":2,"fullyLabeledReplicas":2,"observedGeneration":1,"terminatingReplicas":0}',
  ]);
});

test("a Pod has the template's content and the ReplicaSet as its controller", async () => {
  const template = { labels: { ...LABELS, tier: "front" }, annotations: { note: "x" }, finalizers: ["example.com/hold"], name: "ignored" };
  await using cluster = await given(aSet(1, { template }));

  await pass(cluster);

  const { uid } = (await cluster.client.get(replicaSets, WEB)).metadata;
  const [pod] = await podsOf(cluster);
  const { generateName, labels, annotations, finalizers, ownerReferences, name = "" } = pod?.metadata ?? {};
  deepEqual(
    { generateName, labels, annotations, finalizers, ownerReferences },
    {
      generateName: "web-",
      labels: { app: "web", tier: "front" },
      annotations: { note: "x" },
      finalizers: ["example.com/hold"],
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid, controller: true, blockOwnerDeletion: true }],
    },
  );
  equal(/^web-[a-z0-9]{5}$/.test(name), true);
});

test("a deleted ReplicaSet is ignored", async () => {
  await using cluster = await given();

  deepEqual(await pass(cluster), onChange);

  deepEqual(cluster.actions, []);
});

test("scale-down deletes not-ready Pods first and emits SuccessfulDelete", async () => {
  await using cluster = await given(aSet(3));
  await settle(cluster);
  const [first = "", second = "", third = ""] = await podNames(cluster);
  await markReady(cluster, first);
  await markReady(cluster, third);
  await scale(cluster, 2);

  await pass(cluster);

  deepEqual(cluster.actions, [
    `delete pods default/${second}`,
    'status replicasets default/web {"replicas":3,"fullyLabeledReplicas":3,"readyReplicas":2,"availableReplicas":2,"observedGeneration":2,"terminatingReplicas":0}',
  ]);
  deepEqual(cluster.events, [`Normal SuccessfulDelete ReplicaSet/web Deleted pod: ${second}`]);
});

test("scale-down prefers Pods that share a node with others of the same Deployment", async () => {
  const controller: OwnerReference = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "d1", controller: true };
  const owned = { ownerReferences: [{ ...controller }] };
  const old = { ...aSet(1, { metadata: { ...owned, name: "old" }, template: { labels: { app: "old" } } }) };
  const oldSelector = { ...old, spec: { ...old.spec, selector: { matchLabels: { app: "old" } } } };
  const onNode = (name: string, app: string, nodeName: string) => ({ ...anOrphan(name, { app }), spec: { ...POD_SPEC, nodeName } });
  await using cluster = await given(
    aSet(2, { metadata: owned }),
    oldSelector,
    onNode("lonely", "web", "n1"),
    onNode("shared", "web", "n2"),
    onNode("other", "old", "n2"),
  );
  await cluster.reconcile(replicaSetController, "default/old");
  await settle(cluster);
  await markReady(cluster, "shared");
  await cluster.clock.advance(60_000);
  // By its age alone it would be deleted first.
  await markReady(cluster, "lonely");
  await cluster.clock.advance(1_000);
  await scale(cluster, 1);

  await pass(cluster);

  equal(cluster.actions[0], "delete pods default/shared");
});

test("terminated and terminating Pods do not count, and terminating ones are reported", async () => {
  await using cluster = await given(aSet(2), anOrphan("a", LABELS), anOrphan("b", LABELS));
  await settle(cluster);
  await setStatus(cluster, "a", { phase: "Failed" });
  await cluster.client.delete(pods, { namespace: "default", name: "b" });

  await pass(cluster);
  await pass(cluster);

  deepEqual(cluster.actions, [
    "create pods default/web-*",
    "create pods default/web-*",
    'status replicasets default/web {"replicas":0,"observedGeneration":1,"terminatingReplicas":1}',
    'status replicasets default/web {"replicas":2,"fullyLabeledReplicas":2,"observedGeneration":1,"terminatingReplicas":1}',
  ]);
});

test("a Pod becomes available after minReadySeconds, and the ReplicaSet is requeued for that time", async () => {
  await using cluster = await given(aSet(2, { spec: { minReadySeconds: 10 } }));
  await settle(cluster);
  const [first = "", second = ""] = await podNames(cluster);
  await markReady(cluster, first);
  await cluster.clock.advance(4_000);
  await markReady(cluster, second);

  deepEqual(await pass(cluster), after(6_000));
  deepEqual([(await statusOf(cluster))?.readyReplicas, (await statusOf(cluster))?.availableReplicas], [2, undefined]);

  await cluster.clock.advance(6_000);
  deepEqual(await pass(cluster), after(4_000));
  equal((await statusOf(cluster))?.availableReplicas, 1);

  await cluster.clock.advance(4_000);
  deepEqual(await pass(cluster), onChange);
  equal((await statusOf(cluster))?.availableReplicas, 2);
});

test("an orphaned Pod is adopted, and one whose labels no longer match is released and replaced", async () => {
  await using cluster = await given(aSet(1), anOrphan("stray", LABELS), anOrphan("stranger", { app: "other" }));

  await pass(cluster);

  const { uid } = (await cluster.client.get(replicaSets, WEB)).metadata;
  const stray = await cluster.client.get(pods, { namespace: "default", name: "stray" });
  deepEqual(stray.metadata.ownerReferences, [
    { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid, controller: true, blockOwnerDeletion: true },
  ]);
  equal((await statusOf(cluster))?.replicas, 1);

  cluster.actions.length = 0;
  await setLabels(cluster, "stray", { app: "debug" });
  await pass(cluster);

  deepEqual(cluster.actions.slice(0, 2), [
    `patch pods default/stray {"metadata":{"uid":"${stray.metadata.uid}","ownerReferences":[{"$patch":"delete","uid":"${uid}"}]}}`,
    "create pods default/web-*",
  ]);
  equal((await cluster.client.get(pods, { namespace: "default", name: "stray" })).metadata.ownerReferences, undefined);
});

test("a terminated Pod is neither adopted nor released", async () => {
  await using cluster = await given(aSet(0), { ...anOrphan("ended", LABELS), status: { phase: "Succeeded" } });

  await pass(cluster);

  deepEqual(cluster.actions, ['status replicasets default/web {"replicas":0,"observedGeneration":1,"terminatingReplicas":0}']);
});

test("a rejected creation is tried once per reconciliation, with an event and a condition until it succeeds", async () => {
  const strict = { name: "strict", labels: { "pod-security.kubernetes.io/enforce": "baseline" } };
  const template = { metadata: { labels: LABELS }, spec: { ...POD_SPEC, hostNetwork: true } };
  const set = aSet(20, { metadata: { namespace: "strict" }, spec: { template } });
  await using cluster = await given({ apiVersion: "v1", kind: "Namespace", metadata: strict }, set);
  const key = { namespace: "strict", name: "web" };

  await rejects(
    cluster.reconcile(replicaSetController, key),
    /^StatusError: pods "web-.{5}" is forbidden: violates PodSecurity "baseline:latest"/,
  );

  const [condition] = (await cluster.client.get(replicaSets, key)).status?.conditions ?? [];
  deepEqual(cluster.actions.length, 2);
  deepEqual(cluster.actions[0], "create pods strict/web-* -> Forbidden");
  deepEqual(cluster.events, [`Warning FailedCreate ReplicaSet/web Error creating: ${condition?.message}`]);
  deepEqual(
    { ...condition, message: "" },
    { type: "ReplicaFailure", status: "True", reason: "FailedCreate", lastTransitionTime: "2026-01-01T00:00:00Z", message: "" },
  );

  await cluster.client.patch(replicaSets, key, { type: "merge", value: { spec: { replicas: 0 } } });
  await cluster.reconcile(replicaSetController, key);

  equal((await cluster.client.get(replicaSets, key)).status?.conditions, undefined);
});

test("a template without labels creates no Pod and reports why", async () => {
  const spec = { selector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, template: { metadata: {}, spec: POD_SPEC } };
  await using cluster = await given(aSet(1, { spec }));

  await rejects(pass(cluster), { message: "unable to create pods, no labels" });

  deepEqual([(await statusOf(cluster))?.conditions?.[0]?.message, cluster.events], ["unable to create pods, no labels", []]);
});

test("in a terminating namespace nothing is created, reported or retried", async () => {
  const gone = { apiVersion: "v1", kind: "Namespace", metadata: { name: "gone" }, spec: { finalizers: ["kubernetes"] } };
  await using cluster = await given(gone, aSet(5, { metadata: { namespace: "gone" } }));
  await cluster.server.call("DELETE", "/api/v1/namespaces/gone");

  deepEqual(await cluster.reconcile(replicaSetController, "gone/web"), onChange);

  deepEqual(cluster.actions, [
    "create pods gone/web-* -> Forbidden",
    'status replicasets gone/web {"replicas":0,"observedGeneration":1,"terminatingReplicas":0}',
  ]);
  deepEqual(cluster.events, []);
});

test("a terminating ReplicaSet creates, deletes, adopts and releases nothing, and still updates its status", async () => {
  await using cluster = await given(aSet(2, { metadata: { finalizers: ["example.com/hold"] } }));
  await settle(cluster);
  const [first = ""] = await podNames(cluster);
  await cluster.client.delete(replicaSets, WEB);
  await setStatus(cluster, first, { phase: "Failed" });

  await pass(cluster);

  deepEqual(cluster.actions, [
    'status replicasets default/web {"replicas":1,"fullyLabeledReplicas":1,"observedGeneration":2,"terminatingReplicas":0}',
  ]);
});

test("the status is written also if the ReplicaSet changed meanwhile, with the observed generation", async () => {
  await using cluster = await given(aSet(0));
  const seen = await cluster.client.get(replicaSets, WEB);
  await scale(cluster, 3);
  const stale = stub<Reader>({ get: () => seen, controlledBy: () => [], uncontrolled: () => [] });

  await replicaSetController.start({} as ControllerContext)(
    WEB,
    stub<Pass>({
      read: stale,
      write: cluster.client,
      clock: cluster.clock,
    }),
  );

  const { spec, status } = await cluster.client.get(replicaSets, WEB);
  deepEqual([spec?.replicas, status], [3, { replicas: 0, observedGeneration: 1, terminatingReplicas: 0 }]);
});

test("the status of one ReplicaSet is not written to another of the same name", async () => {
  await using cluster = await given(aSet(0));
  const controller = overtaken(replicaSetController, "updateStatus", async () => {
    await cluster.client.delete(replicaSets, WEB);
    await createObject(cluster.client, aSet(7));
  });

  await rejects(cluster.reconcile(controller, "default/web"), { reason: "Conflict" });
  deepEqual(await statusOf(cluster), { replicas: 0 });
});

test("the running controller follows its Pods and orphans that it can adopt", async () => {
  await using cluster = await given(aSet(2));
  await cluster.run(replicaSetController);
  await cluster.settled();
  equal((await podNames(cluster)).length, 2);
  equal((await statusOf(cluster))?.replicas, 2);

  const [first = ""] = await podNames(cluster);
  await cluster.client.delete(pods, { namespace: "default", name: first });
  await cluster.client.create(pods, anOrphan("stray", LABELS));
  await cluster.settled();

  equal((await podNames(cluster)).length, 2);
  equal((await statusOf(cluster))?.replicas, 2);
  equal((await cluster.client.get(pods, { namespace: "default", name: "stray" })).metadata.ownerReferences?.length ?? 0, 1);
});

test("a ReplicaSet that is scaled up and down converges after a crash at any step", async () => {
  await everyStepMayBeTheLast(
    {
      objects: [aSet(3), anOrphan("stray", LABELS)],
      controllers: () => [replicaSetController],
      steps: [
        async ({ client }) => void (await client.patch(replicaSets, WEB, { type: "merge", value: { spec: { replicas: 5 } } })),
        async ({ client }) => void (await client.patch(replicaSets, WEB, { type: "merge", value: { spec: { replicas: 1 } } })),
      ],
      restMs: 20_000,
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  );
});
