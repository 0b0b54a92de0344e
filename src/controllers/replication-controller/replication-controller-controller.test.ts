import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { pods } from "../../api/core/v1/pod.ts";
import { replicationControllers } from "../../api/core/v1/replication-controller.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { onChange } from "../runtime/controller.ts";
import { anOrphan, markReady, podNames, podsOf, POD_SPEC } from "../runtime/testing/pods.ts";
import { replicationControllerController } from "./replication-controller-controller.ts";

const OLD = { namespace: "default", name: "old" };
const LABELS = { app: "old" };

/** Without a selector: it defaults to the template's labels. */
function aController(replicas: number) {
  return {
    apiVersion: "v1",
    kind: "ReplicationController",
    metadata: OLD,
    spec: { replicas, template: { metadata: { labels: LABELS }, spec: POD_SPEC } },
  };
}

test("a ReplicationController of two creates two Pods, emits events, and then reports them", async () => {
  await using cluster = await given(aController(2));

  deepEqual(await cluster.reconcile(replicationControllerController, "default/old"), onChange);
  await cluster.reconcile(replicationControllerController, "default/old");
  await cluster.reconcile(replicationControllerController, "default/old");

  deepEqual(cluster.actions, [
    "create pods default/old-*",
    "create pods default/old-*",
    'status replicationcontrollers default/old {"replicas":0,"observedGeneration":1}',
    'status replicationcontrollers default/old {"replicas":2,"fullyLabeledReplicas":2,"observedGeneration":1}',
  ]);
  const names = await podNames(cluster);
  deepEqual(
    cluster.events.toSorted(),
    names.map((name) => `Normal SuccessfulCreate ReplicationController/old Created pod: ${name}`),
  );
  const { uid } = (await cluster.client.get(replicationControllers, OLD)).metadata;
  deepEqual((await podsOf(cluster))[0]?.metadata.ownerReferences, [
    { apiVersion: "v1", kind: "ReplicationController", name: "old", uid, controller: true, blockOwnerDeletion: true },
  ]);
});

test("a ReplicationController adopts selected Pods, and scale-down deletes not-ready ones first", async () => {
  await using cluster = await given(
    aController(1),
    anOrphan("ready", LABELS),
    anOrphan("unready", LABELS),
    anOrphan("other", { app: "other" }),
  );
  await markReady(cluster, "ready");

  await cluster.reconcile(replicationControllerController, "default/old");

  deepEqual(
    cluster.actions.map((line) => line.split(" ").slice(0, 3).join(" ")),
    ["patch pods default/ready", "patch pods default/unready", "delete pods default/unready", "status replicationcontrollers default/old"],
  );
  deepEqual(cluster.events, ["Normal SuccessfulDelete ReplicationController/old Deleted pod: unready"]);
});

test("a running ReplicationController replaces a deleted Pod", async () => {
  await using cluster = await given(aController(2));
  await cluster.run(replicationControllerController);
  await cluster.settled();
  const [first = ""] = await podNames(cluster);

  await cluster.client.delete(pods, { namespace: "default", name: first });
  await cluster.settled();

  const names = await podNames(cluster);
  deepEqual([names.length, names.includes(first)], [2, false]);
  equal((await cluster.client.get(replicationControllers, OLD)).status?.replicas, 2);
});

test("a ReplicationController converges after a crash at any step", async () => {
  const scale = (replicas: number) => ({ type: "merge", value: { spec: { replicas } } }) as const;
  await everyStepMayBeTheLast(
    {
      objects: [aController(3)],
      controllers: () => [replicationControllerController],
      steps: [async ({ client }) => void (await client.patch(replicationControllers, OLD, scale(1)))],
      restMs: 20_000,
    },
    { disturbedRuns: rounds({ quick: 1, full: 20 }) },
  );
});
