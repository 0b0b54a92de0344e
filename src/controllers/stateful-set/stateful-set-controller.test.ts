import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { controllerRevisions } from "../../api/apps/v1/controller-revision.ts";
import { statefulSets } from "../../api/apps/v1/stateful-set.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { StatefulSetSpec, StatefulSetStatus } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { given, type Given } from "../../testing/given.ts";
import { anOrphan, markReady, podNames, podsOf, setStatus } from "../runtime/testing/pods.ts";
import { obedientPods } from "../shared/testing/obedient-pods.ts";
import { givenTakenRevision } from "../shared/testing/taken-revision.ts";
import { statefulSetController } from "./stateful-set-controller.ts";
import { aSet, aTemplate, type SetFacts } from "./testing/sets.ts";

const WEB = { namespace: "default", name: "web" };
const reconcile = (cluster: Given) => cluster.reconcile(statefulSetController, "default/web");

async function change(cluster: Given, spec: Partial<StatefulSetSpec>): Promise<void> {
  await cluster.client.patch(statefulSets, WEB, { type: "merge", value: { spec } });
}

async function statusOf({ client }: Given): Promise<StatefulSetStatus> {
  return (await client.get(statefulSets, WEB)).status ?? { replicas: 0 };
}

async function images(cluster: Given): Promise<readonly string[]> {
  return (await podsOf(cluster)).map(({ metadata, spec }) => `${metadata.name} ${spec?.containers[0]?.image}`);
}

/** A set with all its Pods, kept by the running controller. */
async function running(facts: SetFacts, isBroken?: (pod: Pod) => boolean): Promise<Given> {
  const cluster = await given(aSet(facts));
  await cluster.run(statefulSetController, obedientPods(isBroken));
  await cluster.settled();
  return cluster;
}

// ── identity ────────────────────────────────────────────────────────────────────────────────────────

test("the first Pod of a StatefulSet has its name, labels, host name and subdomain", async () => {
  await using cluster = await given(aSet());

  await reconcile(cluster);

  const [pod] = await podsOf(cluster);
  const [revision] = await cluster.list(controllerRevisions, "default");
  equal(pod?.metadata.name, "web-0");
  deepEqual(pod.metadata.labels, {
    app: "web",
    "apps.kubernetes.io/pod-index": "0",
    "controller-revision-hash": revision?.metadata.name,
    "statefulset.kubernetes.io/pod-name": "web-0",
  });
  deepEqual([pod.spec?.hostname, pod.spec?.subdomain], ["web-0", "web"]);
  deepEqual(cluster.events, ["Normal SuccessfulCreate StatefulSet/web Create Pod web-0 in StatefulSet web successful"]);
});

test("a Pod has its claims, created before it, with the labels of template and selector", async () => {
  await using cluster = await given(aSet({ claims: true }));

  await reconcile(cluster);

  const [claim] = await cluster.list(persistentVolumeClaims, "default");
  const [pod] = await podsOf(cluster);
  equal(claim?.metadata.name, "data-web-0");
  deepEqual(claim.metadata.labels, { app: "web", tier: "disk" });
  deepEqual(claim.metadata.ownerReferences, undefined);
  deepEqual(pod?.spec?.volumes?.[0], { name: "data", persistentVolumeClaim: { claimName: "data-web-0" } });
  deepEqual(cluster.actions.slice(1, 3), ["create persistentvolumeclaims default/data-web-0", "create pods default/web-0"]);
  deepEqual(cluster.events, [
    "Normal SuccessfulCreate StatefulSet/web Create Claim data-web-0 Pod web-0 in StatefulSet web success",
    "Normal SuccessfulCreate StatefulSet/web Create Pod web-0 in StatefulSet web successful",
  ]);
});

test("a matching orphan with the name of a member is adopted and corrected; others are not", async () => {
  await using cluster = await given(aSet({ replicas: 1 }), anOrphan("web-0", { app: "web" }), anOrphan("stray", { app: "web" }));
  await markReady(cluster, "web-0");

  await reconcile(cluster);

  const [stray, adopted] = await podsOf(cluster);
  equal(stray?.metadata.ownerReferences, undefined);
  equal(adopted?.metadata.ownerReferences?.[0]?.name, "web");
  equal(adopted.metadata.labels?.["statefulset.kubernetes.io/pod-name"], "web-0");
  deepEqual(cluster.events, [
    "Normal SuccessfulUpdate StatefulSet/web Update Pod web-0 in StatefulSet web successful",
    // It is of no known revision.
    "Normal SuccessfulDelete StatefulSet/web Delete Pod web-0 in StatefulSet web successful",
  ]);
});

