import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { podRangeProblems, podRangesOf, type PodRangeChoice } from "./pod-range-flags.ts";

const flags = (clusterCidr: string, services = "") => ({
  "cluster-cidr": clusterCidr === "" ? [] : clusterCidr.split(","),
  "service-cluster-ip-range": services === "" ? [] : services.split(","),
});
const [PODS, SERVICES] = ["10.244.0.0/16,fd00:10:244::/56", "10.96.0.0/12,fd00:10:96::/112"];
const reversed = (text: string): string => text.split(",").toReversed().join(",");

const CHOICES: readonly (readonly [title: string, clusterCidr: string, services: string, choice: PodRangeChoice])[] = [
  ["IPv4 without flags", "", "", {}],
  ["IPv4 with an IPv4 range of cluster IPs", "", "10.96.0.0/16", {}],
  ["both families if Services have both", "", SERVICES, { ipv6: "secondary" }],
  ["IPv6 first if Services have it first", "", reversed(SERVICES), { ipv6: "primary" }],
  ["explicit ranges", PODS, SERVICES, { clusterCidrs: PODS.split(",") }],
];

for (const [title, clusterCidr, services, choice] of CHOICES) {
  test(`ranges of Pods: ${title}`, () => {
    deepEqual(podRangesOf(flags(clusterCidr, services)), choice);
    deepEqual(podRangeProblems(flags(clusterCidr, services)), []);
  });
}

const PROBLEMS: readonly (readonly [clusterCidr: string, services: string, expected: RegExp])[] = [
  ["10.244.0.0/16,10.245.0.0/16", "", /^--cluster-cidr must be one range, or one per IP family, is "10\.244\.0\.0\/16,10\.245/],
  ["fd00:10:244::/56", "fd00:10:96::/112", /^--cluster-cidr must have an IPv4 range/],
  ["10.244.0.0/28", "", /^The node CIDR mask size must be from 28 to 32 with the cluster CIDR 10\.244\.0\.0\/28, is 24/],
  [reversed(PODS), SERVICES, /^--cluster-cidr and --service-cluster-ip-range must start with the same IP family/],
  [reversed(PODS), "", /^--cluster-cidr and --service-cluster-ip-range must start with the same IP family/],
];

for (const [clusterCidr, services, expected] of PROBLEMS) {
  test(`--cluster-cidr ${clusterCidr} with cluster IPs of ${services || "the default range"} is refused`, () => {
    match(podRangeProblems(flags(clusterCidr, services))[0] ?? "", expected);
  });
}
