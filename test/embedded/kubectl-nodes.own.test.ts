/** The real kubectl with an embedded cluster: nodes are cordoned, tainted and drained, and Pods move accordingly. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import type { PodList } from "../../src/api/generated/core/v1.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { startKubectlCluster } from "../../src/testing/clients/kubectl-cluster.ts";
import { aDeployment, aPod } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import { isGone, isUnschedulable } from "../../src/embedded/conditions.ts";

const server = await startKubectlCluster({ nodes: 3 });
const { cluster } = server;
after(() => server.close());

/** Creates a namespace; only these nodes are schedulable. */
async function begin(namespace: string, ...nodes: readonly string[]): Promise<ClientProgram> {
  const kubectl = await server.inNamespace(namespace);
  await kubectl("cordon node-0 node-1 node-2");
  await kubectl(`uncordon ${nodes.join(" ")}`);
  return kubectl;
}

/** Nodes of the Pods that are not terminating, sorted. */
async function nodesOf(kubectl: ClientProgram): Promise<readonly string[]> {
  const { items } = JSON.parse(await kubectl("get pods -o json")) as PodList;
  const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return staying.map(({ spec }) => spec?.nodeName ?? "").toSorted();
}

async function rollOut(kubectl: ClientProgram, replicas: number): Promise<void> {
  await kubectl("create -f -", { input: aDeployment("web", { replicas }) });
  await kubectl("rollout status deployment/web");
}

test("a cordoned node gets no new pods, and an uncordoned one gets the pending ones", needs("kubectl"), async () => {
  const kubectl = await begin("cordon", "node-0", "node-1", "node-2");

  equal(await kubectl("cordon node-0 node-1"), "node/node-0 cordoned\nnode/node-1 cordoned\n");
  match(await kubectl("get node node-0 --no-headers"), /^node-0 +Ready,SchedulingDisabled +<none> /);
  await rollOut(kubectl, 3);
  deepEqual(await nodesOf(kubectl), ["node-2", "node-2", "node-2"]);

  await kubectl("cordon node-2");
  await kubectl("scale deployment web --replicas=4");
  await cluster.until("pods", (pods) => pods.some(isUnschedulable), { namespace: "cordon" });
  equal(await kubectl("uncordon node-0"), "node/node-0 uncordoned\n");
  await kubectl("rollout status deployment/web");
  deepEqual(await nodesOf(kubectl), ["node-0", "node-2", "node-2", "node-2"]);
});

test("kubectl drain moves the pods of a node, one at a time if their budget requires it", needs("kubectl"), async () => {
  const kubectl = await begin("drain", "node-0");
  await rollOut(kubectl, 2);
  deepEqual(await nodesOf(kubectl), ["node-0", "node-0"]);
  await kubectl("create poddisruptionbudget web --selector=app=web --min-available=1");
  await kubectl("wait poddisruptionbudget/web --for=jsonpath={.status.disruptionsAllowed}=1");
  await kubectl("uncordon node-1 node-2");

  const lines = (await kubectl("drain node-0 --timeout=90s")).trimEnd().split("\n");

  equal(lines[0], "node/node-0 cordoned");
  equal(lines.at(-1), "node/node-0 drained");
  await kubectl("rollout status deployment/web");
  deepEqual(
    (await nodesOf(kubectl)).map((name) => name !== "node-0"),
    [true, true],
  );
});

test("kubectl drain --ignore-daemonsets leaves the pods of DaemonSets", needs("kubectl"), async () => {
  const kubectl = await begin("daemons", "node-1");
  const labels = { app: "agent" };
  const podSpec = { nodeSelector: { "kubernetes.io/hostname": "node-1" }, containers: [{ name: "main", image: "example/agent:1" }] };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } };
  await kubectl("create -f -", { input: { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "agent" }, spec } });
  await kubectl("rollout status daemonset/agent");
  await rollOut(kubectl, 1);
  await kubectl("uncordon node-2");

  match(
    await kubectl.fails("drain node-1"),
    /cannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\): daemons\/agent-\w{5}/,
  );
  match(await kubectl("drain node-1 --ignore-daemonsets --pod-selector=app!=x"), /\nnode\/node-1 drained\n$/);

  await kubectl("rollout status deployment/web");
  deepEqual(await nodesOf(kubectl), ["node-1", "node-2"]);
});

test("a NoSchedule taint repels pods without a toleration and leaves running ones", needs("kubectl"), async () => {
  const kubectl = await begin("no-schedule", "node-0");
  await kubectl("create -f -", { input: aPod("early") });
  await kubectl("wait --for=condition=Ready pod/early");

  equal(await kubectl("taint node node-0 team=a:NoSchedule"), "node/node-0 tainted\n");
  await kubectl("create -f -", { input: aPod("stranger") });
  await kubectl("create -f -", { input: aPod("friend", { tolerations: [{ key: "team", value: "a", effect: "NoSchedule" }] }) });
  await kubectl("wait --for=condition=Ready pod/friend pod/early");
  await cluster.until("pod/stranger", isUnschedulable, { namespace: "no-schedule" });
  await server.eventEmitted({ namespace: "no-schedule", name: "stranger" }, "FailedScheduling");
  match(
    await kubectl("describe pod stranger"),
    / 0\/3 nodes are available: 1 node\(s\) had untolerated taint\(s\), 2 node\(s\) were unschedulable\. no new claims to deallocate, preemption: 0\/3 nodes are available: 3 Preemption is not helpful for scheduling\.$/m,
  );

  equal(await kubectl("taint node node-0 team-"), "node/node-0 untainted\n");
  await kubectl("wait --for=condition=Ready pod/stranger");
});

test("a NoExecute taint evicts pods without a toleration", needs("kubectl"), async () => {
  const kubectl = await begin("no-execute", "node-0");
  const tolerations = [{ key: "fire", operator: "Exists", effect: "NoExecute" }];
  await kubectl("create -f -", { input: aPod("firefighter", { tolerations }) });
  await kubectl("create -f -", { input: aPod("visitor") });
  await kubectl("wait --for=condition=Ready pod/firefighter pod/visitor");

  equal(await kubectl("taint node node-0 fire=yes:NoExecute"), "node/node-0 tainted\n");
  await cluster.until("pod/visitor", isGone, { namespace: "no-execute" });
  await server.eventEmitted({ namespace: "no-execute", name: "visitor" }, "TaintManagerEviction");

  match(await kubectl("get pods --no-headers"), /^firefighter +1\/1 +Running +0 +\w+\n$/);
  match(await kubectl("get events"), / Normal +TaintManagerEviction +pod\/visitor +Marking for deletion Pod no-execute\/visitor$/m);
  equal(await kubectl("taint node node-0 fire:NoExecute-"), "node/node-0 untainted\n");
});