test("a Pod that something else owns blocks its name; its deletion is noticed at once", async () => {
  await using cluster = await given(anOrphan("web-0", { app: "other" }), aSet({ replicas: 1 }));
  await cluster.run(statefulSetController);
  await cluster.settled();
  deepEqual(await podNames(cluster), ["web-0"]);

  await cluster.client.delete(pods, { namespace: "default", name: "web-0" }, { gracePeriodSeconds: 0 });
  await cluster.settled();

  const [pod] = await podsOf(cluster);
  equal(pod?.metadata.labels?.["app"], "web");
});

// ── order ───────────────────────────────────────────────────────────────────────────────────────────

test("Pods are created in order, each when the one before it is ready", async () => {
  await using cluster = await given(aSet());
  await reconcile(cluster);
  await reconcile(cluster);
  deepEqual(await podNames(cluster), ["web-0"]);

  await markReady(cluster, "web-0");
  await reconcile(cluster);

  deepEqual(await podNames(cluster), ["web-0", "web-1"]);
});

test("a failed Pod is replaced by one of the same name", async () => {
  await using cluster = await given(aSet({ replicas: 1 }));
  await reconcile(cluster);
  const [before] = await podsOf(cluster);
  await setStatus(cluster, "web-0", { phase: "Failed" });

  await reconcile(cluster);
  await reconcile(cluster);

  const [after] = await podsOf(cluster);
  equal(after?.metadata.name, "web-0");
  equal(after.metadata.uid === before?.metadata.uid, false);
  deepEqual(cluster.events.slice(1), [
    "Normal SuccessfulDelete StatefulSet/web Delete Pod web-0 in StatefulSet web successful",
    "Normal SuccessfulCreate StatefulSet/web Create Pod web-0 in StatefulSet web successful",
  ]);
});

test("a scale-down deletes the highest ordinals first", async () => {
  await using cluster = await running({});
  cluster.events.length = 0;

  await change(cluster, { replicas: 1 });
  await cluster.settled();

  deepEqual(
    cluster.events.map((event) => / Pod (\S+)/.exec(event)?.[1]),
    ["web-2", "web-1"],
  );
});

test("with minReadySeconds the next Pod is created exactly when the last one has been ready for that time", async () => {
  await using cluster = await running({ minReadySeconds: 10, replicas: 2 });
  deepEqual(await podNames(cluster), ["web-0"]);

  await cluster.clock.advance(9_999);
  deepEqual(await podNames(cluster), ["web-0"]);
  await cluster.clock.advance(1);

  deepEqual(await podNames(cluster), ["web-0", "web-1"]);
});

test("a rejected Pod is reported in an event and in the thrown error", async () => {
  const labels = { "pod-security.kubernetes.io/enforce": "baseline" };
  const spec = { hostNetwork: true, containers: [{ name: "app", image: "app:1" }] };
  await using cluster = await given(aSet({ template: { metadata: { labels: { app: "web" } }, spec } }));
  await cluster.client.patch(namespaces, { name: "default" }, { type: "merge", value: { metadata: { labels } } });

  const failure = await reconcile(cluster).catch((error: unknown) => error);

  match(String(failure), /violates PodSecurity/);
  match(
    cluster.events[0] ?? "",
    /^Warning FailedCreate StatefulSet\/web Create Pod web-0 in StatefulSet web failed error: pods "web-0" is forbidden/,
  );
  deepEqual((await statusOf(cluster)).observedGeneration, 1);
});

// ── updates ─────────────────────────────────────────────────────────────────────────────────────────

test("an update replaces Pods from the highest ordinal, and completes", async () => {
  await using cluster = await running({});
  const { updateRevision: first } = await statusOf(cluster);
  cluster.events.length = 0;

  await change(cluster, { template: aTemplate("app:2") });
  await cluster.settled();

  const replaced = cluster.events.filter((event) => event.includes("SuccessfulDelete")).map((event) => / Pod (\S+)/.exec(event)?.[1]);
  deepEqual(replaced, ["web-2", "web-1", "web-0"]);
  deepEqual(await images(cluster), ["web-0 app:2", "web-1 app:2", "web-2 app:2"]);
  const { currentRevision, updateRevision, ...counts } = await statusOf(cluster);
  equal(currentRevision, updateRevision);
  equal(updateRevision === first, false);
  deepEqual(counts, {
    observedGeneration: 2,
    replicas: 3,
    readyReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    availableReplicas: 3,
    collisionCount: 0,
  });
});

test("with a partition only Pods from it on are updated, and deleted ones below it come back as they were", async () => {
  await using cluster = await running({ partition: 2 });
  await change(cluster, { template: aTemplate("app:2") });
  await cluster.settled();
  deepEqual(await images(cluster), ["web-0 app:1", "web-1 app:1", "web-2 app:2"]);

  await cluster.client.delete(pods, { namespace: "default", name: "web-0" });
  await cluster.settled();

  deepEqual(await images(cluster), ["web-0 app:1", "web-1 app:1", "web-2 app:2"]);
  const { currentRevision, updateRevision, currentReplicas, updatedReplicas } = await statusOf(cluster);
  deepEqual([currentReplicas, updatedReplicas, currentRevision === updateRevision], [2, 1, false]);
});

