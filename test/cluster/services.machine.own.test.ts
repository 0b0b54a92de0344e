/**
 * Services, names and Ingresses of `k8ts up`, with real containers and the real kubectl: every way to a Deployment works from Pods and from
 * the machine, whatever happens to its Pods, to rules and to processes, and nothing is left behind.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { Agent } from "node:http";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { kernelOwner } from "../../src/cluster/machine/container-paths.ts";
import { findHome } from "../../src/cluster/home/cluster-home.ts";
import { ownNetworkNamespace } from "../../src/host/network/network-namespace.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { fetchText, HttpLoad, type HttpTarget } from "../../src/testing/clients/http-load.ts";
import { aDeployment, aList, aService } from "../../src/testing/clients/manifests.ts";
import { GRACEFUL_PORT, gracefulServer } from "../../src/testing/fixtures/graceful-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { freePort } from "../../src/testing/servers/free-ports.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const READY_WITHIN_MS = 100_000;
/** Enough requests that all of up to four endpoints answer. */
const REQUESTS = 60;
/** Through the Service, and through the Ingress, during one rolling update. */
const LOAD_REQUESTS_MIN = 2_000;

const HOST = "web.example";
const NAME = "web.default.svc.cluster.local";

const ingress = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "web" },
  spec: {
    rules: [
      { host: HOST, http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { name: "http" } } } }] } },
    ],
  },
} as const satisfies JsonObject;

