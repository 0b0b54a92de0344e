/** Names in the Pods of `k8ts up`: the resolv.conf that the kubelet writes, and the DNS server behind kube-system/kube-dns. */
import { equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { becomes } from "../../src/testing/becomes.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const READY_WITHIN_MS = 100_000;

describe("in a Pod", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;

  before(async () => {
    cluster = await startRealCluster();
    await cluster.kubectl("wait --for=create serviceaccount/default --timeout=90s");
    await cluster.kubectl("apply -f -", { input: aRealPod("client", SLEEP) });
    await cluster.kubectl("wait --for=condition=Ready pod/client --timeout=90s", { timeoutMs: READY_WITHIN_MS });
  });
  after(() => cluster[Symbol.asyncDispose]());

  const inPod = (command: string) => cluster.kubectl(`exec client -- ${command}`);
  /** The addresses that busybox' nslookup prints, without that of the server; its messages if it fails. */
  const lookup = (name: string, server = "") =>
    inPod(`nslookup ${name} ${server}`.trim()).then(
      (text) => [...text.matchAll(/^Address(?: \d+)?:\s*([0-9.]+)(?!.*:53)\s*$/gm)].map((found) => found[1]).join(" "),
      String,
    );

  test("resolv.conf has the cluster's DNS server, search path and ndots", async () => {
    const lines = (await inPod("cat /etc/resolv.conf")).trim().split("\n");
    equal(lines.includes("nameserver 10.96.0.10"), true);
    equal(lines.includes("options ndots:5"), true);
    match(lines.join("\n"), /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/m);
  });

  test("the server answers on the node's address on the bridge, and follows Services", async () => {
    const address = (await cluster.kubectl("-n kube-system get endpointslices -o jsonpath={.items[*].endpoints[0].addresses[0]}")).trim();
    await becomes(() => lookup("kubernetes.default.svc.cluster.local", address), "10.96.0.1");
    await cluster.kubectl("create service clusterip web --clusterip=10.96.0.77 --tcp=80");
    await becomes(() => lookup("web.default.svc.cluster.local", address), "10.96.0.77");
  });

  test("the Service kube-dns answers", async () => {
    await becomes(() => lookup("kubernetes.default.svc.cluster.local"), "10.96.0.1");
    await becomes(() => lookup("web.default.svc.cluster.local"), "10.96.0.77");
  });

  test("`k8ts status` shows the address of the server", async () => {
    match((await cluster.k8ts("status")).stdout, /dns.*10\.96\.0\.10 on [0-9.]+:\d+/);
  });
});
