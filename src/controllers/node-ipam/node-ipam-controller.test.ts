import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { parseCidr, type Cidr } from "../../api/machinery/ip/ip-address.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { nodeIpamController } from "./node-ipam-controller.ts";

const node = (name: string, spec: object = {}) => ({ apiVersion: "v1" as const, kind: "Node" as const, metadata: { name }, spec });
const cidr = (text: string): Cidr => parseCidr(text) ?? assert.fail(text);
const controller = (clusterCidr: string) =>
  nodeIpamController({ nodeIpam: { ranges: [{ clusterCidr: cidr(clusterCidr), nodeMaskSize: 24 }] } });

test("a Node without Pod CIDR gets one that no other Node has", async () => {
  await using cluster = await given(node("one", { podCIDR: "10.244.0.0/24" }), node("two"));

  await cluster.reconcile(controller("10.244.0.0/16"), "two");

  const { spec } = await cluster.client.get(nodes, { name: "two" });
  assert.deepEqual([spec?.podCIDR, spec?.podCIDRs], ["10.244.1.0/24", ["10.244.1.0/24"]]);
});

test("a Node keeps the Pod CIDR that it has, and without settings none is assigned", async () => {
  await using cluster = await given(node("one", { podCIDR: "10.1.0.0/24" }), node("two"));

  await cluster.reconcile(controller("10.244.0.0/16"), "one");
  await cluster.reconcile(nodeIpamController(), "two");

  assert.deepEqual(cluster.actions, []);
});

test("a Node waits with the event CIDRNotAvailable until another is deleted", async () => {
  await using cluster = await given(node("one"));
  await cluster.run(controller("10.244.5.0/24"));
  await cluster.settled();
  await cluster.client.create(nodes, node("two"));
  await cluster.settled();
  assert.deepEqual(cluster.events, ["Normal CIDRNotAvailable Node/two Node two status is now: CIDRNotAvailable"]);

  await cluster.client.delete(nodes, { name: "one" });
  await cluster.settled();

  assert.equal((await cluster.client.get(nodes, { name: "two" })).spec?.podCIDR, "10.244.5.0/24");
});

test("after a crash at any step every Node has a Pod CIDR of its own", () =>
  everyStepMayBeTheLast(
    {
      objects: [node("one", { podCIDR: "10.244.0.0/24" }), node("two")],
      controllers: () => [controller("10.244.0.0/16")],
      restMs: 20_000,
      steps: [
        async ({ client }) => void (await client.create(nodes, node("three"))),
        async ({ client }) => void (await client.delete(nodes, { name: "one" })),
        async ({ client }) => void (await client.create(nodes, node("four"))),
      ],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));
