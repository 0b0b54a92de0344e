import assert from "node:assert/strict";
import test from "node:test";
import { deployments } from "../../api/apps/v1/deployment.ts";
import { podTemplateHash } from "../../api/apps/v1/pod-template-hash.ts";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Deployment, DeploymentSpec, ReplicaSet } from "../../api/generated/apps/v1.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import { given, type Given } from "../../testing/given.ts";
import { controlledBy } from "../runtime/keys.ts";
import { overtaken, seeing } from "../runtime/testing/overtaken.ts";
import { deploymentController } from "./deployment-controller.ts";
import { aDeployment, aReplicaSet, aTemplate, obedientReplicaSets, obey } from "./testing/rollouts.ts";
import { buildPod } from "../../api/testing/pod.ts";

const WEB = { namespace: "default", name: "web" };
const REVISION = "deployment.kubernetes.io/revision";

const pass = (cluster: Given) => cluster.reconcile(deploymentController, "default/web");
const web = (cluster: Given) => cluster.client.get(deployments, WEB);

async function change(cluster: Given, spec: Partial<DeploymentSpec>, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  const deployment = await web(cluster);
  await cluster.client.update(deployments, {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...deployment.metadata.annotations, ...annotations } },
    spec: { ...(deployment.spec as DeploymentSpec), ...spec },
  });
}

/** "app:1 3/4": image, desired Pods and revision. Oldest first. */
async function shown(cluster: Given): Promise<readonly string[]> {
  const all = await cluster.list(replicaSets, "default");
  return all
    .map(({ metadata, spec }) => {
      const image = spec?.template?.spec?.containers[0]?.image;
      return `${image} has ${spec?.replicas} as ${metadata.annotations?.[REVISION]}`;
    })
    .toSorted();
}

async function replicaSetOf(cluster: Given, image: string): Promise<ReplicaSet> {
  const all = await cluster.list(replicaSets, "default");
  return all.find(({ spec }) => spec?.template?.spec?.containers[0]?.image === image) as ReplicaSet;
}

function conditionsOf({ status }: Deployment): readonly string[] {
  return (status?.conditions ?? []).map(({ type, status: is, reason }) => `${type} ${is} ${reason}`);
}

/** A Deployment of `app:1` with all Pods, with both controllers running. */
async function running(facts: Parameters<typeof aDeployment>[0] = {}): Promise<Given> {
  const cluster = await given(aDeployment(facts));
  await cluster.run(deploymentController, obedientReplicaSets);
  await cluster.settled();
  return cluster;
}

