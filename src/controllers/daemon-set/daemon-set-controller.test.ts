import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { controllerRevisions } from "../../api/apps/v1/controller-revision.ts";
import { daemonSets } from "../../api/apps/v1/daemon-set.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { DaemonSetSpec, DaemonSetStatus } from "../../api/generated/apps/v1.ts";
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { assert } from "../../base/assert.ts";
import { stub } from "../../base/testing/stub.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { given, type Given } from "../../testing/given.ts";
import { markReady, podsOf, setStatus } from "../runtime/testing/pods.ts";
import { obedientPods } from "../shared/testing/obedient-pods.ts";
import { givenTakenRevision } from "../shared/testing/taken-revision.ts";
import { daemonSetController, podChangesDelayMs } from "./daemon-set-controller.ts";
import { targetNode } from "./daemon-pod.ts";
import { aDaemonSet, aNode, aTemplate, someNodes, type DaemonFacts } from "./testing/daemons.ts";

const AGENT = { namespace: "default", name: "agent" };
const reconcile = (cluster: Given) => cluster.reconcile(daemonSetController, "default/agent");

async function change(cluster: Given, spec: Partial<DaemonSetSpec>): Promise<void> {
  await cluster.client.patch(daemonSets, AGENT, { type: "merge", value: { spec } });
}

async function statusOf({ client }: Given): Promise<DaemonSetStatus | undefined> {
  return (await client.get(daemonSets, AGENT)).status;
}

/** "n1 agent:1", by node. */
async function placed(cluster: Given): Promise<readonly string[]> {
  return (await podsOf(cluster)).map((pod) => `${targetNode(pod)} ${pod.spec?.containers[0]?.image}`).toSorted();
}

/** A DaemonSet with all its Pods, kept by the running controller. */
async function running(facts: DaemonFacts, all: readonly Node[] = someNodes(3), isBroken?: (pod: Pod) => boolean): Promise<Given> {
  const cluster = await given(...all, aDaemonSet(facts));
  await cluster.run(daemonSetController, obedientPods(isBroken));
  await cluster.settled();
  return cluster;
}

test("changes of Pods are collected for DaemonSets with many Pods only", async () => {
  const rows = [
    { pods: undefined, delayMs: 0 },
    { pods: 499, delayMs: 0 },
    { pods: 500, delayMs: 20 },
    { pods: 5_000, delayMs: 200 },
  ];
  for (const { pods: count, delayMs } of rows) {
    const status = { currentNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0, desiredNumberScheduled: count ?? 0 };
    const daemonSet = { ...aDaemonSet(), ...(count === undefined ? {} : { status }) };
    const read = stub<Reader>({ get: () => daemonSet as never });
    equal(podChangesDelayMs(AGENT, read), delayMs, String(count));
  }
});

test("a DaemonSet of more Pods than a reconciliation creates gets all of them without further changes", async () => {
  await using cluster = await given(...someNodes(251), aDaemonSet());

  await cluster.run(daemonSetController);
  await cluster.settled();

  equal((await podsOf(cluster)).length, 251);
  equal((await statusOf(cluster))?.currentNumberScheduled, 251);
});

// ── nodes ───────────────────────────────────────────────────────────────────────────────────────────

test("a DaemonSet creates a Pod for every node, and reports them", async () => {
  await using cluster = await given(...someNodes(2), aDaemonSet());

  await reconcile(cluster);

  const created = await podsOf(cluster);
  const [revision] = await cluster.list(controllerRevisions, "default");
  deepEqual(created.map((pod) => `${targetNode(pod)}`).toSorted(), ["n1", "n2"]);
  equal(created[0]?.metadata.labels?.["controller-revision-hash"], revision?.metadata.labels?.["controller-revision-hash"]);
  equal(created[0]?.metadata.labels?.["pod-template-generation"], "1");
  match(cluster.events[0] ?? "", /^Normal SuccessfulCreate DaemonSet\/agent Created pod: agent-.{5}$/);
  deepEqual(await statusOf(cluster), {
    currentNumberScheduled: 2,
    desiredNumberScheduled: 2,
    numberMisscheduled: 0,
    numberReady: 0,
    numberUnavailable: 2,
    observedGeneration: 1,
    updatedNumberScheduled: 2,
  });
});

test("a DaemonSet follows labels, taints and the arrival and departure of nodes", async () => {
  await using cluster = await running({ pod: { nodeSelector: { disk: "ssd" } } });
  const patch = (name: string, value: JsonObject) => cluster.client.patch(nodes, { name }, { type: "merge", value });
  deepEqual(await placed(cluster), []);

  await patch("n1", { metadata: { labels: { disk: "ssd" } } });
  await patch("n2", { metadata: { labels: { disk: "ssd" } } });
  await cluster.settled();
  deepEqual(await placed(cluster), ["n1 agent:1", "n2 agent:1"]);

  await patch("n1", { metadata: { labels: { disk: "hdd" } } });
  await patch("n2", { spec: { taints: [{ key: "x", effect: "NoSchedule" }] } });
  await cluster.settled();
  deepEqual(await placed(cluster), ["n2 agent:1"]);
  equal((await statusOf(cluster))?.numberMisscheduled, 1);

  await cluster.client.create(nodes, aNode("n4", { labels: { disk: "ssd" } }));
  await cluster.client.delete(nodes, { name: "n2" });
  await cluster.settled();
  deepEqual(await placed(cluster), ["n4 agent:1"]);
  equal((await statusOf(cluster))?.desiredNumberScheduled, 1);
});

