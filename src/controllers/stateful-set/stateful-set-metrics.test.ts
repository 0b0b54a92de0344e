import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { statefulSets } from "../../api/apps/v1/stateful-set.ts";
import { given, type Given } from "../../testing/given.ts";
import { markReady, podNames } from "../runtime/testing/pods.ts";
import { statefulSetController } from "./stateful-set-controller.ts";
import { aSet } from "./testing/sets.ts";

const WEB = { namespace: "default", name: "web" };
const reconcile = (cluster: Given) => cluster.reconcile(statefulSetController, "default/web");

/** `max_unavailable default web Parallel 2`. */
function gauges({ metrics }: Given): readonly string[] {
  return metrics.families().flatMap(({ name, samples }) => {
    const short = name.replace("statefulset_controller_statefulset_", "");
    return samples.map((sample) => [short, ...Object.values(sample.labels), "value" in sample ? sample.value : ""].join(" "));
  });
}

test("metrics show how many Pods of a StatefulSet may be unavailable and how many are, as long as it exists", async () => {
  const updateStrategy = { type: "RollingUpdate" as const, rollingUpdate: { maxUnavailable: "50%" } };
  await using cluster = await given(aSet({ replicas: 4, podManagementPolicy: "Parallel", updateStrategy }));

  await reconcile(cluster);
  deepEqual(gauges(cluster), ["max_unavailable default web Parallel 2", "unavailable_replicas default web Parallel 4"]);

  for (const name of (await podNames(cluster)).slice(1)) await markReady(cluster, name);
  await reconcile(cluster);
  deepEqual(gauges(cluster), ["max_unavailable default web Parallel 2", "unavailable_replicas default web Parallel 1"]);

  await cluster.client.delete(statefulSets, WEB);
  await cluster.settled();
  await reconcile(cluster);
  deepEqual(gauges(cluster), []);
});
