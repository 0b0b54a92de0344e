/** The real kubectl with an embedded cluster: decisions of the scheduler and their reasons, as users see them. */
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import { startKubectlCluster } from "../../src/testing/clients/kubectl-cluster.ts";
import { aPod } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import { isReady, isUnschedulable } from "../../src/embedded/conditions.ts";

function asking(
  name: string,
  cpu: string,
  { annotations = {}, finalizers = [] as string[], ...spec }: JsonObject & { finalizers?: string[] } = {},
) {
  const pod = aPod(name, { ...spec, containers: [{ name: "main", image: "example/app:1", resources: { requests: { cpu } } }] });
  return { ...pod, metadata: { name, annotations, finalizers } };
}

test("kubectl describe shows why a pod is pending, and its events once it runs", needs("kubectl"), async () => {
  await using server = await startKubectlCluster({ nodes: { count: 3, capacity: { cpu: "2" } } });
  const kubectl = await server.inNamespace("describe");
  await kubectl("create -f -", { input: asking("big", "3") });
  await server.cluster.until("pod/big", isUnschedulable, { namespace: "describe" });
  await server.eventEmitted({ namespace: "describe", name: "big" }, "FailedScheduling");

  const pending = await kubectl("describe pod big");

  match(pending, /^Node: +<none>$/m);
  match(pending, /^Status: +Pending$/m);
  match(pending, /^  PodScheduled +False *$/m);
  match(
    pending,
    /^  Warning +FailedScheduling +\w+ +default-scheduler +0\/3 nodes are available: 3 Insufficient cpu\. no new claims to deallocate, preemption: 0\/3 nodes are available: 3 Preemption is not helpful for scheduling\.$/m,
  );
  match(await kubectl("get pod big -o wide --no-headers"), /^big +0\/1 +Pending +0 +\w+ +<none> +<none> +<none> +<none>\n$/);

  await kubectl("create -f -", { input: asking("small", "1") });
  await kubectl("wait --for=condition=Ready pod/small");
  for (const reason of ["Scheduled", "Started"]) await server.eventEmitted({ namespace: "describe", name: "small" }, reason);
  const running = await kubectl("describe pod small");
  match(running, /^Node: +node-\d\/172\.16\.0\.\d$/m);
  match(running, /^  Normal +Scheduled +\w+ +default-scheduler +Successfully assigned describe\/small to node-\d$/m);
  match(running, /^  Normal +Pulled +\w+ +kubelet +.*Successfully pulled image "example\/app:1" in /m);
  match(running, /^  Normal +Created +\w+ +kubelet +.*Container created$/m);
  match(running, /^  Normal +Started +\w+ +kubelet +.*Container started$/m);
});

test("a pod of higher priority preempts one of lower priority", needs("kubectl"), async () => {
  await using server = await startKubectlCluster({ nodes: { count: 1, capacity: { cpu: "2" } } });
  const kubectl = await server.inNamespace("preemption");
  await kubectl("create priorityclass low --value=1");
  await kubectl("create priorityclass high --value=1000");
  // It does not exit before its grace period is shortened, so that the test can inspect it.
  const annotations = { "simulated.k8ts.dev/stop-takes": "1h" };
  const staying = { annotations, finalizers: ["example.com/look"], terminationGracePeriodSeconds: 3600 };
  await kubectl("create -f -", { input: asking("victim", "2", { ...staying, priorityClassName: "low" }) });
  await kubectl("wait --for=condition=Ready pod/victim");

  await kubectl("create -f -", { input: asking("preemptor", "2", { priorityClassName: "high" }) });
  await kubectl("wait --for=jsonpath={.status.nominatedNodeName}=node-0 pod/preemptor");
  match(await kubectl("get pod preemptor -o wide --no-headers"), /^preemptor +0\/1 +Pending +0 +\w+ +<none> +<none> +node-0 +<none>\n$/);
  match(await kubectl("get pod victim --no-headers"), /^victim +1\/1 +Terminating +0 +\w+\n$/);
  await server.eventEmitted({ namespace: "preemption", name: "victim" }, "Preempted");
  const uid = await kubectl("get pod preemptor -o jsonpath={.metadata.uid}");
  match(await kubectl("get events"), new RegExp(` Normal +Preempted +pod/victim +Preempted by pod ${uid} on node node-0$`, "m"));

  await kubectl("delete pod victim --now --wait=false");
  await kubectl("wait --for=condition=Ready pod/preemptor");
  const { spec, status } = await server.cluster.get<Pod>("pod/victim", { namespace: "preemption" });
  const disruption = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  deepEqual(
    [spec?.nodeName, disruption?.status, disruption?.reason, disruption?.message],
    ["node-0", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"],
  );
  match(await kubectl("get pod preemptor -o wide --no-headers"), /^preemptor +1\/1 +Running +0 +\w+ +\S+ +node-0 +<none> +<none>\n$/);
  await kubectl(`patch pod victim --type=merge -p '{"metadata":{"finalizers":null}}'`);
});

test("schedulers run side by side, each for the pods that name it", needs("kubectl"), async () => {
  const pluginConfig = (type: string) => [
    { name: "NodeResourcesFit", args: { scoringStrategy: { type, resources: [{ name: "cpu", weight: 1 }] } } },
  ];
  const plugins = { multiPoint: { disabled: [{ name: "NodeResourcesBalancedAllocation" }, { name: "PodTopologySpread" }] } };
  await using server = await startKubectlCluster({
    nodes: { count: 3, capacity: { cpu: "8" } },
    scheduler: {
      profiles: [
        { schedulerName: "default-scheduler", plugins, pluginConfig: pluginConfig("LeastAllocated") },
        { schedulerName: "packing", plugins, pluginConfig: pluginConfig("MostAllocated") },
      ],
    },
  });
  const kubectl = await server.inNamespace("schedulers");
  const placesOf = async (schedulerName: string) => {
    const names = [1, 2, 3].map((number) => `${schedulerName}-${number}`);
    // One after the other: each sees the placement of those before it.
    for (const name of names) {
      await kubectl("create -f -", { input: asking(name, "1", { schedulerName }) });
      await server.cluster.until(`pod/${name}`, isReady, { namespace: "schedulers" });
    }
    const places = await kubectl(`get pods ${names.join(" ")} -o jsonpath={.items[*].spec.nodeName}`);
    return new Set(places.split(" ")).size;
  };
  await kubectl("create -f -", { input: asking("orphan", "1", { schedulerName: "missing" }) });

  equal(await placesOf("default-scheduler"), 3);
  equal(await placesOf("packing"), 1);
  await server.eventEmitted({ namespace: "schedulers", name: "packing-1" }, "Scheduled");
  match(await kubectl("get events"), / Normal +Scheduled +pod\/packing-1 +Successfully assigned schedulers\/packing-1 to node-\d$/m);
  const reporters = await kubectl(
    "get events --field-selector=reason=Scheduled,involvedObject.name=packing-1 -o jsonpath={.items[*].reportingComponent}",
  );
  equal(reporters, "packing");

  // No scheduler has tried it: no condition, no event.
  equal(await kubectl("get pod orphan -o jsonpath={.status.phase}/{.spec.nodeName}/{.status.conditions}"), "Pending//");
  equal(await kubectl("get events --field-selector=involvedObject.name=orphan -o name"), "");
});
