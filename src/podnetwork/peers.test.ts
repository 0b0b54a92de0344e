import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../api/generated/core/v1.ts";
import { peersOf } from "./peers.ts";

const OWN = { nodeName: "one", address: "192.0.2.1", podCidr: "10.244.0.0/24", clusterCidr: "10.244.0.0/16" };

interface Given {
  readonly name: string;
  readonly cidrs?: readonly string[];
  readonly addresses?: readonly string[];
  readonly created?: string;
}

function node({ name, cidrs = [], addresses = [], created = "2026-01-01T00:00:00Z" }: Given): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, creationTimestamp: created },
    spec: { podCIDRs: [...cidrs] },
    status: { addresses: addresses.map((address) => ({ type: "InternalIP", address })) },
  };
}

test("other nodes with address and Pod CIDR are peers, ordered by name", () => {
  const found = peersOf(
    [
      node({ name: "three", cidrs: ["fd00::/64", "10.244.3.0/24"], addresses: ["fd00::3", "192.0.2.3"] }),
      node({ name: "two", cidrs: ["10.244.2.0/24"], addresses: ["192.0.2.2", "192.0.2.22"] }),
      node({ name: "one", cidrs: ["10.244.0.0/24"], addresses: ["192.0.2.1"] }),
      node({ name: "without-cidr", addresses: ["192.0.2.4"] }),
      node({ name: "without-address", cidrs: ["10.244.4.0/24"] }),
    ],
    OWN,
  );
  deepEqual(found.peers, [
    { name: "three", address: "192.0.2.3", podCidr: "10.244.3.0/24" },
    { name: "two", address: "192.0.2.2", podCidr: "10.244.2.0/24" },
  ]);
  deepEqual([...found.problems], []);
});

test("a Pod CIDR outside of the cluster's, of this node or of an older node is not used", () => {
  const addresses = ["192.0.2.9"];
  const { peers, problems } = peersOf(
    [
      node({ name: "everything", cidrs: ["0.0.0.0/0"], addresses }),
      node({ name: "outside", cidrs: ["10.1.0.0/24"], addresses }),
      node({ name: "mine", cidrs: ["10.244.0.128/25"], addresses }),
      node({ name: "late", cidrs: ["10.244.7.0/24"], addresses, created: "2026-01-02T00:00:00Z" }),
      node({ name: "zearly", cidrs: ["10.244.7.0/24"], addresses }),
    ],
    OWN,
  );
  deepEqual(
    peers.map(({ name }) => name),
    ["zearly"],
  );
  deepEqual(
    [...problems].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [
      ["everything", "its Pod CIDR 0.0.0.0/0 is not within 10.244.0.0/16"],
      ["late", "its Pod CIDR 10.244.7.0/24 overlaps that of node zearly"],
      ["mine", "its Pod CIDR 10.244.0.128/25 overlaps that of node one"],
      ["outside", "its Pod CIDR 10.1.0.0/24 is not within 10.244.0.0/16"],
    ],
  );
});

test("an address that no route can go to, or that is this node's, is not used", () => {
  const addresses = ["127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1"];
  const { peers, problems } = peersOf(
    addresses.map((address, index) => node({ name: `node-${index}`, cidrs: [`10.244.${index + 1}.0/24`], addresses: [address] })),
    OWN,
  );
  deepEqual(peers, []);
  deepEqual(
    [...problems.values()],
    [
      "its address 127.0.0.1 is not that of a machine",
      "its address 0.0.0.0 is not that of a machine",
      "its address 224.0.0.1 is not that of a machine",
      "its address 255.255.255.255 is not that of a machine",
      "its address 192.0.2.1 is that of this node",
    ],
  );
});

const DUAL_OWN = { ...OWN, ipv6: { podCidr: "fd00:10:244::/64", clusterCidr: "fd00:10:244::/56", address: "2001:db8::1" } };

test("dual-stack nodes are peers of both families; one with a wrong IPv6 range or address of IPv4 only", () => {
  const { peers, problems } = peersOf(
    [
      node({ name: "two", cidrs: ["fd00:10:244:2::/64", "10.244.2.0/24"], addresses: ["192.0.2.2", "2001:db8::2"] }),
      node({ name: "three", cidrs: ["10.244.3.0/24", "fd00:10:244:3::/64"], addresses: ["192.0.2.3"] }),
      node({ name: "four", cidrs: ["10.244.4.0/24"], addresses: ["192.0.2.4", "2001:db8::4"] }),
      node({ name: "outside", cidrs: ["10.244.5.0/24", "2001:db8:5::/64"], addresses: ["192.0.2.5"] }),
      node({ name: "mine", cidrs: ["10.244.6.0/24", "fd00:10:244:6::/64"], addresses: ["192.0.2.6", "2001:db8::1"] }),
      node({ name: "same", cidrs: ["10.244.7.0/24", "fd00:10:244:2::/64"], addresses: ["192.0.2.7"], created: "2026-01-02T00:00:00Z" }),
      node({ name: "link-local", cidrs: ["10.244.8.0/24", "fd00:10:244:8::/64"], addresses: ["192.0.2.8", "fe80::8"] }),
    ],
    DUAL_OWN,
  );
  deepEqual(
    peers.map(({ name, ipv6 }) => [name, ipv6]),
    [
      ["four", undefined],
      ["link-local", undefined],
      ["mine", undefined],
      ["outside", undefined],
      ["same", undefined],
      ["three", { podCidr: "fd00:10:244:3::/64" }],
      ["two", { podCidr: "fd00:10:244:2::/64", address: "2001:db8::2" }],
    ],
  );
  deepEqual(
    [...problems].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [
      ["link-local", "its address fe80::8 is not that of a machine"],
      ["mine", "its address 2001:db8::1 is that of this node"],
      ["outside", "its Pod CIDR 2001:db8:5::/64 is not within fd00:10:244::/56"],
      ["same", "its Pod CIDR fd00:10:244:2::/64 overlaps that of node two"],
    ],
  );
});
