import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod, Taint, Toleration } from "../../api/generated/core/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { Client } from "../../client/client.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { taintEvictionController } from "./taint-eviction-controller.ts";
import { buildPod } from "../../api/testing/pod.ts";

const BROKEN: Taint = { key: "broken", effect: "NoExecute" };
const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };

/** Without seconds it tolerates nothing. */
function aPod(name: string, seconds?: number): object {
  const toleration: Toleration = { key: "broken", operator: "Exists", effect: "NoExecute", ...(seconds && { tolerationSeconds: seconds }) };
  return buildPod({ metadata: { name }, spec: { nodeName: "n1", tolerations: seconds === undefined ? [] : [toleration] } });
}

function setTaints(client: Client, ...taints: readonly Taint[]): Promise<unknown> {
  const value = { spec: { taints: taints.map((taint) => ({ ...taint })) } };
  return client.patch(nodes, { name: "n1" }, { type: "merge", value });
}

function podOf(cluster: Given, name: string): Promise<Pod> {
  return cluster.client.get(pods, { namespace: "default", name });
}

async function isTerminating(cluster: Given, name: string): Promise<boolean> {
  return (await podOf(cluster, name)).metadata.deletionTimestamp !== undefined;
}

test("a Pod that does not tolerate the taint gets DisruptionTarget and is deleted at once", async () => {
  await using cluster = await given(NODE, aPod("p"));
  await cluster.run(taintEvictionController);
  await setTaints(cluster.client, BROKEN);
  await cluster.settled();

  equal(await isTerminating(cluster, "p"), true);
  const { status } = await podOf(cluster, "p");
  deepEqual(
    status?.conditions?.map(({ type, status: word, reason, message, observedGeneration }) => ({
      type,
      word,
      reason,
      message,
      observedGeneration,
    })),
    [
      {
        type: "DisruptionTarget",
        word: "True",
        reason: "DeletionByTaintManager",
        message: "Taint manager: deleting due to NoExecute taint",
        observedGeneration: 1,
      },
    ],
  );
  deepEqual(cluster.events, ["Normal TaintManagerEviction Pod/p Marking for deletion Pod default/p"]);
});

test("a Pod with tolerationSeconds is deleted then, and not before", async () => {
  await using cluster = await given(NODE, aPod("p", 60));
  await cluster.run(taintEvictionController);
  await setTaints(cluster.client, BROKEN);

  await cluster.clock.advance(59_999);
  equal(await isTerminating(cluster, "p"), false);
  await cluster.clock.advance(1);
  equal(await isTerminating(cluster, "p"), true);
});

test("a Pod whose Node recovers stays, and the cancellation is reported by an event", async () => {
  await using cluster = await given(NODE, aPod("p", 60));
  await cluster.run(taintEvictionController);
  await setTaints(cluster.client, BROKEN);
  await cluster.clock.advance(30_000);
  await setTaints(cluster.client);
  await cluster.clock.advance(600_000);

  equal(await isTerminating(cluster, "p"), false);
  deepEqual(cluster.events, ["Normal TaintManagerEviction Pod/p Cancelling deletion of Pod default/p"]);
});

test("a restarted controller does not restart the timer", async () => {
  await using cluster = await given(NODE, aPod("p", 60));
  await setTaints(cluster.client, { ...BROKEN, timeAdded: formatTime(cluster.clock.now()) });
  const first = await cluster.run(taintEvictionController);
  await cluster.clock.advance(30_000);
  await first.stop();
  await cluster.clock.advance(20_000);

  await cluster.run(taintEvictionController);
  await cluster.clock.advance(9_000);
  equal(await isTerminating(cluster, "p"), false);
  await cluster.clock.advance(1_000);
  equal(await isTerminating(cluster, "p"), true);
});

test("another taint instead of the first does not give a Pod more time", async () => {
  await using cluster = await given(NODE, aPod("p", 60));
  await cluster.run(taintEvictionController);
  await setTaints(cluster.client, BROKEN);
  await cluster.clock.advance(40_000);
  await setTaints(cluster.client, { ...BROKEN, value: "still", timeAdded: formatTime(cluster.clock.now()) });

  await cluster.clock.advance(20_000);
  equal(await isTerminating(cluster, "p"), true);
});

test("a Pod bound to a tainted Node is evaluated", async () => {
  await using cluster = await given(NODE);
  await setTaints(cluster.client, BROKEN);
  await cluster.run(taintEvictionController);
  await cluster.client.create(pods, aPod("p") as Pod);
  await cluster.settled();

  equal(await isTerminating(cluster, "p"), true);
});

test("a terminating Pod is ignored", async () => {
  await using cluster = await given(NODE, aPod("p"));
  await cluster.client.delete(pods, { namespace: "default", name: "p" });
  await setTaints(cluster.client, BROKEN);

  await cluster.reconcile(taintEvictionController, "default/p");

  deepEqual([cluster.actions, cluster.events], [[], []]);
});

test("a crash at any step does not change the final state", async () => {
  await everyStepMayBeTheLast(
    {
      objects: [NODE, aPod("now"), aPod("later", 30), aPod("never", 3_600)],
      controllers: () => [taintEvictionController],
      steps: [async ({ client, clock }) => void (await setTaints(client, { ...BROKEN, timeAdded: formatTime(clock.now()) }))],
      restMs: 60_000,
    },
    { disturbedRuns: rounds({ quick: 2, full: 30 }) },
  );
});
