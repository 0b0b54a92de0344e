import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { deployments } from "../../api/apps/v1/deployment.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PodDisruptionBudgetStatus } from "../../api/generated/policy/v1.ts";
import type { JsonObject, KubeObject, OwnerReference } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { podDisruptionBudgets } from "../../api/policy/v1/pod-disruption-budget.ts";
import type { Client } from "../../client/client.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { disruptionController } from "./disruption-controller.ts";
import { buildPod } from "../../api/testing/pod.ts";

const LABELS = { app: "web" };
const POD_SPEC = { containers: [{ name: "c", image: "i" }] };
const LONG_AGO = "2020-01-01T00:00:00Z";

function aBudget(spec: JsonObject, name = "web"): object {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: "default" },
    spec: { selector: { matchLabels: LABELS }, ...spec },
  };
}

function aPod(name: string, owner?: OwnerReference, ready = "True"): object {
  return buildPod({
    metadata: { name, namespace: "default", labels: LABELS, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec: { ...POD_SPEC, nodeName: "n1" },
    status: { phase: "Running", conditions: [{ type: "Ready", status: ready, lastTransitionTime: LONG_AGO }] },
  });
}

function aWorkload(apiVersion: string, kind: string, name: string, replicas: number, owner?: OwnerReference): object {
  const selector = kind === "ReplicationController" ? LABELS : { matchLabels: LABELS };
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: "default", ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec: { replicas, selector, template: { metadata: { labels: LABELS }, spec: POD_SPEC } },
  };
}

