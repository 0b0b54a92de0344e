/**
 * The ranges of Pods that the flags of `k8ts up` ask for: explicit ones, or those that are chosen, of both families if Services have both.
 * The primary family is the first of Services and Pods alike. Pure.
 */
import { isIpv6 } from "../api/pod-ranges.ts";
import { nodeIpamProblems } from "../config/node-ipam-flags.ts";
import type { PodCidrOptions } from "../kubelet/machine/network/pod-cidr.ts";

export type PodRangeChoice = Pick<PodCidrOptions, "clusterCidrs" | "ipv6">;

export interface RangeFlagValues {
  readonly "cluster-cidr": readonly string[];
  readonly "service-cluster-ip-range": readonly string[];
}

export function podRangesOf(values: RangeFlagValues): PodRangeChoice {
  const [clusterCidrs, services] = [values["cluster-cidr"], values["service-cluster-ip-range"]];
  if (clusterCidrs.length > 0) return { clusterCidrs };
  if (!services.some(isIpv6)) return {};
  return { ipv6: isIpv6(services[0] ?? "") ? "primary" : "secondary" };
}

export function podRangeProblems(values: RangeFlagValues): readonly string[] {
  const [clusterCidrs, services] = [values["cluster-cidr"], values["service-cluster-ip-range"]];
  const [pods] = clusterCidrs;
  if (pods === undefined) return [];
  const sizes = { "node-cidr-mask-size": undefined, "node-cidr-mask-size-ipv4": undefined, "node-cidr-mask-size-ipv6": undefined };
  const ranges = { "allocate-node-cidrs": true, "cluster-cidr": clusterCidrs, "service-cluster-ip-range": services };
  return [
    ...nodeIpamProblems({ ...ranges, ...sizes }),
    ...(clusterCidrs.every(isIpv6) ? ["--cluster-cidr must have an IPv4 range, by which nodes reach each other"] : []),
    // The default range of cluster IPs is one of IPv4.
    ...(isIpv6(pods) !== isIpv6(services[0] ?? "")
      ? ["--cluster-cidr and --service-cluster-ip-range must start with the same IP family, the primary one"]
      : []),
  ];
}
