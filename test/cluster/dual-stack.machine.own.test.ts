/**
 * Two dual-stack nodes on one machine: Pods and Services are reached by both IP families from the other node, and one of two nodes is cut
 * off. Not here: the Pod network of IPv6 behind a router (components/network), network policies (networkpolicy/enforcers).
 */
import { deepEqual, equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
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

const SERVICE_RANGES = "10.96.0.0/12,fd00:10:96::/112";
/** Above the interval of heartbeats, 10 s, and far below the default, so that the test is short. */
const GRACE_PERIOD = "20s";
const SERVER = "while :; do echo hello from $HOSTNAME | nc -l -p 8000; done & wait $!";

function skipWithoutIpv6(): { readonly skip: string | false } {
  const found = needs(...REAL_CLUSTER_NEEDS);
  if (found.skip !== false) return found;
  try {
    const isDisabled = readFileSync("/proc/sys/net/ipv6/conf/all/disable_ipv6", "utf8").trim() !== "0";
    return { skip: isDisabled ? "IPv6 is disabled on this machine" : false };
  } catch {
    return { skip: "the kernel of this machine has no IPv6" };
  }
}

describe("two dual-stack nodes on one machine", { ...skipWithoutIpv6() }, () => {
  let cluster: RealCluster;
  let names: readonly string[] = [];

  before(async () => {
    const ranges = ["--service-cluster-ip-range", SERVICE_RANGES];
    cluster = await startRealCluster({ flags: ["--nodes", "2", "--node-monitor-grace-period", GRACE_PERIOD, ...ranges] });
    names = (await cluster.kubectl("get nodes -o jsonpath={.items[*].metadata.name}")).trim().split(" ");
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  /** Output of a connection from a Pod. */
  const connect = async (pod: string, target: string): Promise<string> =>
    (await cluster.kubectl.run(`exec ${pod} -- sh -c 'nc -w 5 ${target} </dev/null'`)).stdout.trim();
  const list = async (line: string): Promise<readonly string[]> => (await cluster.kubectl(line)).trim().split(/\s+/);

  test("nodes and Pods have an address of each family, and Pods reach each other by both", async () => {
    equal(names.length, 2);
    const items = names.map((nodeName, index) => {
      const { metadata, ...rest } = aRealPod(`pod-${index}`, SERVER, { nodeName });
      return { ...rest, metadata: { ...(metadata as object), labels: { pod: String(index) } } };
    });
    await cluster.kubectl("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
    await cluster.kubectl("wait --for=condition=Ready pods --all --timeout=100s");
    const families = (texts: readonly string[]) => texts.map((text) => (text.includes(":") ? 6 : 4));

    for (const [index, name] of names.entries()) {
      deepEqual(families(await list(`get node ${name} -o jsonpath={.spec.podCIDRs[*]}`)), [4, 6]);
      deepEqual(families(await list(`get node ${name} '-o=jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'`)), [4, 6]);
      const addresses = await list(`get pod pod-${index} -o jsonpath={.status.podIPs[*].ip}`);
      deepEqual(families(addresses), [4, 6]);
      for (const from of names.keys())
        for (const address of addresses) await becomes(() => connect(`pod-${from}`, `${address} 8000`), `hello from pod-${index}`);
    }
  });

  test("dual-stack and IPv6 Services are reached by cluster IPs, node ports and names from the other node", async () => {
    const { kubectl } = cluster;
    const service = (name: string, spec: object) => ({
      ...{ apiVersion: "v1", kind: "Service", metadata: { name } },
      spec: { selector: { pod: "1" }, ports: [{ port: 80, targetPort: 8000 }], ...spec },
    });
    const items = [
      service("both", { type: "NodePort", ipFamilyPolicy: "RequireDualStack" }),
      service("six", { ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" }),
    ];
    await kubectl("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
    const clusterIps = await list("get service both six -o jsonpath={.items[*].spec.clusterIPs[*]}");
    equal(clusterIps.length, 3);
    const [port = ""] = await list("get service both -o jsonpath={.spec.ports[0].nodePort}");
    const nodeAddresses = await list(`get nodes '-o=jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}'`);
    // "six" has no IPv4 address: its name leads to the IPv6 one.
    const targets = [...clusterIps.map((address) => `${address} 80`), ...nodeAddresses.map((address) => `${address} ${port}`), "six 80"];

    for (const target of targets) for (const from of names.keys()) await becomes(() => connect(`pod-${from}`, target), "hello from pod-1");
    const [six = ""] = await list("get service six -o jsonpath={.spec.clusterIP}");
    const lookup = "exec pod-0 -- nslookup -type=aaaa six.default.svc.cluster.local fd00:10:96::a";
    await becomes(async () => (await kubectl.run(lookup)).stdout.includes(six), true);
    await kubectl("delete pods --all --wait=false");
  });

  test("the Pods of one of two nodes that is cut off are replaced on the other, and it comes back without duplicates", async () => {
    const { kubectl } = cluster;
    const last = names.at(-1) ?? "";
    const tolerations = ["not-ready", "unreachable"].map((name) => ({
      ...{ key: `node.kubernetes.io/${name}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
    }));
    const labels = { app: "web" };
    const spread = [
      { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: labels } },
    ];
    const spec = {
      ...{ terminationGracePeriodSeconds: 1, tolerations, topologySpreadConstraints: spread },
      containers: [aRealContainer("main", SLEEP)],
    };
    const deployment = {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    };
    await kubectl("create -f -", { input: deployment });
    await kubectl("rollout status deployment/web --timeout=100s");
    const readyOn = async () =>
      (await list("get pods -l app=web '-o=jsonpath={range .items[*]}{.spec.nodeName}/{.metadata.deletionTimestamp} {end}'"))
        .filter((text) => text.endsWith("/"))
        .map((text) => text.slice(0, -1))
        .toSorted();
    await becomes(readyOn, [...names].toSorted());

    equal((await cluster.k8ts("node", "stop", last)).exitCode, 0);
    await kubectl(`wait --for=condition=Ready=Unknown node/${last} --timeout=100s`);
    await becomes(readyOn, [names[0], names[0]]);
    await kubectl("rollout status deployment/web --timeout=100s");

    equal((await cluster.k8ts("node", "start", last)).exitCode, 0);
    await kubectl(`wait --for=condition=Ready node/${last} --timeout=100s`);
    // The evicted one is deleted as soon as its kubelet confirms that it stopped.
    await becomes(async () => (await list("get pods -l app=web -o name")).length, 2);
  });

  test("no rule or route of IPv6 is left on the machine after the cluster stopped", async () => {
    const owner = cluster.places.bridge.split("-").at(-1) ?? "";
    equal((await cluster.k8ts("down")).exitCode, 0);
    deepEqual(await cluster.onMachine(), []);
    const rules = ["nat", "filter", "mangle"].map((table) =>
      execFileSync("ip6tables", ["--wait", "-t", table, "-S"], { encoding: "utf8" }),
    );
    equal(rules.join("").includes(owner), false);
    equal(execFileSync("ip", ["-6", "route"], { encoding: "utf8" }).includes(owner), false);
  });
});
