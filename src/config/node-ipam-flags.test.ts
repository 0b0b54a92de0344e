import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { formatCidr } from "../api/machinery/ip/ip-address.ts";
import { parseArguments } from "../cli/framework/flags.ts";
import { clusterIpamArguments, clusterIpamSettings, nodeIpamFlags, nodeIpamProblems, nodeIpamSettings } from "./node-ipam-flags.ts";

const valuesOf = (...words: string[]) => parseArguments({ flags: nodeIpamFlags, arguments: {} }, words).values;

const PROBLEMS: readonly (readonly [words: readonly string[], problems: readonly string[]])[] = [
  [[], []],
  [["--allocate-node-cidrs"], ["--allocate-node-cidrs requires --cluster-cidr"]],
  [["--cluster-cidr=10.244.0.0/16"], ["--cluster-cidr requires --allocate-node-cidrs"]],
  [["--allocate-node-cidrs", "--cluster-cidr=10.244.0.0/16,fd00::/56"], []],
  [
    ["--allocate-node-cidrs", "--cluster-cidr=10.1.0.0/16,10.2.0.0/16"],
    ['--cluster-cidr must be one range, or one per IP family, is "10.1.0.0/16,10.2.0.0/16"'],
  ],
  [
    ["--allocate-node-cidrs", "--cluster-cidr=10.244.0.0/16,fd00::/56", "--node-cidr-mask-size=64"],
    [
      "--node-cidr-mask-size is ambiguous with two cluster CIDRs: use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6",
      "The node CIDR mask size must be from 16 to 32 with the cluster CIDR 10.244.0.0/16, is 64",
    ],
  ],
  [
    ["--allocate-node-cidrs", "--cluster-cidr=fd00::/40"],
    ["The node CIDR mask size must be from 40 to 56 with the cluster CIDR fd00::/40, is 64"],
  ],
  [
    ["--allocate-node-cidrs", "--cluster-cidr=10.244.0.0/25"],
    ["The node CIDR mask size must be from 25 to 32 with the cluster CIDR 10.244.0.0/25, is 24"],
  ],
];

for (const [words, problems] of PROBLEMS) {
  test(`node IPAM flags: ${words.join(" ") || "none"}`, () => deepEqual(nodeIpamProblems(valuesOf(...words)), problems));
}

const shown = ({ nodeIpam }: ReturnType<typeof nodeIpamSettings>) =>
  nodeIpam && {
    ranges: nodeIpam.ranges.map(({ clusterCidr, nodeMaskSize }) => `${formatCidr(clusterCidr)} ${nodeMaskSize}`),
    excluded: nodeIpam.excluded?.map(formatCidr),
  };

test("node IPAM settings have host bits cleared, a mask size per family and the range of cluster IPs", () => {
  const words = ["--allocate-node-cidrs", "--cluster-cidr=10.244.3.0/16,fd00::/56", "--node-cidr-mask-size-ipv4=26"];
  deepEqual(shown(nodeIpamSettings(valuesOf(...words, "--service-cluster-ip-range=10.96.0.0/12"))), {
    ranges: ["10.244.0.0/16 26", "fd00::/56 64"],
    excluded: ["10.96.0.0/12"],
  });
  deepEqual(nodeIpamSettings(valuesOf()), {});
});

test("a cluster whose Pod network k8ts manages assigns all but the first node's CIDR and the range of cluster IPs", () => {
  const serviceClusterIpRange = "10.96.0.0/12,fd00:10:96::/112";
  const ranges = {
    clusterCidrs: ["10.244.0.0/16", "fd00:10:244::/56"],
    firstNodeCidrs: ["10.244.0.0/24", "fd00:10:244::/64"],
    serviceClusterIpRange,
  };
  deepEqual(shown(clusterIpamSettings(ranges)), {
    ranges: ["10.244.0.0/16 24", "fd00:10:244::/56 64"],
    excluded: ["10.244.0.0/24", "fd00:10:244::/64", "10.96.0.0/12", "fd00:10:96::/112"],
  });
  deepEqual(clusterIpamSettings({ ...ranges, clusterCidrs: [] }), {});
  deepEqual(nodeIpamProblems(valuesOf(...clusterIpamArguments(ranges))), []);
});
