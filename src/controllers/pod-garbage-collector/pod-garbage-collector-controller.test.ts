import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod, PodStatus } from "../../api/generated/core/v1.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { after } from "../runtime/controller.ts";
import { seeing } from "../runtime/testing/overtaken.ts";
import { podGarbageCollectorController } from "./pod-garbage-collector-controller.ts";
import { buildPod } from "../../api/testing/pod.ts";

const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };

interface PodParts {
  readonly nodeName?: string;
  readonly phase?: PodStatus["phase"];
  readonly finalizers?: readonly string[];
}

function aPod(name: string, { nodeName, phase = "Running", finalizers = [] }: PodParts = {}): object {
  return buildPod({
    metadata: { name, finalizers },
    spec: nodeName === undefined ? {} : { nodeName },
    status: { phase },
  });
}

async function names(cluster: Given): Promise<readonly string[]> {
  return (await cluster.list(pods, "default")).map(({ metadata }) => metadata.name);
}

function deletePod(cluster: Given, name: string): Promise<unknown> {
  return cluster.client.delete(pods, { namespace: "default", name });
}

function patchNode(cluster: Given, value: JsonObject, subresource?: string): Promise<unknown> {
  return cluster.client.patch(nodes, { name: "n1" }, { type: "merge", value }, subresource === undefined ? {} : { subresource });
}

test("Pods of a deleted Node fail and are deleted after 40 s, with DisruptionTarget", async () => {
  await using cluster = await given(
    NODE,
    aPod("p", { nodeName: "n1", finalizers: ["example.com/keep"] }),
    aPod("done", { nodeName: "n1", phase: "Succeeded" }),
  );
  await cluster.run(podGarbageCollectorController());
  await cluster.client.delete(nodes, { name: "n1" });

  await cluster.clock.advance(39_999);
  deepEqual(cluster.actions, []);
  await cluster.clock.advance(1);
  deepEqual(await names(cluster), ["p"]);
  const { status, metadata } = await cluster.client.get(pods, { namespace: "default", name: "p" });
  equal(metadata.deletionGracePeriodSeconds, 0);
  equal(status?.phase, "Failed");
  equal(status?.observedGeneration, 1);
  deepEqual(
    status?.conditions?.map(({ type, status: word, reason, message }) => [type, word, reason, message]),
    [["DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"]],
  );
  const count = cluster.actions.length;
  await cluster.clock.advance(600_000);
  equal(cluster.actions.length, count);
});

test("Pods of a Node that returns in time stay", async () => {
  await using cluster = await given(NODE, aPod("p", { nodeName: "n1" }));
  await cluster.run(podGarbageCollectorController());
  await cluster.client.delete(nodes, { name: "n1" });
  await cluster.clock.advance(30_000);
  await cluster.client.create(nodes, NODE as never);
  await cluster.clock.advance(600_000);

  deepEqual(cluster.actions, []);
});

test("a Pod on a Node that never existed is deleted after 40 s", async () => {
  await using cluster = await given(aPod("p", { nodeName: "nowhere" }));
  await cluster.run(podGarbageCollectorController());
  await cluster.clock.advance(40_000);
  deepEqual(await names(cluster), []);
});

test("Pods stay if only the cache lacks their Node", async () => {
  await using cluster = await given(NODE, aPod("p", { nodeName: "n1" }));
  const blind = seeing(podGarbageCollectorController(), { get: () => undefined });
  const key = { kind: "nodes", name: "n1" };

  deepEqual(await cluster.reconcile(blind, key), after(40_000));
  await cluster.clock.advance(40_000);
  deepEqual(await cluster.reconcile(blind, key), after(40_000));
  deepEqual(cluster.actions, []);

  await cluster.client.delete(nodes, { name: "n1" });
  await cluster.reconcile(blind, key);
  deepEqual(await names(cluster), []);
});

test("an unscheduled terminating Pod fails at once, and stays while a finalizer holds it", async () => {
  await using cluster = await given(aPod("p", { phase: "Pending", finalizers: ["example.com/keep"] }));
  await cluster.run(podGarbageCollectorController());
  await deletePod(cluster, "p");
  await cluster.clock.advance(60_000);

  const { status } = await cluster.client.get(pods, { namespace: "default", name: "p" });
  deepEqual([status?.phase, status?.conditions], ["Failed", undefined]);
  equal(cluster.actions.length, 1);
});

test("an unscheduled terminating Pod without finalizers is left to the API server", async () => {
  await using cluster = await given(aPod("p", { phase: "Pending" }));
  await cluster.run(podGarbageCollectorController());
  await deletePod(cluster, "p");
  await cluster.clock.advance(60_000);

  deepEqual([await names(cluster), cluster.actions], [[], []]);
});

test("terminating Pods on an out-of-service Node are deleted at once, the others stay", async () => {
  await using cluster = await given(NODE, aPod("going", { nodeName: "n1" }), aPod("staying", { nodeName: "n1" }));
  await cluster.run(podGarbageCollectorController());
  await deletePod(cluster, "going");
  await cluster.settled();
  deepEqual(await names(cluster), ["going", "staying"]);

  await patchNode(cluster, { spec: { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] } });
  await cluster.settled();
  deepEqual(await names(cluster), ["staying"]);
  await deletePod(cluster, "staying");
  await cluster.settled();
  deepEqual(await names(cluster), []);
});

test("a ready Node is not out of service, whatever its taints are", async () => {
  await using cluster = await given(NODE, aPod("p", { nodeName: "n1" }));
  await patchNode(cluster, { status: { conditions: [{ type: "Ready", status: "True" }] } }, "status");
  await patchNode(cluster, { spec: { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] } });
  await cluster.run(podGarbageCollectorController());
  await deletePod(cluster, "p");
  await cluster.settled();
  deepEqual(await names(cluster), ["p"]);
});

test("the number of terminated Pods is limited", async () => {
  await using cluster = await given(NODE, ...["a", "b", "c"].map((name) => aPod(name, { nodeName: "n1", phase: "Succeeded" })));
  await cluster.run(podGarbageCollectorController({ terminatedPodThreshold: 2 }));
  await cluster.settled();
  deepEqual(await names(cluster), ["b", "c"]);

  await cluster.client.create(pods, aPod("d", { nodeName: "n1" }) as Pod);
  const value = { status: { phase: "Failed" } };
  await cluster.client.patch(pods, { namespace: "default", name: "d" }, { type: "merge", value }, { subresource: "status" });
  await cluster.clock.advance(19_999);
  deepEqual(await names(cluster), ["b", "c", "d"]);
  await cluster.clock.advance(1);
  deepEqual(await names(cluster), ["c", "d"]);
});

test("a crash at any step does not change the final state", async () => {
  await everyStepMayBeTheLast(
    {
      objects: [
        NODE,
        aPod("a", { nodeName: "n1" }),
        aPod("b", { nodeName: "n1", finalizers: ["example.com/keep"] }),
        aPod("c", { phase: "Succeeded" }),
      ],
      controllers: () => [podGarbageCollectorController()],
      steps: [
        async ({ client }) => void (await client.delete(pods, { namespace: "default", name: "b" })),
        async ({ client }) => void (await client.delete(nodes, { name: "n1" })),
      ],
      restMs: 120_000,
    },
    { disturbedRuns: rounds({ quick: 2, full: 30 }) },
  );
});
