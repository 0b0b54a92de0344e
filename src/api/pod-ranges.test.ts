import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { byFamily, clusterCidrsOf, firstNodeRanges, gatewayOf, ipv6RangeBeside, nodeCidrsOf } from "./pod-ranges.ts";

test("the first node has the first Pod CIDR of the cluster CIDR, with upstream's size of its family", () => {
  deepEqual(firstNodeRanges("10.244.7.0/16"), { clusterCidr: "10.244.0.0/16", podCidr: "10.244.0.0/24" });
  deepEqual(firstNodeRanges("fd00:10:244::/56"), { clusterCidr: "fd00:10:244::/56", podCidr: "fd00:10:244::/64" });
  throws(() => firstNodeRanges("10.244"), /Cannot read "10\.244" as a range/);
});

test("a node's address on the bridge is the first of its Pod CIDR", () => {
  deepEqual(["10.244.3.0/24", "fd00:10:244:3::/64", "10.1.0.128/25"].map(gatewayOf), ["10.244.3.1", "fd00:10:244:3::1", "10.1.0.129"]);
  throws(() => gatewayOf("frob"), /Cannot read "frob"/);
});

test("the IPv6 range beside an IPv4 one is readable and distinct", () => {
  equal(ipv6RangeBeside("10.244.0.0/16"), "fd00:10:244::/56");
  equal(ipv6RangeBeside("10.128.0.0/16"), "fd00:10:128::/56");
});

test("ranges of a dual-stack cluster are listed with the primary family first", () => {
  const ipv4 = firstNodeRanges("10.244.0.0/16");
  const ipv6 = firstNodeRanges("fd00:10:244::/56");
  deepEqual(nodeCidrsOf(ipv4), ["10.244.0.0/24"]);
  deepEqual(nodeCidrsOf({ ...ipv4, ipv6 }), ["10.244.0.0/24", "fd00:10:244::/64"]);
  deepEqual(clusterCidrsOf({ ...ipv4, ipv6, isIpv6First: true }), ["fd00:10:244::/56", "10.244.0.0/16"]);
});

test("values of a list are found by family, and the first decides which is primary", () => {
  deepEqual(byFamily([]), { ipv4: undefined, ipv6: undefined, isIpv6First: false });
  deepEqual(byFamily(["10.0.0.1", "fd00::1"]), { ipv4: "10.0.0.1", ipv6: "fd00::1", isIpv6First: false });
  deepEqual(byFamily(["fd00::1", "10.0.0.1"]), { ipv4: "10.0.0.1", ipv6: "fd00::1", isIpv6First: true });
});
