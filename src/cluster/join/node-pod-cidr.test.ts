import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { given, type Given } from "../../testing/given.ts";
import { driven } from "../../testing/driven.ts";
import { nodePodCidr } from "./node-pod-cidr.ts";

function node(podCIDR?: string): object {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "w1" }, spec: podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] } };
}

const CLUSTER_CIDR = "10.244.0.0/16";

function ask({ client, clock }: Given, podCidr?: string, waiting: string[] = []): Promise<string> {
  const { signal } = new AbortController();
  return nodePodCidr({
    client,
    nodeName: "w1",
    podCidr,
    clusterCidr: CLUSTER_CIDR,
    timeoutMs: 60_000,
    clock,
    signal,
    onWaiting: (message) => void waiting.push(message),
  });
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
    /10\.9\.5\.0\/24 .*not within the cluster CIDR 10\.244\.0\.0\/16; .*kubectl delete node w1/,
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
