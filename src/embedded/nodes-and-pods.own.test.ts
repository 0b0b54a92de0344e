/** What a test does with the machines of its cluster and what runs on them: plugs, logs, commands, and why a Pod is where it is. */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod } from "../api/generated/core/v1.ts";
import { aPod } from "../testing/clients/manifests.ts";
import { startCluster } from "./start-cluster.ts";
import { isReady, isRunning, isScheduled, isUnschedulable } from "./conditions.ts";

for (const clock of ["virtual", "real"] as const) {
  test(`under ${clock} time nodes are added, stopped, started and removed`, async () => {
    await using cluster = await startCluster({ nodes: 2, clock });
    const { nodes } = cluster;
    equal(await nodes.add(), "node-2");
    equal(await nodes.add("special"), "special");
    for (const name of nodes.names()) await cluster.until(`node/${name}`, isReady);
    await nodes.stop("special");
    await nodes.stop("special");
    equal(nodes.isRunning("special"), false);
    if (clock === "virtual") await cluster.until<Node>("node/special", (node) => !isReady(node));
    await Promise.all([nodes.start("special"), nodes.start("special")]);
    equal(nodes.isRunning("special"), true);
    await cluster.until("node/special", isReady);
    await nodes.remove("node-0");

    deepEqual(nodes.names(), ["node-1", "node-2", "special"]);
    equal((await cluster.get("node/node-0")).metadata.name, "node-0", "its Node object stays until it is deleted");
    await rejects(nodes.stop("node-0"), /^Error: Simulated node "node-0" does not exist: there are node-1, node-2, special$/);
    await rejects(nodes.add("special"), /^Error: There is a simulated node "special" already/);
    await rejects(nodes.add("Not_A_Name"), /Node "Not_A_Name" is invalid: metadata.name/);
    deepEqual(nodes.names(), ["node-1", "node-2", "special"]);
  });
}

test("the name of a removed node is not reused", async () => {
  await using cluster = await startCluster({ nodes: 1, clock: "virtual" });
  await cluster.nodes.add("node-2");
  await cluster.nodes.remove("node-0");
  deepEqual([await cluster.nodes.add(), await cluster.nodes.add()], ["node-3", "node-4"]);
});

test("nodes have the requested properties, and defaults otherwise", async () => {
  await using cluster = await startCluster({ nodes: { count: 2, namePrefix: "big-", capacity: { cpu: "64" }, zones: ["a", "b"] } });
  const { metadata, status } = await cluster.until<Node>("node/big-1", isReady);
  equal(metadata.labels?.["topology.kubernetes.io/zone"], "b");
  deepEqual(status?.capacity, { cpu: "64", memory: "32Gi", "ephemeral-storage": "100Gi", pods: "110" });
});

test("logs and commands are answered from the script of each container", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  const containers = ["web", "side"].map((name) => ({ name, image: "example/web:1" }));
  const annotations = {
    "simulated.k8ts.dev/logs": "started\nserving",
    "simulated.k8ts.dev/exec": '{"hostname": {"stdout": "web-0\\n"}, "false": {"exitCode": 1, "stderr": "no\\n"}}',
  };
  const pod = { ...aPod("p", { containers }), metadata: { name: "p", annotations } };
  await cluster.apply(pod);
  await cluster.until("pod/p", isRunning);

  match(await cluster.logs("p"), /^started\nserving\n$/);
  match(await cluster.logs("p", { container: "side" }), /^started\n/);
  deepEqual(await cluster.exec("p", ["hostname"]), { exitCode: 0, stdout: "web-0\n", stderr: "" });
  deepEqual(await cluster.exec("p", ["false"], { container: "side" }), { exitCode: 1, stdout: "", stderr: "no\n" });
  await rejects(cluster.logs("p", { container: "none" }), /^Error: Pod p has no container "none": it has web, side$/);
  await rejects(cluster.exec("missing", ["true"]), /pods "missing" not found/);
});

test("logs of a Pod without a node, or on a stopped node, are rejected", async () => {
  await using cluster = await startCluster({ nodes: 1, clock: "virtual" });
  await cluster.apply([aPod("lost", { nodeSelector: { disk: "none" } }), aPod("p")]);
  await cluster.until("pod/p", isRunning);
  await cluster.nodes.stop("node-0");
  await rejects(cluster.logs("lost"), /^Error: pod lost does not have a host assigned$/);
  await rejects(cluster.logs("p"), /^Error: Cannot reach node node-0: it is not running$/);
});

test("decisions explain why a Pod is on its node, and why it is pending", async () => {
  await using cluster = await startCluster({ nodes: 2, clock: "virtual" });
  await cluster.apply([aPod("p"), aPod("nowhere", { nodeSelector: { disk: "none" } })]);
  const { spec } = await cluster.until<Pod>("pod/p", isScheduled);
  await cluster.until("pod/nowhere", isUnschedulable);

  deepEqual(
    cluster.decisions("p").map(({ outcome, nodeName }) => [outcome, nodeName]),
    [["placed", spec?.nodeName]],
  );
  match(
    cluster.decisions("nowhere")[0]?.message ?? "",
    /^0\/2 nodes are available: 2 node\(s\) didn't match Pod's node affinity\/selector/,
  );
  deepEqual(cluster.decisions("missing"), []);
});

test("without a scheduler there are no decisions, and Pods with a nodeName run", async () => {
  await using cluster = await startCluster({ scheduler: false, clock: "virtual" });
  await cluster.apply([aPod("p"), aPod("q", { nodeName: "node-0" })]);
  await cluster.until("pod/q", isRunning);
  equal(isScheduled(await cluster.get("pod/p")), false);
  deepEqual(cluster.decisions("p"), []);
});

test("a pending Pod gets the resources of a force-deleted one, and is not rejected by the node", async () => {
  await using cluster = await startCluster({ nodes: { count: 1, capacity: { cpu: "2" } }, clock: "virtual" });
  const filling = (name: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "c", image: "x", resources: { requests: { cpu: "2" } } }],
    },
  });
  await cluster.apply(filling("first"));
  await cluster.until("pod/first", isRunning);
  await cluster.apply(filling("second"));
  await cluster.until("pod/second", isUnschedulable);

  await cluster.delete("pod/first");

  const { status } = await cluster.until<Pod>("pod/second", (pod) => pod?.status?.phase !== "Pending");
  equal(status?.phase, "Running", status?.message);
});
