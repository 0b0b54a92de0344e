import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { batchesFor, parseKernel, type OwnState } from "./kernel-state.ts";
import { routeMetric, type Plan } from "./plan.ts";

const OWNER = "a1b2c3";
const METRIC = routeMetric(OWNER);

const PLAN: Plan = {
  routes: [
    { destination: "10.244.2.0/24", gateway: "192.0.2.2", link: "eth0" },
    { destination: "10.244.3.0/24", gateway: "10.244.3.0", link: "k8v-a1b2c3" },
  ],
  tunnels: [{ remote: "198.51.100.3", mac: "0a:58:0a:f4:03:00", neighbour: "10.244.3.0" }],
  links: ["eth0", "k8v-a1b2c3"],
  vxlan: {
    link: "k8v-a1b2c3",
    id: 717_824,
    port: 8_477,
    local: "192.0.2.1",
    mac: "0a:58:0a:f4:00:00",
    address: "10.244.0.0/32",
    mtu: 1_450,
  },
};

const LISTED = {
  links: [
    { ifname: "eth0", mtu: 1_500 },
    {
      ifname: "k8v-a1b2c3",
      mtu: 1_450,
      flags: ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
      address: "0a:58:0a:f4:00:00",
      addr_info: [{ family: "inet", local: "10.244.0.0", prefixlen: 32 }],
      linkinfo: { info_kind: "vxlan", info_data: { id: 717_824, local: "192.0.2.1", port: 8_477, learning: false } },
    },
  ],
  routes: [
    { dst: "default", gateway: "192.0.2.254", dev: "eth0" },
    { dst: "10.244.2.0/24", gateway: "192.0.2.2", dev: "eth0", protocol: "158", metric: METRIC },
    { dst: "10.244.3.0/24", gateway: "10.244.3.0", dev: "k8v-a1b2c3", protocol: "158", metric: METRIC },
    { dst: "10.245.1.0/24", gateway: "192.0.2.9", dev: "eth0", protocol: "158", metric: METRIC + 1 },
  ],
  neighbours: [{ dst: "10.244.3.0", lladdr: "0a:58:0a:f4:03:00", state: ["PERMANENT"] }],
  forwarding: [{ mac: "0a:58:0a:f4:03:00", dst: "198.51.100.3", state: "permanent" }],
};

test("the kernel's state as planned needs no command, and routes of other owners are left alone", () => {
  const kernel = parseKernel(OWNER, LISTED);
  deepEqual(batchesFor(OWNER, kernel, PLAN), { ip: [], bridge: [] });
  deepEqual(kernel.routes, [{ destination: "default", gateway: "192.0.2.254", link: "eth0" }]);
});

const NOTHING: OwnState = { routes: [], neighbours: [], forwarding: [] };
const routeLine = (verb: string, route: string) =>
  `route ${verb} ${route} protocol 158 metric ${METRIC}${verb === "replace" ? " onlink" : ""}`;

test("an empty kernel gets the link before its entries and routes", () => {
  deepEqual(batchesFor(OWNER, { own: NOTHING }, PLAN), {
    ip: [
      "link add name k8v-a1b2c3 type vxlan id 717824 dstport 8477 local 192.0.2.1 nolearning",
      "link set dev k8v-a1b2c3 address 0a:58:0a:f4:00:00",
      "link set dev k8v-a1b2c3 mtu 1450",
      "address flush dev k8v-a1b2c3",
      "address add 10.244.0.0/32 dev k8v-a1b2c3",
      "link set dev k8v-a1b2c3 up",
      "neighbour replace 10.244.3.0 lladdr 0a:58:0a:f4:03:00 dev k8v-a1b2c3 nud permanent",
      routeLine("replace", "10.244.2.0/24 via 192.0.2.2 dev eth0"),
      routeLine("replace", "10.244.3.0/24 via 10.244.3.0 dev k8v-a1b2c3"),
    ],
    bridge: ["fdb replace 0a:58:0a:f4:03:00 dev k8v-a1b2c3 dst 198.51.100.3 self permanent"],
  });
});

test("a node that left is removed, and one with another address is replaced", () => {
  const { own } = parseKernel(OWNER, LISTED);
  const moved = { ...PLAN, routes: PLAN.routes.slice(1), tunnels: [{ ...PLAN.tunnels[0]!, remote: "198.51.100.4" }] };
  deepEqual(batchesFor(OWNER, { own }, moved), {
    ip: [routeLine("delete", "10.244.2.0/24 via 192.0.2.2 dev eth0")],
    bridge: [
      "fdb delete 0a:58:0a:f4:03:00 dev k8v-a1b2c3 dst 198.51.100.3 self",
      "fdb replace 0a:58:0a:f4:03:00 dev k8v-a1b2c3 dst 198.51.100.4 self permanent",
    ],
  });
});

test("a link with another local address is created again with all its entries, and nothing of the old one is deleted twice", () => {
  const { own } = parseKernel(OWNER, LISTED);
  const { ip, bridge } = batchesFor(OWNER, { own }, { ...PLAN, vxlan: { ...PLAN.vxlan!, local: "192.0.2.7" } });
  deepEqual([ip[0], ip.length, bridge.length], ["link delete dev k8v-a1b2c3", 9, 1]);
  deepEqual(
    ip.filter((line) => line.startsWith("route")),
    [routeLine("replace", "10.244.3.0/24 via 10.244.3.0 dev k8v-a1b2c3")],
  );
});

test("cleanup deletes the link and the routes of the owner only", () => {
  const { own } = parseKernel(OWNER, LISTED);
  deepEqual(batchesFor(OWNER, { own }, { routes: [], tunnels: [], links: [] }), {
    ip: [routeLine("delete", "10.244.2.0/24 via 192.0.2.2 dev eth0"), "link delete dev k8v-a1b2c3"],
    bridge: [],
  });
});

test("a node whose Pods of both families are tunnelled has a neighbour per family and one forwarding entry", () => {
  const [tunnel] = PLAN.tunnels;
  const ipv6 = { destination: "fd00:10:244:3::/64", gateway: "fd00:10:244:3::", link: "k8v-a1b2c3" };
  const plan: Plan = {
    ...PLAN,
    routes: [...PLAN.routes, ipv6],
    tunnels: [...PLAN.tunnels, { ...tunnel!, neighbour: "fd00:10:244:3::" }],
  };

  deepEqual(batchesFor(OWNER, parseKernel(OWNER, LISTED), plan), {
    ip: [
      "neighbour replace fd00:10:244:3:: lladdr 0a:58:0a:f4:03:00 dev k8v-a1b2c3 nud permanent",
      routeLine("replace", "fd00:10:244:3::/64 via fd00:10:244:3:: dev k8v-a1b2c3"),
    ],
    bridge: [],
  });
});