describe("Services of a cluster with real containers", { ...needs(...REAL_CLUSTER_NEEDS, "nftables", "conntrack") }, () => {
  let cluster: RealCluster;
  let port = 0;
  let clusterIp = "";
  let ways: Readonly<Record<"clusterIp" | "nodePort" | "loadBalancer" | "ingress", HttpTarget>>;

  before(async () => {
    cluster = await startRealCluster();
    // A port of the node is needed for the load balancer's address.
    port = await freePort();
    await cluster.kubectl("wait --for=create serviceaccount/default", { timeoutMs: READY_WITHIN_MS });
    const web = aDeployment("web", { replicas: 2, template: { metadata: { labels: { app: "web" } }, spec: gracefulServer("1") } });
    const service = aService("web", { type: "LoadBalancer", ports: [{ name: "http", port, targetPort: GRACEFUL_PORT }] });
    await cluster.kubectl("apply -f -", { input: aList(web, service, ingress, aRealPod("client", SLEEP)) });
    await cluster.kubectl("wait --for=condition=Available deployment/web", { timeoutMs: READY_WITHIN_MS });
    await cluster.kubectl("wait --for=condition=Ready pod/client", { timeoutMs: READY_WITHIN_MS });
    for (const object of ["service", "ingress"])
      await cluster.kubectl(`wait --for=jsonpath={.status.loadBalancer.ingress[0].ip} ${object}/web`, { timeoutMs: READY_WITHIN_MS });
    clusterIp = await shown("service web", ".spec.clusterIP");
    ways = {
      clusterIp: { host: clusterIp, port },
      nodePort: { host: "127.0.0.1", port: Number(await shown("service web", ".spec.ports[0].nodePort")) },
      loadBalancer: { host: await shown("service web", ".status.loadBalancer.ingress[0].ip"), port },
      ingress: {
        host: await shown("ingress web", ".status.loadBalancer.ingress[0].ip"),
        // Absent if it is the usual one.
        port: Number((await shown("ingress web", ".status.loadBalancer.ingress[0].ports[0].port")) || "80"),
        headers: { host: HOST },
      },
    };
  });
  after(() => cluster[Symbol.asyncDispose]());

  const shown = (object: string, path: string) => cluster.kubectl(`get ${object} -o jsonpath={${path}}`);
  const inPod = (command: string) => cluster.kubectl(`exec client -- ${command}`);
  const podNames = async () => (await cluster.kubectl("get pods -l app=web -o jsonpath={.items[*].metadata.name}")).split(" ").toSorted();
  /** Names of the Pods that answer many requests from this machine; "" for a failed one. */
  const answering = async (target: HttpTarget) => {
    const answers = await Promise.all(Array.from({ length: REQUESTS }, () => fetchText(target).catch(() => "")));
    return [...new Set(answers.map((answer) => answer.split(" ")[0] ?? ""))].toSorted();
  };
  /** Resolves when exactly the Pods of the Deployment, `count` of them, answer. */
  const allAnswer = (target: HttpTarget, count: number) =>
    becomes(
      async () => {
        const pods = await podNames();
        return {
          count: pods.length,
          strangers: difference(await answering(target), pods),
          silent: difference(pods, await answering(target)),
        };
      },
      { count, strangers: [], silent: [] },
    );

  test("a Service is reached by cluster IP, node port, load balancer address and Ingress host from the machine, at all its endpoints", async () => {
    for (const target of Object.values(ways)) await allAnswer(target, 2);
    const { stdout } = await cluster.k8ts("status");
    match(stdout, /proxy: +iptables/);
    match(stdout, new RegExp(`ingress: .*HTTP on port ${ways.ingress.port}\\b`));
  });

  test("a Service is reached by cluster IP, node port, load balancer address and name from another Pod", async () => {
    const node = ways.loadBalancer.host;
    for (const url of [`${clusterIp}:${port}`, `${node}:${ways.nodePort.port}`, `${node}:${port}`, `web:${port}`, `${NAME}:${port}`])
      await becomes(async () => /^web-\S+ 1$/.test(await inPod(`wget -qO- http://${url}/`).catch(String)), true);
  });

  test("resolv.conf of a Pod has the cluster's DNS server, search path and ndots", async () => {
    const lines = (await inPod("cat /etc/resolv.conf")).trim().split("\n");
    equal(lines.includes("nameserver 10.96.0.10"), true);
    equal(lines.includes("options ndots:5"), true);
    match(lines.join("\n"), /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/m);
  });

  test("the name of a Service is resolved for the machine by the server that `k8ts status` shows, and for Pods, and follows Services", async () => {
    const [, address = "", dnsPort = ""] = /dns: +10\.96\.0\.10 on ([0-9.]+):(\d+)/.exec((await cluster.k8ts("status")).stdout) ?? [];
    const resolver = new Resolver();
    resolver.setServers([`${address}:${dnsPort}`]);
    await becomes(() => resolver.resolve4(NAME).catch(String), [clusterIp]);
    await becomes(() => addressesOf("kubernetes.default.svc.cluster.local"), "10.96.0.1");
    await cluster.kubectl("create service clusterip other --clusterip=10.96.0.77 --tcp=80");
    await becomes(() => addressesOf("other.default.svc.cluster.local"), "10.96.0.77");
    await becomes(() => resolver.resolve4("other.default.svc.cluster.local").catch(String), ["10.96.0.77"]);
  });

  /** The addresses that busybox' nslookup prints in a Pod, without that of the server; its messages if it fails. */
  const addressesOf = (name: string) =>
    inPod(`nslookup ${name}`).then(
      (text) => [...text.matchAll(/^Address(?: \d+)?:\s*([0-9.]+)(?!.*:53)\s*$/gm)].map((found) => found[1]).join(" "),
      String,
    );

  test("a rolling update under load loses no request, through Service and Ingress, on kept and on new connections", async () => {
    const before = await podNames();
    await using service = new HttpLoad([kept(ways.clusterIp), kept(ways.clusterIp), ways.clusterIp, ways.loadBalancer]);
    await using throughIngress = new HttpLoad([kept(ways.ingress), kept(ways.ingress), kept(ways.ingress, "POST"), ways.ingress]);
    await cluster.kubectl("set env deployment/web VERSION=2");
    await cluster.kubectl("rollout status deployment/web --timeout=100s", { timeoutMs: READY_WITHIN_MS });
    // Until the last of them has exited.
    await becomes(async () => difference(before, difference(before, await podNames())), []);
    for (const load of [service, throughIngress]) {
      await load.answered(LOAD_REQUESTS_MIN);
      await load.stop();
      deepEqual(load.failures, []);
      deepEqual(load.versions, ["1", "2"]);
    }
  });

  test("scaled up, all Pods answer; scaled down under load, no request is lost", async () => {
    await cluster.kubectl("scale deployment/web --replicas=4");
    await cluster.kubectl("wait --for=jsonpath={.status.availableReplicas}=4 deployment/web", { timeoutMs: READY_WITHIN_MS });
    for (const target of [ways.clusterIp, ways.ingress]) await allAnswer(target, 4);
    await using load = new HttpLoad([ways.clusterIp, kept(ways.clusterIp), ways.ingress, kept(ways.ingress)]);
    await cluster.kubectl("scale deployment/web --replicas=1");
    for (const target of [ways.clusterIp, ways.ingress]) await allAnswer(target, 1);
    await load.stop();
    deepEqual(load.failures, []);
    await cluster.kubectl("scale deployment/web --replicas=2");
    for (const target of [ways.clusterIp, ways.ingress]) await allAnswer(target, 2);
  });

  test("a killed Pod leaves the Service, and its replacement answers", async () => {
    const [killed = ""] = await podNames();
    await cluster.kubectl(`delete pod ${killed} --grace-period=0 --force`);
    for (const target of [ways.clusterIp, ways.ingress]) await allAnswer(target, 2);
    equal((await podNames()).includes(killed), false);
  });

  test("a Pod whose program is killed answers again after its restart", async () => {
    const [killed = ""] = await podNames();
    await cluster.kubectl(`exec ${killed} -- kill -TERM 1`);
    await cluster.kubectl(`wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/${killed}`, {
      timeoutMs: READY_WITHIN_MS,
    });
    for (const target of [ways.clusterIp, ways.ingress]) await allAnswer(target, 2);
  });

  test("flushed rules are written again", async () => {
    const owner = await ownerOf(cluster);
    const saved = (await ownNetworkNamespace.run("iptables-save", ["-t", "nat"])).split("\n");
    const chains = saved.filter((line) => line.startsWith(":") && isOf(owner, line)).map((line) => line.slice(1).split(" ")[0] ?? "");
    equal(chains.length > 0, true, `no chain of ${owner} in\n${saved.join("\n")}`);
    // All at once: a check that finds some chains empty would restore them between two flushes.
    const flush = ["*nat", ...chains.map((chain) => `:${chain} - [0:0]`), "COMMIT", ""].join("\n");
    await ownNetworkNamespace.run("iptables-restore", ["--noflush"], flush);

    for (const target of [ways.clusterIp, ways.nodePort]) await allAnswer(target, 2);
  });

  test("traffic continues while k8ts is killed and restarted, and the rules stay", async () => {
    const pods = await podNames();
    await cluster.kill();
    // The rules of its last state serve them.
    await becomes(() => answering(ways.clusterIp), pods);

    await cluster.up();
    await becomes(() => answering(ways.clusterIp), pods);
    await becomes(() => answering(ways.ingress), pods);
    await cluster.kubectl("delete service web");
    await becomes(() => answering(ways.clusterIp), [""]);
  });

  test("no rule is left behind when the cluster stops", async () => {
    const owner = await ownerOf(cluster);
    equal((await rulesOf(owner)).length > 0, true);
    equal(await cluster.interrupt(), 0);
    deepEqual(await rulesOf(owner), []);
  });
});