test("heartbeats of nodes do not trigger a reconciliation", async () => {
  await using cluster = await running({});
  cluster.actions.length = 0;
  const node = await cluster.client.get(nodes, { name: "n1" });
  const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:00Z" }];
  const [, , , watchNodes] = daemonSetController.watches;

  const updated = await cluster.client.updateStatus(nodes, { ...node, status: { ...node.status, conditions } });
  await cluster.settled();

  const change = { is: "updated", object: updated, previous: node } as const;
  const read = { list: () => [aDaemonSet()] } as never;
  deepEqual(watchNodes === undefined || "everyKind" in watchNodes ? undefined : [...watchNodes.keys(change, read)], []);
  deepEqual(cluster.actions, []);
});

test("a DaemonSet creates at most 250 Pods per reconciliation", async () => {
  await using cluster = await given(...someNodes(260), aDaemonSet());

  await reconcile(cluster);
  equal((await podsOf(cluster)).length, 250);
  await reconcile(cluster);

  equal((await podsOf(cluster)).length, 260);
});

// ── ended Pods ──────────────────────────────────────────────────────────────────────────────────────

test("a failed Pod is replaced, the next one on its node only after a delay", async () => {
  await using cluster = await given(aNode("n1"), aDaemonSet());
  await cluster.run(daemonSetController);
  await cluster.settled();
  const failNow = async (): Promise<string> => {
    const [pod] = await podsOf(cluster);
    await setStatus(cluster, pod?.metadata.name ?? "", { phase: "Failed" });
    await cluster.settled();
    return pod?.metadata.name ?? "";
  };
  cluster.events.length = 0;

  const first = await failNow();
  deepEqual(cluster.events.slice(0, 2), [
    `Warning FailedDaemonPod DaemonSet/agent Found failed daemon pod default/${first} on node n1, will try to kill it`,
    `Normal SuccessfulDelete DaemonSet/agent Deleted pod: ${first}`,
  ]);
  const second = await failNow();
  await cluster.clock.advance(999);
  deepEqual(
    (await podsOf(cluster)).map(({ metadata }) => metadata.name),
    [second],
  );
  await cluster.clock.advance(1);

  deepEqual(
    (await podsOf(cluster)).map(({ metadata }) => metadata.name === second),
    [false],
  );
});

test("a succeeded Pod is replaced at once", async () => {
  await using cluster = await given(aNode("n1"), aDaemonSet());
  await reconcile(cluster);
  const [pod] = await podsOf(cluster);
  await setStatus(cluster, pod?.metadata.name ?? "", { phase: "Succeeded" });

  await reconcile(cluster);

  equal(
    cluster.events[1],
    `Normal SucceededDaemonPod DaemonSet/agent Found succeeded daemon pod default/${pod?.metadata.name} on node n1, will try to delete it`,
  );
});

test("a rejected Pod is reported in an event, and the status is reported nevertheless", async () => {
  const labels = { "pod-security.kubernetes.io/enforce": "baseline" };
  const strict = { apiVersion: "v1", kind: "Namespace", metadata: { name: "strict", labels } };
  const set = aDaemonSet({ pod: { hostNetwork: true } });
  await using cluster = await given(strict, ...someNodes(2), { ...set, metadata: { ...set.metadata, namespace: "strict" } });

  const failure = await cluster.reconcile(daemonSetController, "strict/agent").catch((error: unknown) => error);

  match(String(failure), /violates PodSecurity/);
  match(cluster.events.join("\n"), /^Warning FailedCreate DaemonSet\/agent Error creating: pods "agent-.{5}" is forbidden/);
  equal((await cluster.client.get(daemonSets, { namespace: "strict", name: "agent" })).status?.desiredNumberScheduled, 2);
});

// ── updates ─────────────────────────────────────────────────────────────────────────────────────────

test("an update replaces Pods one by one, and a broken one stops it until the template is repaired", async () => {
  await using cluster = await running({}, someNodes(3), ({ spec }) => spec?.containers[0]?.image === "broken");
  await change(cluster, { template: aTemplate("broken") });
  await cluster.clock.advance(600_000);
  equal((await placed(cluster)).filter((text) => text.endsWith("broken")).length, 1);

  await change(cluster, { template: aTemplate("agent:1") });
  await cluster.settled();

  deepEqual(await placed(cluster), ["n1 agent:1", "n2 agent:1", "n3 agent:1"]);
});

