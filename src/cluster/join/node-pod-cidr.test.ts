import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { nodeCidrsOf } from "../../api/pod-ranges.ts";
import { given, type Given } from "../../testing/given.ts";
import { driven } from "../../testing/driven.ts";
import { nodePodRanges } from "./node-pod-cidr.ts";

function node(podCIDR?: string): object {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "w1" },
    spec: podCIDR === undefined ? {} : { podCIDR: podCIDR.split(",")[0], podCIDRs: podCIDR.split(",") },
  };
}

const CLUSTER_CIDRS = ["10.244.0.0/16", "fd00:10:244::/56"];

async function ask({ client, clock }: Given, podCidr?: string, waiting: string[] = []): Promise<string> {
  const { signal } = new AbortController();
  const ranges = await nodePodRanges({
    client,
    nodeName: "w1",
    podCidrs: podCidr === undefined ? [] : podCidr.split(","),
    clusterCidrs: CLUSTER_CIDRS,
    timeoutMs: 60_000,
    clock,
    signal,
    onWaiting: (message) => void waiting.push(message),
  });
  return nodeCidrsOf(ranges).join(",");
}

test("a joining node is created and gets the Pod CIDR that the cluster assigns", async () => {
  await using cluster = await given();
  const waiting: string[] = [];
  const asked = ask(cluster, undefined, waiting);
  await cluster.clock.advance(10_000);
  const found = await driven(cluster.clock, cluster.client.get(nodes, { name: "w1" }));
  await driven(cluster.clock, cluster.client.update(nodes, { ...found, spec: { podCIDR: "10.244.3.0/24", podCIDRs: ["10.244.3.0/24"] } }));
  await cluster.clock.advance(10_000);
  equal(await asked, "10.244.3.0/24");
  deepEqual(waiting, ["waiting for the cluster's node IPAM controller to assign a Pod CIDR to Node w1 (or set --pod-cidr)"]);
});

test("the Pod CIDR of an existing Node is used", async () => {
  await using cluster = await given(node("10.244.5.0/24"));
  equal(await driven(cluster.clock, ask(cluster)), "10.244.5.0/24");
  equal(await driven(cluster.clock, ask(cluster, "10.244.5.0/24")), "10.244.5.0/24");
});

test("the Pod CIDRs of a dual-stack Node are used in their order, and one without IPv4 is reported", async () => {
  await using cluster = await given(node("fd00:10:244:5::/64,10.244.5.0/24"));
  equal(await driven(cluster.clock, ask(cluster)), "fd00:10:244:5::/64,10.244.5.0/24");
  await using other = await given(node("fd00:10:244:5::/64"));
  await rejects(driven(other.clock, ask(other)), /fd00:10:244:5::\/64 of Node w1: it has no IPv4 range; delete the Node/);
});

test("an explicit Pod CIDR is used without creating the Node, unless the Node has another one", async () => {
  await using cluster = await given();
  equal(await driven(cluster.clock, ask(cluster, "10.244.7.0/24")), "10.244.7.0/24");
  equal((await cluster.list(nodes)).length, 0);
  await using other = await given(node("10.244.5.0/24"));
  await rejects(driven(other.clock, ask(other, "10.244.7.0/24")), /Node w1 already has 10\.244\.5\.0\/24, which cannot be changed/);
});

test("a Pod CIDR outside of the cluster CIDR, which other nodes do not reach, is reported with the remedy", async () => {
  await using cluster = await given(node("10.9.5.0/24"));
  await rejects(
    driven(cluster.clock, ask(cluster)),
    /10\.9\.5\.0\/24 .*not within the cluster CIDR 10\.244\.0\.0\/16,\S+; .*kubectl delete node w1/,
  );
  await using other = await given();
  await rejects(driven(other.clock, ask(other, "10.9.7.0/24")), /not within the cluster CIDR .*; set --pod-cidr to a free range of it/);
});

test("a Pod CIDR that is not assigned in time is reported with the remedy", async () => {
  await using cluster = await given();
  const rejected = rejects(ask(cluster), /no Pod CIDR was assigned to Node w1 within 60 s; .*--allocate-node-cidrs.*--pod-cidr/);
  await cluster.clock.advance(70_000);
  await rejected;
});