function ownedBy({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", controller: true };
}

async function make(cluster: Given, plural: string, object: object): Promise<KubeObject> {
  const [group = "", version = ""] = ("/" + (object as KubeObject).apiVersion).split("/").slice(-2);
  const { kind } = object as KubeObject;
  return cluster.client.create({ kind, plural, scope: "Namespaced", storage: { group, version } }, object as KubeObject);
}

async function statusOf(cluster: Given, name = "web"): Promise<PodDisruptionBudgetStatus | undefined> {
  return (await cluster.client.get(podDisruptionBudgets, { namespace: "default", name })).status;
}

async function numbersOf(cluster: Given): Promise<readonly (number | undefined)[]> {
  const { expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed } = (await statusOf(cluster)) ?? {};
  return [expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed];
}

function pass(cluster: Given): Promise<unknown> {
  return cluster.reconcile(disruptionController, "default/web");
}

test("a budget with an absolute number counts the selected Pods", async () => {
  await using cluster = await given(aBudget({ minAvailable: 1 }), aPod("a"), aPod("b"), aPod("c", undefined, "False"));

  await pass(cluster);

  deepEqual(await numbersOf(cluster), [3, 2, 1, 1]);
  const status = await statusOf(cluster);
  equal(status?.observedGeneration, 1);
  deepEqual(
    status?.conditions?.map(({ type, status: word, reason, message, observedGeneration }) => ({
      type,
      word,
      reason,
      message,
      observedGeneration,
    })),
    [{ type: "DisruptionAllowed", word: "True", reason: "SufficientPods", message: "", observedGeneration: 1 }],
  );
  await pass(cluster);
  equal(cluster.actions.length, 1);
  deepEqual(cluster.events, []);
});

test("a budget without Pods allows nothing and reports so", async () => {
  await using cluster = await given(aBudget({ minAvailable: 0 }));
  await pass(cluster);
  deepEqual(await numbersOf(cluster), [0, 0, 0, 0]);
  deepEqual(cluster.events, ["Normal NoPods PodDisruptionBudget/web No matching pods found"]);
});

for (const [apiVersion, kind, plural] of [
  ["apps/v1", "ReplicaSet", "replicasets"],
  ["apps/v1", "StatefulSet", "statefulsets"],
  ["v1", "ReplicationController", "replicationcontrollers"],
] as const) {
  test(`a percentage refers to the scale of the Pods' ${kind}`, async () => {
    await using cluster = await given(aBudget({ minAvailable: "50%" }));
    const owner = await make(cluster, plural, aWorkload(apiVersion, kind, "web", 4));
    await make(cluster, "pods", aPod("a", ownedBy(owner)));

    await pass(cluster);

    deepEqual((await numbersOf(cluster)).slice(0, 3), [4, 0, 2]);
  });
}

test("for a ReplicaSet of a Deployment the Deployment's scale counts, and is followed", async () => {
  await using cluster = await given(aBudget({ maxUnavailable: "34%" }));
  const deployment = await make(cluster, "deployments", aWorkload("apps/v1", "Deployment", "web", 3));
  const set = await make(cluster, "replicasets", aWorkload("apps/v1", "ReplicaSet", "web-1", 9, ownedBy(deployment)));
  await make(cluster, "pods", aPod("a", ownedBy(set)));
  await cluster.run(disruptionController);
  await cluster.settled();
  deepEqual((await numbersOf(cluster)).slice(0, 3), [3, 0, 1]);

  const value = { spec: { replicas: 10 } };
  await cluster.client.patch(deployments, { namespace: "default", name: "web" }, { type: "merge", value });
  await cluster.settled();
  deepEqual((await numbersOf(cluster)).slice(0, 3), [10, 0, 6]);
});

test("for a ReplicaSet whose Deployment was deleted its own scale counts", async () => {
  const gone = { apiVersion: "apps/v1", kind: "Deployment", name: "gone", uid: "1", controller: true };
  await using cluster = await given(aBudget({ maxUnavailable: 1 }));
  const set = await make(cluster, "replicasets", aWorkload("apps/v1", "ReplicaSet", "web-1", 5, gone));
  await make(cluster, "pods", aPod("a", ownedBy(set)));
  await pass(cluster);
  deepEqual((await numbersOf(cluster)).slice(0, 3), [5, 0, 4]);
});

const UNCOUNTABLE: readonly (readonly [it: string, owner: OwnerReference, message: string])[] = [
  [
    "owner is of a kind that is not served",
    { apiVersion: "example.com/v1", kind: "Ghost", name: "g", uid: "1", controller: true },
    'no matches for kind "Ghost" in version "example.com/v1"',
  ],
  [
    "owner has no scale",
    { apiVersion: "batch/v1", kind: "Job", name: "g", uid: "1", controller: true },
    "jobs.batch does not implement the scale subresource",
  ],
  [
    "owner is gone",
    { apiVersion: "apps/v1", kind: "ReplicaSet", name: "g", uid: "1", controller: true },
    'found no controllers for pod "a"',
  ],
];

for (const [it, owner, message] of UNCOUNTABLE) {
  test(`a budget of Pods whose ${it} allows nothing and reports why`, async () => {
    await using cluster = await given(aBudget({ maxUnavailable: 1 }), aPod("a", owner));

    await pass(cluster);

    const status = await statusOf(cluster);
    equal(status?.disruptionsAllowed, 0);
    deepEqual(
      status?.conditions?.map(({ status: word, reason, message: why }) => [word, reason, why]),
      [["False", "SyncFailed", message]],
    );
    const event = `Failed to calculate the number of expected pods: ${message}`;
    deepEqual(cluster.events, [`Warning CalculateExpectedPodCountFailed PodDisruptionBudget/web ${event}`]);
    await pass(cluster);
    equal(cluster.actions.length, 1);
  });
}

test("Pods without a controller do not count for a percentage, which is reported by an event", async () => {
  await using cluster = await given(aBudget({ maxUnavailable: 1 }), aPod("a"));
  await pass(cluster);
  deepEqual(await numbersOf(cluster), [0, 1, 0, 0]);
  deepEqual(cluster.events, [
    "Warning UnmanagedPods PodDisruptionBudget/web Pods selected by this PodDisruptionBudget (selector: " +
      "&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. " +
      "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
      'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
  ]);
});

function evict(client: Client, name: string): Promise<JsonObject> {
  const value = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } };
  return client.post(pods, { namespace: "default", name }, "eviction", value);
}