test("a new Deployment creates a ReplicaSet and emits ScalingReplicaSet, in two writes", async () => {
  await using cluster = await given(aDeployment({ annotations: { note: "hi" } }));

  await pass(cluster);

  const [made] = await cluster.list(replicaSets, "default");
  const { metadata, status } = await web(cluster);
  const name = made?.metadata.name ?? "";
  assert.match(name, /^web-[456789bcdf]+$/);
  assert.deepEqual(
    cluster.actions.map((line) => line.replace(/ \{.*/, "")),
    [`create replicasets default/${name}`, "status deployments default/web"],
  );
  assert.deepEqual(cluster.events, [`Normal ScalingReplicaSet Deployment/web Scaled up replica set ${name} from 0 to 3`]);
  assert.deepEqual(metadata.annotations, { note: "hi", [REVISION]: "1" });
  assert.equal(metadata.generation, 1);
  const now = status?.conditions?.[0]?.lastUpdateTime ?? "";
  const times = { lastUpdateTime: now, lastTransitionTime: now };
  assert.deepEqual(status, {
    observedGeneration: 1,
    unavailableReplicas: 3,
    terminatingReplicas: 0,
    conditions: [
      {
        type: "Available",
        status: "False",
        ...times,
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      },
      { type: "Progressing", status: "True", ...times, reason: "NewReplicaSetCreated", message: `Created new replica set "${name}"` },
    ],
  });
});

test("a second reconciliation changes nothing", async () => {
  await using cluster = await given(aDeployment());
  await pass(cluster);
  cluster.actions.length = 0;

  assert.deepEqual(await pass(cluster), { again: "after", delayMs: 600_001 });
  assert.deepEqual(cluster.actions, []);
});

test("a Deployment converges with its Pods available", async () => {
  await using cluster = await running();

  const deployment = await web(cluster);
  assert.deepEqual(conditionsOf(deployment), ["Available True MinimumReplicasAvailable", "Progressing True NewReplicaSetAvailable"]);
  const { conditions: _, ...counts } = deployment.status ?? {};
  assert.deepEqual(counts, {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    terminatingReplicas: 0,
  });
});

test("a rolling update proceeds step by step within its bounds, with an event per step", async () => {
  await using cluster = await running({ replicas: 10, maxSurge: 3, maxUnavailable: 2 });
  const before = (await replicaSetOf(cluster, "app:1")).metadata.name;
  cluster.events.length = 0;

  await change(cluster, { template: aTemplate("app:2") });
  await cluster.settled();

  const next = (await replicaSetOf(cluster, "app:2")).metadata.name;
  assert.deepEqual(await shown(cluster), ["app:1 has 0 as 1", "app:2 has 10 as 2"]);
  assert.equal((await web(cluster)).metadata.annotations?.[REVISION], "2");
  const steps = cluster.events.map((event) => event.replace("Normal ScalingReplicaSet Deployment/web Scaled ", ""));
  assert.deepEqual(steps.slice(0, 2), [`up replica set ${next} from 0 to 3`, `down replica set ${before} from 10 to 8`]);
  assert.equal(steps.at(-1)?.startsWith(`down replica set ${before} from `), true);
});

test("scaling from 10 to 30 during an update is proportional", async () => {
  await using cluster = await given(aDeployment({ replicas: 10, maxSurge: 3, maxUnavailable: 2 }));
  await pass(cluster);
  await obey(cluster.client, await replicaSetOf(cluster, "app:1"));
  await change(cluster, { template: aTemplate("app:2") });
  // Up by the surge, down by what may be unavailable, up by what that frees; the new Pods never become available.
  for (let count = 0; count < 4; count++) {
    await pass(cluster);
    const all = await cluster.list(replicaSets, "default");
    for (const one of all) await obey(cluster.client, one, one.spec?.template?.spec?.containers[0]?.image === "app:1" ? undefined : 0);
  }
  assert.deepEqual(await shown(cluster), ["app:1 has 8 as 1", "app:2 has 5 as 2"]);
  cluster.events.length = 0;

  await change(cluster, { replicas: 30 });
  await pass(cluster);

  assert.deepEqual(await shown(cluster), ["app:1 has 20 as 1", "app:2 has 13 as 2"]);
  assert.deepEqual(
    cluster.events.map((event) => event.slice(event.indexOf("from"))),
    ["from 8 to 20", "from 5 to 13"],
  );
  const { annotations = {} } = (await replicaSetOf(cluster, "app:2")).metadata;
  assert.equal(annotations["deployment.kubernetes.io/desired-replicas"], "30");
  assert.equal(annotations["deployment.kubernetes.io/max-replicas"], "33");
});

test("a paused Deployment is scaled and not updated, and continues when resumed", async () => {
  await using cluster = await running({ replicas: 2 });

  await change(cluster, { paused: true, replicas: 4, template: aTemplate("app:2") });
  await cluster.settled();
  const paused = await web(cluster);
  assert.deepEqual(await shown(cluster), ["app:1 has 4 as 1"]);
  assert.deepEqual(conditionsOf(paused), ["Available True MinimumReplicasAvailable", "Progressing Unknown DeploymentPaused"]);
  assert.deepEqual([paused.status?.updatedReplicas, paused.status?.observedGeneration], [undefined, 2]);

  await change(cluster, { paused: false });
  await cluster.settled();

  assert.deepEqual(await shown(cluster), ["app:1 has 0 as 1", "app:2 has 4 as 2"]);
  assert.equal(conditionsOf(await web(cluster)).at(-1), "Progressing True NewReplicaSetAvailable");
});

test("restoring the old template reuses the old ReplicaSet, as the next revision", async () => {
  await using cluster = await running();
  await change(cluster, { template: aTemplate("app:2") });
  await cluster.settled();

  await change(cluster, { template: aTemplate("app:1") });
  await cluster.settled();

  assert.deepEqual(await shown(cluster), ["app:1 has 3 as 3", "app:2 has 0 as 2"]);
  const { annotations } = (await replicaSetOf(cluster, "app:1")).metadata;
  assert.equal(annotations?.["deployment.kubernetes.io/revision-history"], "1");
  assert.equal((await web(cluster)).metadata.annotations?.[REVISION], "3");
});

test("the legacy rollback annotation is followed and removed", async () => {
  await using cluster = await running({ annotations: { why: "start" } });
  await change(cluster, { template: aTemplate("app:2") }, { why: "logo" });
  await cluster.settled();
  cluster.events.length = 0;

  await change(cluster, {}, { "deprecated.deployment.rollback.to": "0" });
  await cluster.settled();

  const { metadata, spec } = await web(cluster);
  assert.equal(spec?.template.spec?.containers[0]?.image, "app:1");
  assert.deepEqual(spec.template.metadata, { labels: { app: "web" } });
  assert.deepEqual(metadata.annotations, { why: "start", [REVISION]: "3" });
  assert.deepEqual(await shown(cluster), ["app:1 has 3 as 3", "app:2 has 0 as 2"]);
  assert.equal(cluster.events[0], 'Normal DeploymentRollback Deployment/web Rolled back deployment "web" to revision 1');
});

test("a rollout without progress fails at its deadline, and not before", async () => {
  await using cluster = await given(aDeployment({ progressDeadlineSeconds: 60 }));
  await cluster.run(deploymentController);
  await cluster.settled();
  assert.equal(conditionsOf(await web(cluster)).at(-1), "Progressing True NewReplicaSetCreated");

  await cluster.clock.advance(59_000);
  assert.equal(conditionsOf(await web(cluster)).at(-1), "Progressing True NewReplicaSetCreated");
  await cluster.clock.advance(2_000);

  const progressing = (await web(cluster)).status?.conditions?.at(-1);
  assert.equal(progressing?.reason, "ProgressDeadlineExceeded");
  assert.match(progressing.message ?? "", /^ReplicaSet "web-[^"]+" has timed out progressing\.$/);
});

test("a stale template from the cache is not rolled back to", async () => {
  await using cluster = await running();
  const old = await web(cluster);
  await change(cluster, { template: aTemplate("app:2"), replicas: 5 });
  await cluster.settled();
  const before = await shown(cluster);

  const stale = seeing(deploymentController, { get: () => old as never });
  await assert.rejects(cluster.reconcile(stale, "default/web"), { reason: "Conflict" });
  assert.deepEqual(await shown(cluster), before);
});

test("Recreate waits until the last old Pod has terminated, then creates all new ones at once", async () => {
  await using cluster = await given(aDeployment({ strategy: { type: "Recreate" } }));
  await cluster.run(deploymentController, obedientReplicaSets);
  await cluster.settled();
  const old = await replicaSetOf(cluster, "app:1");
  const metadata = { name: "last", namespace: "default", labels: { app: "web" }, ownerReferences: [controlledBy(old)] };
  await cluster.client.create(pods, buildPod({ metadata, spec: aTemplate().spec! }));

  await change(cluster, { template: aTemplate("app:2") });
  await cluster.settled();
  assert.deepEqual(await shown(cluster), ["app:1 has 0 as 1"]);

  await cluster.client.delete(pods, { namespace: "default", name: "last" }, { gracePeriodSeconds: 0 });
  await cluster.settled();

  assert.deepEqual(await shown(cluster), ["app:1 has 0 as 1", "app:2 has 3 as 2"]);
});

test("old ReplicaSets beyond the history limit are deleted once the rollout is complete", async () => {
  await using cluster = await running({ revisionHistoryLimit: 1 });

  for (const image of ["app:2", "app:3", "app:4"]) {
    await change(cluster, { template: aTemplate(image) });
    await cluster.settled();
  }

  assert.deepEqual(await shown(cluster), ["app:3 has 0 as 3", "app:4 has 3 as 4"]);
});

test("during a rollout no old ReplicaSet is deleted", async () => {
  await using cluster = await given(aDeployment({ revisionHistoryLimit: 1 }));
  await cluster.run(deploymentController);
  const obedient = await cluster.run(obedientReplicaSets);
  await cluster.settled();
  await change(cluster, { template: aTemplate("app:2") });
  await cluster.settled();

  await obedient.stop();
  await change(cluster, { template: aTemplate("app:3") });
  await cluster.settled();
  assert.deepEqual(await shown(cluster), ["app:1 has 0 as 1", "app:2 has 3 as 2", "app:3 has 1 as 3"]);

  await cluster.run(obedientReplicaSets);
  await cluster.settled();
  assert.deepEqual(await shown(cluster), ["app:2 has 0 as 2", "app:3 has 3 as 3"]);
});

test("an old ReplicaSet that was scaled up just before its deletion stays", async () => {
  await using cluster = await given(aDeployment({ revisionHistoryLimit: 1 }));
  const both = [await cluster.run(deploymentController), await cluster.run(obedientReplicaSets)];
  await cluster.settled();
  await change(cluster, { template: aTemplate("app:2") });
  await cluster.settled();
  for (const one of both) await one.stop();
  await change(cluster, { paused: true, revisionHistoryLimit: 0 });
  const { metadata } = await replicaSetOf(cluster, "app:1");
  const old = { namespace: "default", name: metadata.name };
  const controller = overtaken(deploymentController, "delete", () =>
    cluster.client.patch(replicaSets, old, { type: "merge", value: { spec: { replicas: 2 } } }),
  );

  await assert.rejects(cluster.reconcile(controller, "default/web"), { reason: "Conflict" });
  assert.deepEqual(await shown(cluster), ["app:1 has 2 as 1", "app:2 has 3 as 2"]);
});

test("an orphaned ReplicaSet is adopted, with its revision", async () => {
  const { uid: _, creationTimestamp: __, generation: ___, ...metadata } = aReplicaSet("mine").metadata;
  const orphan = {
    ...aReplicaSet("mine", { image: "app:1", size: 3 }),
    metadata: { ...metadata, annotations: { [REVISION]: "3546343826724305832" } },
  };
  await using cluster = await running({ image: "app:2" });

  await cluster.client.create(replicaSets, orphan);
  await cluster.settled();

  assert.deepEqual(await shown(cluster), ["app:1 has 0 as 3546343826724305832", "app:2 has 3 as 3546343826724305833"]);
  const adopted = await cluster.client.get(replicaSets, { namespace: "default", name: "mine" });
  assert.deepEqual(adopted.metadata.ownerReferences, [controlledBy(await web(cluster))]);
});

test("a Deployment whose ReplicaSet already existed has reason FoundNewReplicaSet", async () => {
  const { uid: _, creationTimestamp: __, generation: ___, ...metadata } = aReplicaSet("mine").metadata;
  await using cluster = await given({ ...aReplicaSet("mine", { image: "app:1", size: 3, replicas: 0 }), metadata }, aDeployment());

  await pass(cluster);

  assert.equal((await web(cluster)).status?.conditions?.at(-1)?.message, 'Found new replica set "mine"');
});

test("a ReplicaSet with another hash, as of an older version, stays the one of its template", async () => {
  const name = "web-666787599f";
  const labels = { app: "web", "pod-template-hash": "666787599f" };
  const older = aReplicaSet(name, { image: "app:1", size: 3 });
  const { uid: _, creationTimestamp: __, generation: ___, ...metadata } = older.metadata;
  const spec = { ...older.spec!, selector: { matchLabels: labels }, template: { ...aTemplate(), metadata: { labels } } };
  await using cluster = await given({ ...older, metadata: { ...metadata, labels }, spec }, aDeployment());
  assert.notEqual(`web-${podTemplateHash((await defaulted()).template)}`, name);

  await pass(cluster);

  assert.deepEqual(
    (await cluster.list(replicaSets, "default")).map((one) => [one.metadata.name, one.spec?.replicas]),
    [[name, 3]],
  );
});

test("a name collision gets another name and increments collisionCount", async () => {
  const name = `web-${podTemplateHash((await defaulted()).template)}`;
  const stranger = aReplicaSet(name, { image: "app:9" });
  const { uid: _, creationTimestamp: __, generation: ___, ...metadata } = stranger.metadata;
  const spec = {
    ...stranger.spec!,
    selector: { matchLabels: { app: "x" } },
    template: { ...aTemplate(), metadata: { labels: { app: "x" } } },
  };
  await using cluster = await given({ ...stranger, metadata: { ...metadata, labels: { app: "x" } }, spec }, aDeployment());

  await cluster.run(deploymentController);
  await cluster.settled();

  const all = await cluster.list(replicaSets, "default");
  assert.equal(all.length, 2);
  assert.equal((await web(cluster)).status?.collisionCount, 1);
});

test("a ReplicaSet of the same name and template with another controller is a collision, too", async () => {
  const { template } = await defaulted();
  const name = `web-${podTemplateHash(template)}`;
  const { uid: _, creationTimestamp: __, generation: ___, ...metadata } = aReplicaSet(name).metadata;
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "other", uid: "another", controller: true };
  const stranger = { ...aReplicaSet(name, { image: "app:1" }), metadata: { ...metadata, ownerReferences: [owner] } };
  await using cluster = await given(stranger, aDeployment());

  await cluster.run(deploymentController);
  await cluster.settled();

  const all = await cluster.list(replicaSets, "default");
  assert.deepEqual(all.map(({ metadata: { ownerReferences } }) => ownerReferences?.[0]?.name ?? "").toSorted(), ["other", "web"]);
  assert.equal(all.find((one) => one.metadata.name === name)?.spec?.replicas, 0);
  assert.equal((await web(cluster)).status?.collisionCount, 1);
});

