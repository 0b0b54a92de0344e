/** Services of `k8ts up` carry traffic of Pods and of the machine, whatever happens to rules and processes, and leave nothing behind. */
import { deepEqual, equal, match } from "node:assert/strict";
import { get } from "node:http";
import { after, before, describe, test } from "node:test";
import { kernelOwner } from "../../src/cluster/machine/container-paths.ts";
import { findHome } from "../../src/cluster/home/cluster-home.ts";
import { ownNetworkNamespace } from "../../src/host/network/network-namespace.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { aDeployment, aList, aService } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import {
  aRealContainer,
  aRealPod,
  REAL_CLUSTER_NEEDS,
  SLEEP,
  startRealCluster,
  type RealCluster,
} from "../../src/testing/servers/real-cluster.ts";

const READY_WITHIN_MS = 100_000;
const ANSWER_WITHIN_MS = 10_000;
/** Enough requests that both of two endpoints answer. */
const REQUESTS = 40;

/** Answers with the name of its Pod. */
const SERVER = "mkdir -p /www && hostname > /www/index.html && httpd -p 8080 -h /www && sleep 1d & wait $!";

function fetchText(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ host, port, agent: false, timeout: ANSWER_WITHIN_MS }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(text.trim()));
    });
    request.on("timeout", () => request.destroy(new Error("no answer"))).on("error", reject);
  });
}

/** Rules and chains of every program except the built-in chains, without counters. */
async function rules(): Promise<readonly string[]> {
  const run = (command: string) => ownNetworkNamespace.run(command, []).then((text) => text.split("\n"));
  const saved = [...(await run("iptables-save")), ...(await run("ip6tables-save"))];
  const tables = (await ownNetworkNamespace.run("nft", ["list", "tables"])).split("\n").filter((line) => line.includes("k8ts"));
  return [
    ...saved.filter((line) => line.startsWith("-A") || /^:\S+ - /.test(line)).map((line) => line.replace(/ \[\d+:\d+\]$/, "")),
    ...tables,
  ];
}

describe("Services of a cluster with real containers", { ...needs(...REAL_CLUSTER_NEEDS, "nftables", "conntrack") }, () => {
  let cluster: RealCluster;
  let rulesBefore: readonly string[] = [];
  let clusterIp = "";
  let nodePort = 0;

  before(async () => {
    rulesBefore = await rules();
    cluster = await startRealCluster();
    await cluster.kubectl("wait --for=create serviceaccount/default --timeout=90s", { timeoutMs: READY_WITHIN_MS });
    const web = aDeployment("web", { replicas: 2, containers: [aRealContainer("web", SERVER)] });
    const service = aService("web", { type: "NodePort", ports: [{ port: 80, targetPort: 8080 }] });
    await cluster.kubectl("apply -f -", { input: aList(web, service, aRealPod("client", SLEEP)) });
    await cluster.kubectl("wait --for=condition=Available deployment/web --timeout=90s", { timeoutMs: READY_WITHIN_MS });
    await cluster.kubectl("wait --for=condition=Ready pod/client --timeout=90s", { timeoutMs: READY_WITHIN_MS });
    const shown = await cluster.kubectl("get service web -o jsonpath={.spec.clusterIP},{.spec.ports[0].nodePort}");
    [clusterIp, nodePort] = [shown.split(",")[0] ?? "", Number(shown.split(",")[1])];
  });
  after(() => cluster[Symbol.asyncDispose]());

  /** Names of the Pods that answer many requests from this machine; "" for a failed one. */
  const answering = async (host: string, port: number) => {
    const answers = await Promise.all(Array.from({ length: REQUESTS }, () => fetchText(host, port).catch(() => "")));
    return [...new Set(answers)].toSorted();
  };
  const podNames = async () => (await cluster.kubectl("get pods -l app=web -o jsonpath={.items[*].metadata.name}")).split(" ").toSorted();
  const fromPod = () => cluster.kubectl(`exec client -- wget -qO- http://${clusterIp}/`);

  test("a Service is reached by its cluster IP and node port, from the machine and from a Pod, at all its endpoints", async () => {
    const pods = await podNames();
    equal(pods.length, 2);
    await becomes(() => answering(clusterIp, 80), pods);
    await becomes(() => answering("127.0.0.1", nodePort), pods);
    match(await fromPod(), /^web-/);
    match((await cluster.k8ts("status")).stdout, /proxy: +iptables/);
  });

  test("a deleted Pod leaves the Service, and its replacement answers", async () => {
    const [deleted = ""] = await podNames();
    await cluster.kubectl(`delete pod ${deleted} --wait=true`);
    await cluster.kubectl("wait --for=condition=Available deployment/web --timeout=90s", { timeoutMs: READY_WITHIN_MS });
    await becomes(
      async () => {
        const [pods, seen] = [await podNames(), await answering(clusterIp, 80)];
        return { isGone: !seen.includes(deleted), allAnswer: pods.length === 2 && pods.every((name) => seen.includes(name)) };
      },
      { isGone: true, allAnswer: true },
    );
  });

  test("flushed rules are written again", async () => {
    const home = await findHome({ directory: cluster.places.addressDirectory.replace(/\/cni\/addresses$/, "") }, {});
    const owner = home === undefined ? "" : kernelOwner(home).toUpperCase();
    const saved = (await ownNetworkNamespace.run("iptables-save", ["-t", "nat"])).split("\n");
    const chains = saved
      .filter((line) => line.startsWith(":") && line.toUpperCase().includes(owner))
      .map((line) => line.slice(1).split(" ")[0] ?? "");
    equal(chains.length > 0, true, `no chain of ${owner} in\n${saved.join("\n")}`);
    // All at once: a check that finds some chains empty would restore them between two flushes.
    const flush = ["*nat", ...chains.map((chain) => `:${chain} - [0:0]`), "COMMIT", ""].join("\n");
    await ownNetworkNamespace.run("iptables-restore", ["--noflush"], flush);

    const pods = await podNames();
    await becomes(() => answering(clusterIp, 80), pods);
    await becomes(() => answering("127.0.0.1", nodePort), pods);
  });

  test("traffic continues while k8ts is killed and restarted, and the rules stay", async () => {
    const pods = await podNames();
    await cluster.kill();
    deepEqual(await answering(clusterIp, 80), pods);

    await cluster.up();
    deepEqual(await answering(clusterIp, 80), pods);
    await cluster.kubectl("delete service web");
    await becomes(() => answering(clusterIp, 80), [""]);
  });

  test("no rule is left behind when the cluster stops", async () => {
    equal(await cluster.interrupt(), 0);
    deepEqual(await rules(), rulesBefore);
  });
});
