import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { planPodNetwork, routeMetric, vxlanLinkName, type NodeFacts } from "./plan.ts";

const FACTS: NodeFacts = {
  owner: "a1b2c3",
  address: "192.0.2.1",
  podCidr: "10.244.0.0/24",
  clusterCidr: "10.244.0.0/16",
  bridge: "k8-x",
  vxlanPort: 8_477,
  mode: "auto",
  routes: [
    { destination: "default", gateway: "192.0.2.254", link: "eth0" },
    { destination: "192.0.2.0/24", link: "eth0" },
    { destination: "198.18.0.0/24", link: "k8s-x" },
    { destination: "192.0.2.77", gateway: "192.0.2.254", link: "eth0" },
    { destination: "203.0.113.5", link: "wire0" },
  ],
  mtus: new Map([
    ["eth0", 1_500],
    ["k8s-x", 1_400],
    ["wire0", 1_420],
  ]),
};

const peer = (address: string, podCidr: string) => ({ name: address, address, podCidr });

test("a node on the same segment is a direct route", () => {
  deepEqual(planPodNetwork([peer("192.0.2.2", "10.244.2.0/24")], FACTS), {
    routes: [{ destination: "10.244.2.0/24", gateway: "192.0.2.2", link: "eth0" }],
    tunnels: [],
    links: ["eth0"],
    podMtu: 1_500,
  });
});

test("a node behind a router is reached over vxlan, whose headers make the MTU smaller", () => {
  deepEqual(planPodNetwork([peer("198.51.100.3", "10.244.3.0/24")], FACTS), {
    routes: [{ destination: "10.244.3.0/24", gateway: "10.244.3.0", link: "k8v-a1b2c3" }],
    tunnels: [{ remote: "198.51.100.3", mac: "0a:58:0a:f4:03:00", neighbour: "10.244.3.0" }],
    links: ["k8v-a1b2c3"],
    podMtu: 1_450,
    vxlan: {
      link: "k8v-a1b2c3",
      id: 0x0af400,
      port: 8_477,
      local: "192.0.2.1",
      mac: "0a:58:0a:f4:00:00",
      address: "10.244.0.0/32",
      mtu: 1_450,
    },
  });
});

const PATHS: readonly (readonly [title: string, address: string, mode: NodeFacts["mode"], link: string, mtu: number])[] = [
  ["a segment of its own", "198.18.0.3", "auto", "k8s-x", 1_400],
  ["a host route without gateway", "203.0.113.5", "auto", "wire0", 1_420],
  ["a host route with gateway overrides the segment's", "192.0.2.77", "auto", "k8v-a1b2c3", 1_450],
  ["vxlan is used on a segment if it is required", "192.0.2.2", "vxlan", "k8v-a1b2c3", 1_450],
];

for (const [title, address, mode, link, mtu] of PATHS) {
  test(`link and MTU of a node: ${title}`, () => {
    const { links, podMtu } = planPodNetwork([peer(address, "10.244.9.0/24")], { ...FACTS, mode });
    deepEqual([links, podMtu], [[link], mtu]);
  });
}

test("without other nodes nothing is needed, and Pods have the MTU of the node's link", () => {
  deepEqual(planPodNetwork([], { ...FACTS, mtus: new Map([["eth0", 9_000]]) }), { routes: [], tunnels: [], links: [], podMtu: 9_000 });
  equal(planPodNetwork([], { ...FACTS, routes: [] }).podMtu, 1_500);
});

test("owners have link names that the kernel accepts and metrics of their own", () => {
  equal(vxlanLinkName("zzzzzz").length <= 15, true);
  equal(new Set(["a1b2c3", "a1b2c4", "b1b2c3", "a", "b"].map(routeMetric)).size, 5);
});

const IPV6_FACTS: NodeFacts = {
  ...FACTS,
  hasIpv6: true,
  routes: [
    ...FACTS.routes,
    { destination: "2001:db8::/64", link: "eth0" },
    { destination: "::/0", gateway: "2001:db8::ffff", link: "eth0" },
  ],
};

const dualPeer = (address: string, ipv6Address?: string) => ({
  ...peer(address, "10.244.2.0/24"),
  ipv6: { podCidr: "fd00:10:244:2::/64", ...(ipv6Address === undefined ? {} : { address: ipv6Address }) },
});

test("a dual-stack node on the same segment is a direct route per family", () => {
  deepEqual(planPodNetwork([dualPeer("192.0.2.2", "2001:db8::2")], IPV6_FACTS), {
    routes: [
      { destination: "10.244.2.0/24", gateway: "192.0.2.2", link: "eth0" },
      { destination: "fd00:10:244:2::/64", gateway: "2001:db8::2", link: "eth0" },
    ],
    tunnels: [],
    links: ["eth0"],
    podMtu: 1_500,
  });
});

const TUNNELLED: readonly (readonly [title: string, address: string, ipv6Address: string | undefined, links: readonly string[]])[] = [
  ["its Pods of both families are reached over vxlan, from behind a router", "198.51.100.3", "2001:db8:1::3", ["k8v-a1b2c3"]],
  ["its IPv6 Pods are reached over vxlan, if it has no IPv6 address", "192.0.2.2", undefined, ["eth0", "k8v-a1b2c3"]],
  ["its IPv6 Pods are reached over vxlan, if its IPv6 address is behind a router", "192.0.2.2", "2001:db8:1::3", ["eth0", "k8v-a1b2c3"]],
];

for (const [title, address, ipv6Address, expected] of TUNNELLED) {
  test(`a dual-stack node: ${title}`, () => {
    const { routes, tunnels, links, podMtu } = planPodNetwork([dualPeer(address, ipv6Address)], IPV6_FACTS);
    deepEqual(routes.at(-1), { destination: "fd00:10:244:2::/64", gateway: "fd00:10:244:2::", link: "k8v-a1b2c3" });
    deepEqual(tunnels.at(-1), { remote: address, mac: "0a:58:0a:f4:02:00", neighbour: "fd00:10:244:2::" });
    deepEqual([links, podMtu], [expected, 1_450]);
  });
}

test("a node whose Pods have IPv4 only ignores the IPv6 of others", () => {
  equal(planPodNetwork([dualPeer("192.0.2.2", "2001:db8::2")], FACTS).routes.length, 1);
});
