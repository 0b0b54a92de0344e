/**
 * StatefulSets and DaemonSets on three nodes with real containers and the real kubectl: stable names that DNS resolves, a rollout with a
 * partition, a DaemonSet that follows labels, and a drained node that had a Pod of every kind of workload.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { aList, aService } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealContainer, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const READY_WITHIN_MS = 200_000;
const WAIT = "--timeout=180s";
const PODS = ["db-0", "db-1", "db-2"];

const aWorkload = (kind: "StatefulSet" | "DaemonSet" | "Deployment", name: string, spec: JsonObject, pod: JsonObject = {}): JsonObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [aRealContainer("main", SLEEP, { env: [{ name: "VERSION", value: "1" }] })], ...pod },
    },
    ...spec,
  },
});

describe("StatefulSets and DaemonSets with real containers", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;
  let nodes: readonly string[] = [];

  before(async () => {
    cluster = await startRealCluster({ flags: ["--nodes", "3"] });
    nodes = namesIn(await cluster.kubectl("get nodes -o name"));
    await cluster.kubectl("wait --for=create serviceaccount/default", { timeoutMs: READY_WITHIN_MS });
    const database = aWorkload("StatefulSet", "db", { replicas: 3, serviceName: "db" });
    const agent = aWorkload("DaemonSet", "agent", {}, { nodeSelector: { disk: "ssd" } });
    await cluster.kubectl("create -f -", { input: aList(aService("db", { clusterIP: "None" }), database, agent) });
    await rolledOut("statefulset/db");
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  const rolledOut = (workload: string) => cluster.kubectl(`rollout status ${workload} ${WAIT}`, { timeoutMs: READY_WITHIN_MS });
  /** Printed by a command in a Pod; its messages if it fails. */
  const inPod = (pod: string, command: string) => cluster.kubectl(`exec ${pod} -- ${command}`).then((text) => text.trim(), String);
  const versions = () => Promise.all(PODS.map((pod) => inPod(pod, "sh -c 'echo $VERSION'")));
  const nodesOf = async (app: string) =>
    namesIn(await cluster.kubectl(`get pods -l app=${app} -o jsonpath={.items[*].spec.nodeName}`)).toSorted();

  test("the Pods of a StatefulSet have stable host names, which DNS resolves to their addresses", async () => {
    for (const pod of PODS) {
      equal(await inPod(pod, "hostname"), pod);
      const address = await cluster.kubectl(`get pod ${pod} -o jsonpath={.status.podIP}`);
      await becomes(async () => (await inPod("db-0", `nslookup ${pod}.db.default.svc.cluster.local`)).includes(address), true);
    }
  });

  test("a deleted Pod comes back under its name, and its name resolves to its new address", async () => {
    const uid = () => cluster.kubectl("get pod db-1 -o jsonpath={.metadata.uid}").catch(() => "");
    const before = await uid();

    await cluster.kubectl("delete pod db-1", { timeoutMs: READY_WITHIN_MS });
    await rolledOut("statefulset/db");

    equal((await uid()) === before, false);
    const address = await cluster.kubectl("get pod db-1 -o jsonpath={.status.podIP}");
    await becomes(async () => (await inPod("db-0", "nslookup db-1.db.default.svc.cluster.local")).includes(address), true);
  });

  test("a rollout with a partition updates only the Pods from it on, and then all of them", async () => {
    await cluster.kubectl(`patch statefulset db -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}}}}'`);
    await cluster.kubectl("set env statefulset/db VERSION=2");
    await rolledOut("statefulset/db");
    deepEqual(await versions(), ["1", "1", "2"]);

    await cluster.kubectl(`patch statefulset db -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}'`);
    await rolledOut("statefulset/db");
    deepEqual(await versions(), ["2", "2", "2"]);
  });

  test("a DaemonSet runs on exactly the nodes with its label", async () => {
    equal(nodes.length, 3);
    deepEqual(await nodesOf("agent"), []);

    await cluster.kubectl(`label node ${nodes.join(" ")} disk=ssd`);
    await becomes(() => nodesOf("agent"), nodes.toSorted());
    await rolledOut("daemonset/agent");

    const [first = "", ...others] = nodes;
    await cluster.kubectl(`label node ${first} disk-`);
    await becomes(() => nodesOf("agent"), others.toSorted());
  });

  test("kubectl drain moves the Pods of a StatefulSet, a Deployment and a Job, and leaves that of the DaemonSet", async () => {
    const { kubectl } = cluster;
    const drained = nodes.at(-1) ?? "";
    const others = nodes.slice(0, -1).join(" ");
    // A Pod that is stopped must not count as succeeded.
    const job = { template: { spec: { restartPolicy: "Never", containers: [aRealContainer("main", `trap 'exit 1' TERM\n${SLEEP}`)] } } };
    await kubectl(`cordon ${others}`);
    await kubectl("scale statefulset db --replicas=4");
    await kubectl("create -f -", {
      input: aList(aWorkload("Deployment", "web", {}), { apiVersion: "batch/v1", kind: "Job", metadata: { name: "work" }, spec: job }),
    });
    const readyNodes = async () => {
      const ready = `'-o=jsonpath={range .items[?(@.status.containerStatuses[0].ready==true)]}{.metadata.name}={.spec.nodeName} {end}'`;
      const pairs = (await kubectl(`get pods ${ready}`)).trim().split(" ");
      const nodeOf = (start: string) => pairs.find((pair) => pair.startsWith(start))?.split("=")[1];
      return ["db-3", "web-", "work-"].map(nodeOf);
    };
    await becomes(readyNodes, [drained, drained, drained]);
    await kubectl(`uncordon ${others}`);

    const refused = await kubectl.run(`drain ${drained}`, { timeoutMs: READY_WITHIN_MS });
    match(refused.stderr, /cannot delete DaemonSet-managed Pods.*: default\/agent-/);
    await kubectl(`drain ${drained} --ignore-daemonsets ${WAIT}`, { timeoutMs: READY_WITHIN_MS });

    await becomes(async () => (await readyNodes()).map((node) => node !== undefined && node !== drained), [true, true, true]);
    match(await kubectl(`get pods --field-selector spec.nodeName=${drained} -o jsonpath={.items[*].metadata.name}`), /^agent-\w+$/);
  });
});

function namesIn(text: string): readonly string[] {
  return text
    .trim()
    .split(/\s+/)
    .filter((name) => name !== "")
    .map((name) => name.replace(/^node\//, ""));
}