test("a rollback returns to the old revision by its name, with a new number", async () => {
  await using cluster = await running({ replicas: 1 });
  const { updateRevision: first } = await statusOf(cluster);
  await change(cluster, { template: aTemplate("app:2") });
  await cluster.settled();

  await change(cluster, { template: aTemplate("app:1") });
  await cluster.settled();

  const { currentRevision, updateRevision } = await statusOf(cluster);
  deepEqual([currentRevision, updateRevision], [first, first]);
  const revisions = await cluster.list(controllerRevisions, "default");
  deepEqual(
    revisions.map(({ revision }) => revision).toSorted((a, b) => a - b),
    [2, 3],
  );
});

test("an ordered rollout with a broken template stops at the first Pod, and after a repair waits until that Pod is deleted", async () => {
  await using cluster = await running({}, ({ spec }) => spec?.containers[0]?.image === "broken");
  await change(cluster, { template: aTemplate("broken") });
  await cluster.clock.advance(600_000);
  deepEqual(await images(cluster), ["web-0 app:1", "web-1 app:1", "web-2 broken"]);

  await change(cluster, { template: aTemplate("app:2") });
  await cluster.clock.advance(600_000);
  deepEqual(await images(cluster), ["web-0 app:1", "web-1 app:1", "web-2 broken"]);

  await cluster.client.delete(pods, { namespace: "default", name: "web-2" });
  await cluster.settled();
  deepEqual(await images(cluster), ["web-0 app:2", "web-1 app:2", "web-2 app:2"]);
});

test("unused revisions above the limit are deleted, oldest first", async () => {
  await using cluster = await running({ replicas: 1, revisionHistoryLimit: 1 });
  for (const image of ["app:2", "app:3", "app:4"]) {
    await change(cluster, { template: aTemplate(image) });
    await cluster.settled();
  }

  const revisions = await cluster.list(controllerRevisions, "default");

  deepEqual(
    revisions.map(({ revision }) => revision).toSorted((a, b) => a - b),
    [3, 4],
  );
});

test("a revision's name that another object has is avoided, and counted", async () => {
  const { cluster, name } = await givenTakenRevision(aSet(), reconcile);
  await using _ = cluster;

  await reconcile(cluster);

  const { updateRevision, collisionCount } = await statusOf(cluster);
  equal(collisionCount, 1);
  equal(updateRevision === name, false);
});

// ── claims ──────────────────────────────────────────────────────────────────────────────────────────

test("with whenScaled the claim of a scaled-down Pod is owned by that Pod", async () => {
  const retain = { whenDeleted: "Delete", whenScaled: "Delete" };
  await using cluster = await running({ claims: true, replicas: 2, retain, podManagementPolicy: "Parallel" });
  const owners = async () =>
    (await cluster.list(persistentVolumeClaims, "default")).map(({ metadata }) => metadata.ownerReferences?.map(({ kind }) => kind).join());
  deepEqual(await owners(), ["StatefulSet", "StatefulSet"]);

  await change(cluster, { replicas: 1 });
  await cluster.settled();

  deepEqual(await owners(), ["StatefulSet", "Pod"]);
});

test("a Pod whose claim is being deleted is not created, which is reported", async () => {
  await using cluster = await given(aSet({ claims: true, replicas: 1 }));
  await reconcile(cluster);
  const claim = await cluster.client.get(persistentVolumeClaims, { namespace: "default", name: "data-web-0" });
  await cluster.client.update(persistentVolumeClaims, { ...claim, metadata: { ...claim.metadata, finalizers: ["example.com/keep"] } });
  await cluster.client.delete(persistentVolumeClaims, { namespace: "default", name: "data-web-0" });
  await cluster.client.delete(pods, { namespace: "default", name: "web-0" });

  const failure = await reconcile(cluster).catch((error: unknown) => error);

  match(String(failure), /pvc data-web-0 is being deleted/);
  equal(
    cluster.events.at(-1),
    "Warning FailedCreate StatefulSet/web Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted",
  );
});

// ── the end ─────────────────────────────────────────────────────────────────────────────────────────

test("a terminating StatefulSet creates and deletes nothing", async () => {
  const set = aSet();
  await using cluster = await given({ ...set, metadata: { ...set.metadata, finalizers: ["example.com/keep"] } });
  await cluster.client.delete(statefulSets, WEB);

  await reconcile(cluster);

  deepEqual(cluster.actions, []);
});

test("a StatefulSet that is complete writes nothing", async () => {
  await using cluster = await running({ claims: true });
  cluster.actions.length = 0;

  await reconcile(cluster);
  await cluster.clock.advance(600_000);

  deepEqual(cluster.actions, []);
});