/** The spec as stored by the server, since that is hashed. */
async function defaulted(): Promise<DeploymentSpec> {
  await using cluster = await given(aDeployment());
  return (await web(cluster)).spec as DeploymentSpec;
}

test("a rejected ReplicaSet is reported by an event and a condition", async () => {
  await using cluster = await given(aDeployment());
  const rules = deploymentController.rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== "create") }));

  await assert.rejects(cluster.reconcile({ ...deploymentController, rules }, "default/web"), { reason: "Forbidden" });

  const [event = ""] = cluster.events;
  assert.match(event, /^Warning ReplicaSetCreateError Deployment\/web Failed to create new replica set "web-[^"]+": .*create replicasets/);
  assert.deepEqual(conditionsOf(await web(cluster)), ["Progressing False ReplicaSetCreateError"]);
});

test("a terminating Deployment creates nothing, and still updates its counts", async () => {
  const going = aDeployment();
  await using cluster = await given({ ...going, metadata: { ...going.metadata, finalizers: ["example.com/wait"] } });
  await cluster.client.delete(deployments, WEB);

  await pass(cluster);

  assert.deepEqual(await shown(cluster), []);
  assert.equal((await web(cluster)).status?.observedGeneration, 2);
});

test("changes of a Deployment's annotations are copied to its ReplicaSet", async () => {
  await using cluster = await running();

  await change(cluster, { minReadySeconds: 5 }, { why: "logo" });
  await cluster.settled();

  const { metadata, spec } = await replicaSetOf(cluster, "app:1");
  assert.deepEqual([metadata.annotations?.["why"], metadata.annotations?.[REVISION], spec?.minReadySeconds], ["logo", "1", 5]);
});

test("two Deployments with the same selector have their own ReplicaSets", async () => {
  await using cluster = await given(aDeployment(), aDeployment({ name: "also", image: "app:2" }));
  await cluster.run(deploymentController, obedientReplicaSets);
  await cluster.settled();

  assert.deepEqual(await shown(cluster), ["app:1 has 3 as 1", "app:2 has 3 as 1"]);
});

test("a Deployment with an empty selector emits a warning and adopts nothing", async () => {
  const everything = aDeployment({ generation: 2, selector: {} });
  const reported: string[] = [];
  // The API rejects such an object, so it is put into the cache directly.
  const reconcile = deploymentController.start({} as never);

  await reconcile(WEB, {
    read: { get: () => everything },
    events: { record: (_: unknown, { type, reason, message }: RecordedEvent) => reported.push(`${type} ${reason} ${message}`) },
    write: { updateStatus: (_: unknown, { status }: Deployment) => Promise.resolve(reported.push(JSON.stringify(status))) },
  } as never);

  assert.deepEqual(reported, [
    "Warning SelectingAll This deployment is selecting all pods. A non-empty selector is required.",
    '{"observedGeneration":2}',
  ]);
});
