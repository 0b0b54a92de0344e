/** Network policies on a cluster with real containers: before a Pod's first packet, after a restart, and nothing left at the end. */
import { equal, match } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { becomes } from "../../src/testing/becomes.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, lineOf, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

/** Connects once, at once, and reports the result. */
const connectOnce = (address: string): string => `if echo | nc -w 3 ${address} 80 >/dev/null; then echo reached; else echo blocked; fi`;

const POLICY = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "no-egress" },
  spec: { podSelector: { matchLabels: { app: "isolated" } }, policyTypes: ["Egress"] },
};

function tables({ places: { bridge } }: RealCluster): string {
  const owner = bridge.split("-").at(-1) ?? "";
  const listed = execFileSync("nft", ["list", "tables"], { encoding: "utf8" });
  return listed
    .split("\n")
    .filter((line) => line.includes(`k8ts-${owner}-policy`))
    .join();
}

test(
  "policies hold from a Pod's first packet on, across a restart, and leave nothing",
  needs(...REAL_CLUSTER_NEEDS, "nftables"),
  async () => {
    await using cluster = await startRealCluster();
    const kubectl = await cluster.inNamespace("policies");
    const create = (object: object): Promise<string> => kubectl("apply -f -", { input: object });
    await create(aRealPod("server", `httpd -p 80 -h /\n${SLEEP}`));
    await kubectl("wait --for=condition=Ready pod/server --timeout=100s");
    const address = await kubectl("get pod server -o jsonpath={.status.podIP}");
    await create(POLICY);
    for (const name of ["isolated", "free"]) await create(aRealPod(name, `${connectOnce(address)}\n${SLEEP}`));
    await kubectl("wait --for=condition=Ready pod/isolated pod/free --timeout=100s");

    equal(await lineOf(kubectl, "logs --follow isolated", /^(reached|blocked)$/), "blocked");
    equal(await lineOf(kubectl, "logs --follow free", /^(reached|blocked)$/), "reached");
    match((await cluster.k8ts("status")).stdout, /network-policy.*nftables/);

    await cluster.kill();
    match(tables(cluster), /-policy/);
    await cluster.up();
    const tryFrom = (pod: string): Promise<string> => kubectl(`exec ${pod} -- sh -c '${connectOnce(address)}'`);
    match(await tryFrom("isolated"), /blocked/);
    match(await tryFrom("free"), /reached/);

    await kubectl("delete networkpolicy no-egress");
    // No event reports that the rules are gone.
    await becomes(async () => (await tryFrom("isolated")).trim(), "reached");

    equal(await cluster.interrupt(), 0);
    equal(tables(cluster), "");
  },
);