/** On a connection that is kept, and that no other client uses. */
function kept(target: HttpTarget, method = "GET"): HttpTarget {
  return { ...target, method, agent: new Agent({ keepAlive: true, maxSockets: 1 }) };
}

function difference(all: readonly string[], without: readonly string[]): readonly string[] {
  return all.filter((one) => !without.includes(one));
}

/** Part of the names of everything that this cluster has in the kernel. */
async function ownerOf(cluster: RealCluster): Promise<string> {
  const home = await findHome({ directory: cluster.places.addressDirectory.replace(/\/cni\/addresses$/, "") }, {});
  if (home === undefined) throw new Error(`Cannot find the home of the cluster in ${cluster.directory}`);
  return kernelOwner(home);
}

function isOf(owner: string, line: string): boolean {
  return line.split(/[^0-9A-Za-z]+/).some((word) => word.toLowerCase() === owner.toLowerCase());
}

/** Rules, chains and tables of this cluster. Others change at the same time: of other tests, and the shared chains of CNI plugins. */
async function rulesOf(owner: string): Promise<readonly string[]> {
  const commands = [["iptables-save"], ["ip6tables-save"], ["nft", "list", "tables"]];
  const texts = await Promise.all(commands.map(([command = "", ...words]) => ownNetworkNamespace.run(command, words)));
  return texts.flatMap((text) => text.split("\n")).filter((line) => isOf(owner, line));
}
