import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { ReplicaSet } from "../../api/generated/apps/v1.ts";
import type { JsonObject, OwnerReference } from "../../api/machinery/object.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, makeObject, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, onChange, type ControllerContext, type Pass } from "../runtime/controller.ts";
import { overtaken } from "../runtime/testing/overtaken.ts";
import { anOrphan, markReady, podNames, podsOf, POD_SPEC, setLabels, setStatus } from "../runtime/testing/pods.ts";
import { replicaSetController } from "./replica-set-controller.ts";

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

/** All the passes that there is something to do for. */
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

test("a ReplicaSet of three makes three pods, tells of each, and reports what it saw before", async () => {
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

test("the next pass reports the pods, and the one after has nothing to do", async () => {
  await using cluster = await given(aSet(2));
  await pass(cluster);
  cluster.actions.length = 0;

  await pass(cluster);
  await pass(cluster);

  deepEqual(cluster.actions, [
    'status replicasets default/web {"replicas":2,"fullyLabeledReplicas":2,"observedGeneration":1,"terminatingReplicas":0}',
  ]);
});

test("a pod has what the template says and the ReplicaSet as its controller", async () => {
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

test("a ReplicaSet that is gone is left alone", async () => {
  await using cluster = await given();

  deepEqual(await pass(cluster), onChange);

  deepEqual(cluster.actions, []);
});

test("of too many pods those that are not ready go first, and it is told", async () => {
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

test("of too many pods those go first that share a node with others of the same Deployment", async () => {
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
  // By its age alone it would go first.
  await markReady(cluster, "lonely");
  await cluster.clock.advance(1_000);
  await scale(cluster, 1);

  await pass(cluster);

  equal(cluster.actions[0], "delete pods default/shared");
});

test("pods that have ended or are going do not count, and those going are told", async () => {
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

test("a pod is available when it has been ready for long enough, and that is looked at just then", async () => {
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

test("a pod that nobody controls is adopted, and one whose labels no longer match is let go and made up for", async () => {
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

test("a pod that has ended is neither adopted nor let go", async () => {
  await using cluster = await given(aSet(0), { ...anOrphan("ended", LABELS), status: { phase: "Succeeded" } });

  await pass(cluster);

  deepEqual(cluster.actions, ['status replicasets default/web {"replicas":0,"observedGeneration":1,"terminatingReplicas":0}']);
});

test("a server that refuses is asked once, which is told by an event and a condition until all goes well", async () => {
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

test("a template without labels makes no pod and says why", async () => {
  const spec = { selector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, template: { metadata: {}, spec: POD_SPEC } };
  await using cluster = await given(aSet(1, { spec }));

  await rejects(pass(cluster), { message: "unable to create pods, no labels" });

  deepEqual([(await statusOf(cluster))?.conditions?.[0]?.message, cluster.events], ["unable to create pods, no labels", []]);
});

test("in a namespace that is being deleted nothing is made, told or tried again", async () => {
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

test("a ReplicaSet that is going makes, removes, adopts and releases nothing, and goes on telling what there is", async () => {
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

test("what was seen is told also if somebody has changed the ReplicaSet meanwhile, with the generation that was seen", async () => {
  await using cluster = await given(aSet(0));
  const seen = await cluster.client.get(replicaSets, WEB);
  await scale(cluster, 3);
  const stale = { get: () => seen, controlledBy: () => [], uncontrolled: () => [] } as unknown as Reader;

  await replicaSetController.start({} as ControllerContext)(WEB, {
    read: stale,
    write: cluster.client,
    clock: cluster.clock,
  } as unknown as Pass);

  const { spec, status } = await cluster.client.get(replicaSets, WEB);
  deepEqual([spec?.replicas, status], [3, { replicas: 0, observedGeneration: 1, terminatingReplicas: 0 }]);
});

test("what was seen of one ReplicaSet is not told of another that has its name by now", async () => {
  await using cluster = await given(aSet(0));
  const controller = overtaken(replicaSetController, "updateStatus", async () => {
    await cluster.client.delete(replicaSets, WEB);
    await makeObject(cluster.client, aSet(7));
  });

  await rejects(cluster.reconcile(controller, "default/web"), { reason: "Conflict" });
  deepEqual(await statusOf(cluster), { replicas: 0 });
});

test("running, it wakes itself for what happens to its pods and for what it can adopt", async () => {
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

test("wherever it is cut, a ReplicaSet that grows and shrinks ends with its number of pods", async () => {
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