test("evictions use up the budget, and new ready Pods restore it", async () => {
  await using cluster = await given(aBudget({ minAvailable: 1 }), aPod("a"), aPod("b"));
  await cluster.run(disruptionController);
  await cluster.settled();

  await evict(cluster.client, "a");
  await rejects(evict(cluster.client, "b"), (error) => isReason(error, "TooManyRequests"));
  await cluster.settled();
  deepEqual(await numbersOf(cluster), [2, 1, 1, 0]);
  equal((await statusOf(cluster))?.disruptedPods, undefined);

  await make(cluster, "pods", aPod("c"));
  const value = { status: { conditions: [{ type: "Ready", status: "True" }] } };
  await cluster.client.patch(pods, { namespace: "default", name: "c" }, { type: "merge", value }, { subresource: "status" });
  await cluster.settled();
  deepEqual(await numbersOf(cluster), [3, 2, 1, 1]);
});

test("an evicted Pod that still exists after two minutes counts again", async () => {
  await using cluster = await given(aBudget({ minAvailable: 1 }), aPod("a"), aPod("b"));
  await cluster.run(disruptionController);
  await cluster.settled();
  const value = {
    status: { disruptionsAllowed: 0, disruptedPods: { a: formatTime(cluster.clock.now()) } },
  };
  await cluster.client.patch(
    podDisruptionBudgets,
    { namespace: "default", name: "web" },
    { type: "merge", value },
    { subresource: "status" },
  );

  await cluster.clock.advance(119_000);
  deepEqual(await numbersOf(cluster), [2, 1, 1, 0]);
  await cluster.clock.advance(1_000);
  deepEqual(await numbersOf(cluster), [2, 2, 1, 1]);
  deepEqual(cluster.events, ["Warning NotDeleted Pod/a Pod was expected by PDB default/web to be deleted but it wasn't"]);
});

test("DisruptionTarget is reset if the Pod is not deleted within two minutes", async () => {
  await using cluster = await given(aPod("a"));
  await cluster.run(disruptionController);
  const lastTransitionTime = formatTime(cluster.clock.now());
  const target = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", message: "m", lastTransitionTime };
  await cluster.client.patch(
    pods,
    { namespace: "default", name: "a" },
    { type: "strategic", value: { status: { conditions: [target] } } },
    { subresource: "status" },
  );
  const found = async (): Promise<JsonObject> => {
    const pod = await cluster.client.get(pods, { namespace: "default", name: "a" });
    const {
      type,
      status,
      reason = "",
      message = "",
    } = pod.status?.conditions?.find((condition) => condition.type === target.type) ?? target;
    return { type, status, reason, message };
  };

  await cluster.clock.advance(119_000);
  equal((await found())["status"], "True");
  await cluster.clock.advance(1_000);
  deepEqual(await found(), { type: "DisruptionTarget", status: "False", reason: "", message: "" });
});

test("a Pod with two budgets is reported, and both count it", async () => {
  await using cluster = await given(aBudget({ minAvailable: 1 }), aBudget({ minAvailable: 1 }, "other"));
  await cluster.run(disruptionController);
  await cluster.settled();
  cluster.events.length = 0;
  await make(cluster, "pods", aPod("a"));
  await cluster.settled();

  deepEqual([(await statusOf(cluster))?.expectedPods, (await statusOf(cluster, "other"))?.expectedPods], [1, 1]);
  deepEqual(cluster.events, [
    'Warning MultiplePodDisruptionBudgets Pod/a Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "other" arbitrarily.',
  ]);
});

test("a Pod that is no longer selected no longer counts", async () => {
  await using cluster = await given(aBudget({ minAvailable: 0 }), aPod("a"));
  await cluster.run(disruptionController);
  await cluster.settled();
  const value = { metadata: { labels: { app: "other" } } };
  await cluster.client.patch(pods, { namespace: "default", name: "a" }, { type: "merge", value });
  await cluster.settled();
  equal((await statusOf(cluster))?.expectedPods, 0);
});

test("a crash at any step does not change the final state", async () => {
  await everyStepMayBeTheLast(
    {
      objects: [aBudget({ minAvailable: 1 }), aPod("a"), aPod("b"), aPod("c", undefined, "False")],
      controllers: () => [disruptionController],
      steps: [async ({ client }) => void (await evict(client, "a"))],
      restMs: 20_000,
    },
    { disturbedRuns: rounds({ quick: 2, full: 30 }) },
  );
});
