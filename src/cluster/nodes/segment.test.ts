import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { freeIndexes } from "./node-files.ts";
import {
  chooseSegment,
  nodeAddress,
  nodeIpv6Address,
  nodeLink,
  nodeNamespace,
  segmentBridge,
  segmentGateway,
  segmentIpv6Range,
  segmentRules,
} from "./segment.ts";

const SEGMENTS: readonly (readonly [title: string, taken: readonly string[], kept: string | undefined, chosen: string | undefined])[] = [
  ["the first one", ["0.0.0.0/0", "10.244.0.0/16"], undefined, "198.18.0.0/24"],
  ["the next after those of other clusters", ["198.18.0.0/24", "198.18.1.128/25"], undefined, "198.18.2.0/24"],
  ["the kept one", ["198.18.0.0/24"], "198.19.7.0/24", "198.19.7.0/24"],
  ["another than a kept one in use", ["198.19.0.0/16"], "198.19.7.0/24", "198.18.0.0/24"],
  ["another than a kept one that is no candidate", [], "10.0.0.0/8", "198.18.0.0/24"],
  ["none on a machine that uses all", ["198.18.0.0/15"], undefined, undefined],
];

for (const [title, taken, kept, chosen] of SEGMENTS) {
  test(`range of the segment: ${title}`, () => equal(chooseSegment(taken, kept), chosen));
}

test("names of the segment fit the kernel's limits and carry the owner", () => {
  deepEqual(
    [segmentBridge("a1b2c3"), nodeLink("a1b2c3", 254), nodeNamespace("a1b2c3", 2)],
    ["k8s-a1b2c3", "k8n254-a1b2c3", "k8ts-a1b2c3-2"],
  );
  equal(nodeLink("a1b2c3", 254).length <= 15, true);
});

test("this machine has the first address of the segment, nodes those of their index", () => {
  const segment = { cidr: "198.18.3.0/24" };
  deepEqual([segmentGateway(segment), nodeAddress(segment, 2), nodeAddress(segment, 254)], ["198.18.3.1", "198.18.3.2", "198.18.3.254"]);
});

test("IPv6 addresses of the segment derive from its range", () => {
  const segment = { cidr: "198.18.3.0/24" };
  deepEqual(
    [segmentIpv6Range(segment), nodeIpv6Address(segment, 1), nodeIpv6Address(segment, 254)],
    ["fd00:198:18:4::/64", "fd00:198:18:4::1", "fd00:198:18:4::fe"],
  );
});

test("only traffic of nodes that leaves the cluster is masqueraded", () => {
  deepEqual(segmentRules("a1", "198.18.0.0/24", "10.244.0.0/16")[0], [
    "nat",
    "POSTROUTING",
    "-s 198.18.0.0/24 ! -d 10.244.0.0/16 ! -o k8s-a1 -m comment --comment k8ts-nodes:a1 -j MASQUERADE",
  ]);
});

test("free indexes are the lowest, from 2 on, and never more than there are addresses", () => {
  deepEqual(freeIndexes([{ index: 2 }, { index: 4 }], 3), [3, 5, 6]);
  equal(freeIndexes([], 1_000).length, 253);
});
