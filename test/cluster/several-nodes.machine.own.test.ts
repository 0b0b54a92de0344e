/**
 * Several nodes on one machine: Pods reach each other and Services across nodes, the cluster replaces the Pods of a node that is cut off,
 * and after any end of nodes and cluster nothing of them is left. Not here: the Pod network behind a router (components/network).
 */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { linkNames } from "../../src/host/network/network-links.ts";
import { findProcesses } from "../../src/host/processes/process-table.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { needs } from "../../src/testing/needs.ts";
import {
  aRealContainer,
  aRealPod,
  REAL_CLUSTER_NEEDS,
  SLEEP,
  startRealCluster,
  type RealCluster,
} from "../../src/testing/servers/real-cluster.ts";

/** Above the interval of heartbeats, 10 s, and far below the default, so that the test is short. */
const GRACE_PERIOD = "20s";
const TOKEN = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/;

describe("several nodes on one machine", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;
  let names: readonly string[] = [];
  let owner = "";

  before(async () => {
    cluster = await startRealCluster({ flags: ["--nodes", "3", "--node-monitor-grace-period", GRACE_PERIOD] });
    owner = cluster.places.bridge.split("-").at(-1) ?? "";
    names = (await cluster.kubectl("get nodes -o name"))
      .trim()
      .split("\n")
      .map((line) => line.replace("node/", ""));
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test("every node has an address, a Pod CIDR and a network namespace of its own", async () => {
    equal(names.length, 3);
    const addresses = '-o=jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}';
    const found = [
      await cluster.kubectl(`get nodes '${addresses}'`),
      await cluster.kubectl("get nodes -o jsonpath={.items[*].spec.podCIDR}"),
    ];
    equal(new Set(found.flatMap((text) => text.trim().split(" "))).size, 6);
    const { stdout } = await cluster.k8ts("node", "list");
    match(stdout, new RegExp(`^NAME.*\\n\\S+-2 +running +198\\.1[89]\\.\\d+\\.2 +k8ts-${owner}-2\\n\\S+-3 +running`));
  });

  test("Pods reach Pods of all other nodes by their own addresses", async () => {
    const { kubectl } = cluster;
    const script = "while :; do echo hello from $HOSTNAME | nc -l -p 8000; done & wait $!";
    const pod = (nodeName: string, index: number) => {
      const { metadata, ...rest } = aRealPod(`pod-${index}`, script, { nodeName });
      return { ...rest, metadata: { ...(metadata as object), labels: { pod: String(index) } } };
    };
    await kubectl("create -f -", { input: { apiVersion: "v1", kind: "List", items: names.map(pod) } });
    await kubectl("wait --for=condition=Ready pods --all --timeout=100s");
    const address = (index: number) => kubectl(`get pod pod-${index} -o jsonpath={.status.podIP}`);
    const addresses = await Promise.all(names.map((_, index) => address(index)));
    for (const [from] of names.entries())
      for (const [to, target] of addresses.entries())
        await becomes(
          async () => (await kubectl.run(`exec pod-${from} -- sh -c 'nc -w 5 ${target} 8000 </dev/null'`)).stdout.trim(),
          `hello from pod-${to}`,
        );
  });

  test("a Service is reached by cluster IP, node port and DNS name from Pods of other nodes", async () => {
    const { kubectl } = cluster;
    const last = names.length - 1;
    const service = { type: "NodePort", selector: { pod: String(last) }, ports: [{ port: 80, targetPort: 8000 }] };
    await kubectl("create -f -", { input: { apiVersion: "v1", kind: "Service", metadata: { name: "hello" }, spec: service } });
    const [clusterIp, port] = (await kubectl("get service hello -o 'jsonpath={.spec.clusterIP} {.spec.ports[0].nodePort}'")).split(" ");
    const addresses = '-o=jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}';
    const nodePorts = (await kubectl(`get nodes '${addresses}'`)).split(" ").map((address) => `${address} ${port}`);
    for (const target of [`${clusterIp} 80`, "hello 80", "hello.default.svc.cluster.local 80", ...nodePorts])
      for (const from of names.keys())
        await becomes(
          async () => (await kubectl.run(`exec pod-${from} -- sh -c 'nc -w 5 ${target} </dev/null'`)).stdout.trim(),
          `hello from pod-${last}`,
        );
    await kubectl("delete service hello");
    await kubectl("delete pods --all --wait=false");
  });

  test("the Pods of a node that is cut off are replaced, and it comes back without duplicates", async () => {
    const { kubectl } = cluster;
    const last = names.at(-1) ?? "";
    const tolerations = ["not-ready", "unreachable"].map((name) => ({
      ...{ key: `node.kubernetes.io/${name}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
    }));
    const labels = { app: "web" };
    const affinity = {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, podAffinityTerm: { labelSelector: { matchLabels: labels }, topologyKey: "kubernetes.io/hostname" } },
        ],
      },
    };
    const spec = { terminationGracePeriodSeconds: 1, tolerations, affinity, containers: [aRealContainer("main", SLEEP)] };
    const items = [
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web" },
        spec: { replicas: 3, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      },
      { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { selector: labels, ports: [{ port: 80 }] } },
    ];
    await kubectl("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
    await kubectl("rollout status deployment/web --timeout=100s");
    const endpoints = "-o=jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].nodeName}";
    const readyOn = async () =>
      (await kubectl(`get endpointslices -l kubernetes.io/service-name=web '${endpoints}'`)).trim().split(" ").toSorted();
    await becomes(readyOn, [...names].toSorted());

    equal((await cluster.k8ts("node", "stop", last)).exitCode, 0);
    await kubectl(`wait --for=condition=Ready=Unknown node/${last} --timeout=100s`);
    await becomes(
      async () => {
        const on = await readyOn();
        return { count: on.length, hasLost: on.includes(last) };
      },
      { count: 3, hasLost: false },
    );

    equal((await cluster.k8ts("node", "start", last)).exitCode, 0);
    await kubectl(`wait --for=condition=Ready node/${last} --timeout=100s`);
    // Those that were evicted are deleted as soon as its kubelet confirms that they stopped.
    await becomes(async () => (await kubectl("get pods -l app=web -o name")).trim().split("\n").length, 3);
    equal((await readyOn()).length, 3);
  });

  test("nodes that are added at once while the cluster runs are registered, and leave nothing behind when they are removed", async () => {
    const { kubectl } = cluster;
    const before = await traces();
    const added = await Promise.all(["segment", "extra"].map((name) => cluster.k8ts("node", "add", name)));
    deepEqual(
      added.map(({ stdout, exitCode }) => [stdout, exitCode]),
      [
        ["Added node segment\n", 0],
        ["Added node extra\n", 0],
      ],
    );
    await kubectl("wait --for=condition=Ready node/segment node/extra --timeout=100s");
    // All users of the machine can read command lines.
    const joins = await findProcesses((words) => words.includes("join") && words.some((word) => word.includes(cluster.directory)));
    equal(joins.length, 4);
    deepEqual(
      joins.flatMap(({ arguments: words }) => words.filter((word) => TOKEN.test(word))),
      [],
    );
    const ranges = (await kubectl("get node segment extra -o jsonpath={.items[*].spec.podCIDR}")).split(" ");
    const removed = await Promise.all(["segment", "extra"].map((name) => cluster.k8ts("node", "remove", name)));
    deepEqual(
      removed.map(({ stdout, exitCode }) => [stdout, exitCode]),
      [
        ["Removed node segment\n", 0],
        ["Removed node extra\n", 0],
      ],
    );
    deepEqual((await kubectl("get nodes -o name")).match(/segment|extra/g), null);
    await becomes(traces, before);
    const routed = () => ranges.filter((range) => execFileSync("ip", ["route"], { encoding: "utf8" }).includes(range));
    await becomes(() => Promise.resolve(routed()), []);
  });

  test("after the cluster was killed its nodes start again with their Pods", async () => {
    const { kubectl } = cluster;
    // Not evicted, however long the restart takes.
    const survivor = aRealPod("survivor", SLEEP, { nodeName: names[1] ?? "", tolerations: [{ operator: "Exists" }] });
    await kubectl("create -f -", { input: survivor });
    await kubectl("wait --for=condition=Ready pod/survivor --timeout=100s");
    const container = () => kubectl("get pod survivor -o 'jsonpath={.status.containerStatuses[0].containerID} {.status.podIP}'");
    const before = await container();
    await cluster.kill();
    await cluster.up("--node-monitor-grace-period", GRACE_PERIOD);
    for (const name of names) await kubectl(`wait --for=condition=Ready node/${name} --timeout=100s`);
    await kubectl("wait --for=condition=Ready pod/survivor --timeout=100s");
    const found = await container();
    if (found !== before) equal(found, before, `${found} instead of ${before}:\n${await kubectl("describe pod survivor")}`);
    await becomes(async () => (await kubectl.run("exec survivor -- hostname")).stdout.trim(), "survivor");
    await kubectl("rollout status deployment/web --timeout=100s");
  });

  test("nothing is left on the machine after the cluster was killed and cleaned up, and nothing at all after a reset", async () => {
    await cluster.kill();
    equal((await cluster.k8ts("down")).exitCode, 0);
    deepEqual(await cluster.onMachine(), []);
    deepEqual(await traces(), []);
    const rules = ["nat", "filter"].map((table) => execFileSync("iptables", ["--wait", "-t", table, "-S"], { encoding: "utf8" })).join("");
    equal(rules.includes(owner), false);
    equal((await cluster.k8ts("reset", "--yes")).exitCode, 0);
    await becomes(() => findProcesses((words) => words.some((word) => word.includes(cluster.directory))), []);
    await rejects(stat(join(cluster.directory, "data", "k8ts", "default")), /ENOENT/);
  });

  /** Namespaces, links of nodes, and the bridge of the segment. */
  async function traces(): Promise<readonly string[]> {
    const namespaces = (await readdir("/run/netns").catch(() => [])).filter((name) => name.startsWith(`k8ts-${owner}-`));
    return [...namespaces, ...(await linkNames()).filter((name) => name.endsWith(`-${owner}`))].toSorted();
  }
});
