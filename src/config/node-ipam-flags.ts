/** Flags of the node IPAM controller, with upstream's names: the cluster CIDRs and the size of each node's part of them. */
import { formatCidr, networkOf, parseCidr, type Cidr } from "../api/machinery/ip/ip-address.ts";
import { NODE_CIDR_MASK_SIZE } from "../api/pod-ranges.ts";
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { NODE_CIDR_BITS_MAX, type NodeCidrRange } from "../controllers/node-ipam/node-cidr-ranges.ts";
import type { NodeIpamControllerSettings } from "../controllers/node-ipam/node-ipam-controller.ts";

export const cidrExpected = (text: string): string | undefined =>
  parseCidr(text) === undefined ? "a range such as 10.244.0.0/16 or fd00:10:244::/56" : undefined;

export const nodeIpamFlags = {
  "allocate-node-cidrs": {
    type: "boolean",
    doc: "Assign Pod CIDRs out of --cluster-cidr to nodes that have none.",
  },
  "cluster-cidr": {
    type: "list",
    placeholder: "CIDR,...",
    doc: "Range of all Pods' addresses; for dual stack one per IP family. Requires --allocate-node-cidrs.",
    expects: cidrExpected,
  },
  "service-cluster-ip-range": {
    type: "list",
    placeholder: "CIDR,...",
    doc: "Ranges of cluster IPs, which are never assigned to nodes.",
    expects: cidrExpected,
  },
  "node-cidr-mask-size": {
    type: "number",
    min: 1,
    max: 128,
    placeholder: "BITS",
    doc: "Prefix length of each node's Pod CIDR. For dual stack use --node-cidr-mask-size-ipv4 and -ipv6. Default: 24 for IPv4, 64 for IPv6.",
  },
  "node-cidr-mask-size-ipv4": {
    type: "number",
    min: 1,
    max: 32,
    placeholder: "BITS",
    doc: "Prefix length of each node's IPv4 Pod CIDR. Default: 24.",
  },
  "node-cidr-mask-size-ipv6": {
    type: "number",
    min: 1,
    max: 128,
    placeholder: "BITS",
    doc: "Prefix length of each node's IPv6 Pod CIDR. Default: 64.",
  },
} as const satisfies FlagSet;

export type NodeIpamFlagValues = FlagValues<typeof nodeIpamFlags>;

export function nodeIpamProblems(values: NodeIpamFlagValues): readonly string[] {
  const texts = values["cluster-cidr"];
  if (!values["allocate-node-cidrs"]) return texts.length === 0 ? [] : ["--cluster-cidr requires --allocate-node-cidrs"];
  if (texts.length === 0) return ["--allocate-node-cidrs requires --cluster-cidr"];
  const ranges = rangesOf(values);
  const families = new Set(ranges.map(({ clusterCidr }) => clusterCidr.address.family));
  if (ranges.length > 2 || families.size !== ranges.length)
    return [`--cluster-cidr must be one range, or one per IP family, is "${texts.join(",")}"`];
  const both =
    ranges.length === 2 && values["node-cidr-mask-size"] !== undefined
      ? ["--node-cidr-mask-size is ambiguous with two cluster CIDRs: use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6"]
      : [];
  return [...both, ...ranges.flatMap(rangeProblems)];
}

function rangeProblems({ clusterCidr, nodeMaskSize }: NodeCidrRange): readonly string[] {
  const { prefixLength } = clusterCidr;
  const max = Math.min(prefixLength + NODE_CIDR_BITS_MAX, clusterCidr.address.family === 4 ? 32 : 128);
  if (nodeMaskSize >= prefixLength && nodeMaskSize <= max) return [];
  return [
    `The node CIDR mask size must be from ${prefixLength} to ${max} with the cluster CIDR ${formatCidr(clusterCidr)}, is ${nodeMaskSize}`,
  ];
}

function rangesOf(values: NodeIpamFlagValues): readonly NodeCidrRange[] {
  return values["cluster-cidr"].flatMap((text) => {
    const clusterCidr = parseCidr(text);
    if (clusterCidr === undefined) return [];
    const { family } = clusterCidr.address;
    const given = values[`node-cidr-mask-size-ipv${family}`] ?? values["node-cidr-mask-size"];
    return [{ clusterCidr: networkOf(clusterCidr), nodeMaskSize: given ?? NODE_CIDR_MASK_SIZE[family] }];
  });
}

/** Only for values without problems. */
export function nodeIpamSettings(values: NodeIpamFlagValues): NodeIpamControllerSettings {
  if (!values["allocate-node-cidrs"]) return {};
  return { nodeIpam: { ranges: rangesOf(values), excluded: parsedRanges(values["service-cluster-ip-range"]) } };
}

function parsedRanges(texts: readonly string[]): readonly Cidr[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}

export interface ClusterRanges {
  /** "10.244.0.0/16", or one per IP family, the primary one first. Empty: the Pod network is not managed by k8ts. */
  readonly clusterCidrs: readonly string[];
  /** Of the node whose CIDRs are chosen before there is an API server, and so never assigned to another. */
  readonly firstNodeCidrs: readonly string[];
  /** "10.96.0.0/12", or one per IP family, separated by a comma. */
  readonly serviceClusterIpRange: string;
}

/** Settings of a cluster whose Pod network k8ts manages. */
export function clusterIpamSettings({ clusterCidrs, firstNodeCidrs, serviceClusterIpRange }: ClusterRanges): NodeIpamControllerSettings {
  const ranges = parsedRanges(clusterCidrs).map((clusterCidr) => ({
    clusterCidr,
    nodeMaskSize: NODE_CIDR_MASK_SIZE[clusterCidr.address.family],
  }));
  if (ranges.length === 0) return {};
  return { nodeIpam: { ranges, excluded: [...parsedRanges(firstNodeCidrs), ...parsedRanges(serviceClusterIpRange.split(","))] } };
}

/** The same as flags of a separate controller manager. The first node's CIDRs are not among them: its Node exists before that starts. */
export function clusterIpamArguments({ clusterCidrs, serviceClusterIpRange }: Omit<ClusterRanges, "firstNodeCidrs">): readonly string[] {
  if (clusterCidrs.length === 0) return [];
  return ["--allocate-node-cidrs", `--cluster-cidr=${clusterCidrs.join(",")}`, `--service-cluster-ip-range=${serviceClusterIpRange}`];
}
