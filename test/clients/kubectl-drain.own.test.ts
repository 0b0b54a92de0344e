/** The real kubectl cordons and drains nodes: pods are evicted as far as their disruption budgets allow, and the rest waits. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, test } from "node:test";
import type { Json } from "../../src/api/machinery/object.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { needs } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aDeployment, aPod } from "../../src/testing/clients/manifests.ts";
import { startStandInKubelet } from "./stand-in-kubelet.ts";

const server = await startTestApiServer({ controllers: ["*"] });
const kubelet = await startStandInKubelet(server);
await kubelet.addNode("node-2");
after(async () => {
  await kubelet[Symbol.asyncDispose]();
  await server.close();
});

/** New pods are bound to this node. */
async function only(node: string): Promise<void> {
  kubelet.allow({});
  await server.kubectl("cordon node-1 node-2");
  await server.kubectl(`uncordon ${node}`);
}

async function nodesOf(kubectl: ClientProgram): Promise<readonly string[]> {
  return (await kubectl("get pods -o jsonpath={.items[*].spec.nodeName}")).split(" ").filter((name) => name !== "");
}

function budget(spec: Readonly<Record<string, Json>>) {
  const selector = { matchLabels: { app: "web" } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "web" }, spec: { selector, ...spec } };
}

test(
  "kubectl drain evicts as many pods as the budget allows, waits until replacements are ready, and continues",
  needs("kubectl"),
  async () => {
    await only("node-1");
    const kubectl = await server.inNamespace("budget");
    await kubectl("create -f -", { input: aDeployment("web", { replicas: 2 }) });
    await kubectl("create -f -", { input: budget({ minAvailable: 1 }) });
    await kubectl("rollout status deployment/web");
    await kubectl("wait poddisruptionbudget/web --for=jsonpath={.status.disruptionsAllowed}=1");
    match(await kubectl("get poddisruptionbudget --no-headers"), /^web +1 +N\/A +1 +\w+\n$/);
    await only("node-1");
    await server.kubectl("uncordon node-2");
    kubelet.allow({ ready: () => false });

    await using drain = server.kubectl.start("drain node-1 --timeout=90s");
    await drain.noted(
      /^error when evicting pods\/"web-\w+-\w{5}" -n "budget" \(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\.$/,
    );
    await kubectl("wait poddisruptionbudget/web --for=jsonpath={.status.disruptionsAllowed}=0");
    // The eviction uses up the budget; after that the pod is deleted and replaced.
    await becomes(async () => (await nodesOf(kubectl)).toSorted(), ["node-1", "node-2"]);
    const { conditions } = JSON.parse(await kubectl("get poddisruptionbudget web -o jsonpath={.status}")) as {
      readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
    };
    deepEqual(
      conditions.map(({ type, status, reason }) => [type, status, reason]),
      [["DisruptionAllowed", "False", "InsufficientPods"]],
    );
    kubelet.allow({});

    const lines = await drain.rest();
    equal(lines[0], "node/node-1 cordoned");
    equal(lines.at(-1), "node/node-1 drained");
    // Both, and the rejected one again: every five seconds, until the other pod is ready.
    ok(lines.filter((line) => line.startsWith("evicting pod budget/web-")).length >= 3, lines.join("\n"));
    await becomes(() => nodesOf(kubectl), ["node-2", "node-2"]);
    match(await server.kubectl("get node node-1 --no-headers"), /^node-1 +Ready,SchedulingDisabled +<none> +[\dms]+ *\n$/);
  },
);

test("kubectl drain refuses unmanaged and DaemonSet pods without the flags for them", needs("kubectl"), async () => {
  await only("node-1");
  const kubectl = await server.inNamespace("unmanaged");
  const labels = { app: "agent" };
  const spec = { nodeSelector: { agent: "true" }, containers: [{ name: "main", image: "example/agent:1" }] };
  const daemonSet = {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent" },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
  await server.kubectl("label node node-1 agent=true");
  await kubectl("create -f -", { input: daemonSet });
  await kubectl("rollout status daemonset/agent");
  const agent = (await kubectl("get pods -l app=agent -o jsonpath={.items[0].metadata.name}")).trim();
  await kubectl("create -f -", { input: aPod("alone", { nodeName: "node-1" }) });
  const scratch = { name: "scratch", emptyDir: {} };
  const withScratch = aDeployment("cache") as { readonly spec: { readonly template: { readonly spec: object } } };
  const podTemplate = { ...withScratch.spec.template, spec: { ...withScratch.spec.template.spec, volumes: [scratch] } };
  await kubectl("create -f -", { input: { ...withScratch, spec: { ...withScratch.spec, template: podTemplate } } });
  await kubectl("rollout status deployment/cache");
  await kubectl("wait pods --all --for=condition=Ready");
  const cache = (await kubectl("get pods -l app=cache -o jsonpath={.items[0].metadata.name}")).trim();

  const refused = await server.kubectl.run("drain node-1");
  equal(refused.code, 1);
  // kubectl prints the reasons in any order.
  const [, reasons = ""] =
    /^error: unable to drain node "node-1" due to error: \[(.*)\], continuing command\.\.\./.exec(refused.stderr) ?? [];
  deepEqual(reasons.split(", ").toSorted(), [
    `cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): unmanaged/${agent}`,
    "cannot delete Pods that declare no controller (use --force to override): unmanaged/alone",
    `cannot delete Pods with local storage (use --delete-emptydir-data to override): unmanaged/${cache}`,
  ]);
  equal((await nodesOf(kubectl)).length, 3);

  await server.kubectl("uncordon node-2");
  const drained = await server.kubectl.run("drain node-1 --force --ignore-daemonsets --delete-emptydir-data");
  equal(drained.code, 0, drained.stderr);
  const [, warnings = ""] = /^Warning: (.*)\n/.exec(drained.stderr) ?? [];
  deepEqual(warnings.split("; ").toSorted(), [
    "deleting Pods that declare no controller: unmanaged/alone",
    `ignoring DaemonSet-managed Pods: unmanaged/${agent}`,
  ]);
  await kubectl("rollout status deployment/cache");
  equal(await kubectl('get pods -o jsonpath={.items[?(@.spec.nodeName=="node-1")].metadata.name}'), agent);
});

test("kubectl drain --disable-eviction deletes pods regardless of budgets", needs("kubectl"), async () => {
  await only("node-1");
  const kubectl = await server.inNamespace("disabled");
  await kubectl("create -f -", { input: aDeployment("web", { replicas: 2 }) });
  await kubectl("create -f -", { input: budget({ maxUnavailable: 0 }) });
  await kubectl("rollout status deployment/web");
  await kubectl("wait poddisruptionbudget/web --for=jsonpath={.status.observedGeneration}=1");
  await server.kubectl("uncordon node-2");

  const drained = await server.kubectl("drain node-1 --disable-eviction --ignore-daemonsets");

  match(drained, /^node\/node-1 cordoned\n(pod\/web-\w+-\w{5} deleted\n){2}node\/node-1 drained\n$/);
  // The status may still be that of the previous pods.
  await kubectl("rollout status deployment/web");
  await becomes(() => nodesOf(kubectl), ["node-2", "node-2"]);
});

test("the node lifecycle controller taints a cordoned node and removes the taint on uncordon", needs("kubectl"), async () => {
  const taint = "{.spec.taints[0].key}:{.spec.taints[0].effect}";
  await kubelet.addNode("node-3");

  equal(await server.kubectl("cordon node-3"), "node/node-3 cordoned\n");
  await using watched = server.kubectl.start(`get node node-3 --watch -o jsonpath=${taint}{"\\n"}`);
  for (let line = ""; line !== "node.kubernetes.io/unschedulable:NoSchedule";) line = await watched.line();
  equal(await server.kubectl("uncordon node-3"), "node/node-3 uncordoned\n");
  for (let line = ""; line !== ":";) line = await watched.line();

  match(await server.kubectl("describe node node-3"), /^Taints: +<none>\nUnschedulable: +false$/m);
  await server.kubectl("delete node node-3");
});
