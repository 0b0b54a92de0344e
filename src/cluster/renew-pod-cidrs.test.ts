import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../api/core/v1/node.ts";
import { given } from "../testing/given.ts";
import { renewPodCidrs } from "./renew-pod-cidrs.ts";

const node = (name: string, podCIDR?: string, more: object = {}) => ({
  ...{ apiVersion: "v1" as const, kind: "Node" as const },
  metadata: { name, labels: { disk: "ssd" } },
  spec: { ...(podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] }), ...more },
});

test("after a change of the cluster CIDR the Nodes of this machine lose their old Pod CIDRs and keep labels and taints", async () => {
  const taints = [{ key: "gpu", effect: "NoSchedule" }];
  await using cluster = await given(
    node("vm", "10.244.0.0/24"),
    node("vm-2", "10.244.1.0/24", { taints, unschedulable: true }),
    node("vm-3"),
    node("remote", "10.244.7.0/24"),
    node("new", "10.245.9.0/24"),
  );
  const notes: string[] = [];

  const steps = { note: (line: string) => void notes.push(line) };
  const ranges = { clusterCidr: "10.245.0.0/16", podCidr: "10.245.0.0/24" };
  await renewPodCidrs({ client: cluster.client, ranges, first: "vm", others: ["vm-2", "vm-3"], steps });

  const { items } = await cluster.client.list(nodes);
  const found = items.map(({ metadata, spec }) => [metadata.name, spec?.podCIDR, metadata.labels?.["disk"]]);
  assert.deepEqual(found, [
    ["new", "10.245.9.0/24", "ssd"],
    ["remote", "10.244.7.0/24", "ssd"],
    ["vm", "10.245.0.0/24", "ssd"],
    ["vm-2", undefined, "ssd"],
    ["vm-3", undefined, "ssd"],
  ]);
  const second = items.find(({ metadata }) => metadata.name === "vm-2");
  assert.equal(second?.spec?.unschedulable, true);
  assert.deepEqual(
    second?.spec?.taints?.map(({ key, effect }) => ({ key, effect })).filter(({ key }) => key === "gpu"),
    taints,
  );
  assert.equal(notes.length, 3);
  assert.match(notes.join("\n"), /warning: node remote has the Pod CIDR 10\.244\.7\.0\/24, .*kubectl delete node remote/);
});

test("Nodes with Pod CIDRs of the cluster CIDR are not touched", async () => {
  await using cluster = await given(node("vm", "10.244.0.0/24"), node("vm-2", "10.244.1.0/24"));
  const before = (await cluster.client.list(nodes)).items;

  const ranges = { clusterCidr: "10.244.0.0/16", podCidr: "10.244.0.0/24" };
  const steps = { note: (line: string) => assert.fail(line) };
  await renewPodCidrs({ client: cluster.client, ranges, first: "vm", others: [], steps });

  assert.deepEqual((await cluster.client.list(nodes)).items, before);
});

test("Nodes of a cluster that became dual-stack get Pod CIDRs of both families", async () => {
  await using cluster = await given(node("vm", "10.244.0.0/24"), node("vm-2", "10.244.1.0/24"));

  const ipv6 = { clusterCidr: "fd00:10:244::/56", podCidr: "fd00:10:244::/64" };
  const ranges = { clusterCidr: "10.244.0.0/16", podCidr: "10.244.0.0/24", ipv6 };
  await renewPodCidrs({ client: cluster.client, ranges, first: "vm", others: ["vm-2"], steps: { note: () => undefined } });

  const { items } = await cluster.client.list(nodes);
  assert.deepEqual(
    items.map(({ spec }) => spec?.podCIDRs),
    [["10.244.0.0/24", "fd00:10:244::/64"], undefined],
  );
});