test("a rollback does not restart healthy Pods, and returns to the old revision", async () => {
  await using cluster = await running({}, someNodes(3), ({ spec }) => spec?.containers[0]?.image === "broken");
  const before = new Set((await podsOf(cluster)).map(({ metadata }) => metadata.uid));
  await change(cluster, { template: aTemplate("broken") });
  await cluster.settled();

  await change(cluster, { template: aTemplate("agent:1") });
  await cluster.settled();

  equal((await podsOf(cluster)).filter(({ metadata }) => before.has(metadata.uid)).length, 2);
  const revisions = await cluster.list(controllerRevisions, "default");
  deepEqual(
    revisions.map(({ revision }) => revision).toSorted((a, b) => a - b),
    [2, 3],
  );
});

test("with surge every node always has an available Pod", async () => {
  await using cluster = await running({ maxSurge: 1 });
  cluster.actions.length = 0;

  await change(cluster, { template: aTemplate("agent:2") });
  await cluster.settled();

  deepEqual(await placed(cluster), ["n1 agent:2", "n2 agent:2", "n3 agent:2"]);
  const reported = cluster.actions.filter((line) => line.startsWith("status daemonsets"));
  deepEqual(new Set(reported.map((line) => /"numberAvailable":([0-9]+)/.exec(line)?.[1])), new Set(["3"]));
});

test("with OnDelete a Pod is updated when it is deleted", async () => {
  await using cluster = await running({ updateStrategy: { type: "OnDelete" } });
  await change(cluster, { template: aTemplate("agent:2") });
  await cluster.settled();
  deepEqual(await placed(cluster), ["n1 agent:1", "n2 agent:1", "n3 agent:1"]);
  equal((await statusOf(cluster))?.updatedNumberScheduled ?? 0, 0);

  const second = (await podsOf(cluster)).find((pod) => targetNode(pod) === "n2");
  await cluster.client.delete(pods, { namespace: "default", name: second?.metadata.name ?? "" });
  await cluster.settled();

  deepEqual(await placed(cluster), ["n1 agent:1", "n2 agent:2", "n3 agent:1"]);
});

test("an update waits until each new Pod is ready for minReadySeconds", async () => {
  await using cluster = await running({ minReadySeconds: 10 }, someNodes(2));
  await cluster.clock.advance(10_000);
  await change(cluster, { template: aTemplate("agent:2") });
  await cluster.settled();

  await cluster.clock.advance(9_999);
  equal((await placed(cluster)).filter((text) => text.endsWith("agent:2")).length, 1);
  await cluster.clock.advance(1);

  deepEqual(await placed(cluster), ["n1 agent:2", "n2 agent:2"]);
});

// ── revisions ───────────────────────────────────────────────────────────────────────────────────────

test("an equal revision that a client creates stays until the next reconciliation, which keeps the later one", async () => {
  await using cluster = await running({}, [aNode("n1")]);
  const [first] = await cluster.list(controllerRevisions, "default");
  const [pod] = await podsOf(cluster);
  assert(first !== undefined, "the controller created a revision");
  const { ownerReferences = [] } = first.metadata;
  const labels = { ...first.metadata.labels, "controller-revision-hash": "mine" };
  const metadata = { namespace: "default", name: "mine", labels, ownerReferences };
  await cluster.client.create(controllerRevisions, { ...first, metadata, revision: 5 });
  await cluster.settled();
  equal((await cluster.list(controllerRevisions, "default")).length, 2);

  await reconcile(cluster);

  deepEqual(
    (await cluster.list(controllerRevisions, "default")).map(({ metadata: { name } }) => name),
    ["mine"],
  );
  const [same] = await podsOf(cluster);
  deepEqual([same?.metadata.uid, same?.metadata.labels?.["controller-revision-hash"]], [pod?.metadata.uid, "mine"]);
});

test("a revision's name that another object has is avoided, and counted", async () => {
  const { cluster } = await givenTakenRevision(aDaemonSet(), reconcile);
  await using _ = cluster;

  await reconcile(cluster);
  await reconcile(cluster);

  equal((await statusOf(cluster))?.collisionCount, 1);
  equal((await cluster.list(controllerRevisions, "default")).length, 2);
});

// ── the end ─────────────────────────────────────────────────────────────────────────────────────────

test("a terminating DaemonSet does nothing", async () => {
  const set = aDaemonSet();
  await using cluster = await given(aNode("n1"), { ...set, metadata: { ...set.metadata, finalizers: ["example.com/keep"] } });
  await cluster.client.delete(daemonSets, AGENT);

  await reconcile(cluster);

  deepEqual(cluster.actions, []);
});

test("a DaemonSet that is complete writes nothing", async () => {
  await using cluster = await running({});
  cluster.actions.length = 0;

  await reconcile(cluster);
  await cluster.clock.advance(600_000);

  deepEqual(cluster.actions, []);
});

test("Pods of a DaemonSet that become ready are reported", async () => {
  await using cluster = await given(aNode("n1"), aDaemonSet());
  await reconcile(cluster);
  const [pod] = await podsOf(cluster);
  await markReady(cluster, pod?.metadata.name ?? "");

  await reconcile(cluster);

  const { numberReady, numberAvailable, numberUnavailable } = (await statusOf(cluster)) ?? {};
  deepEqual([numberReady, numberAvailable, numberUnavailable], [1, 1, undefined]);
});
