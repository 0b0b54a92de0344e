import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../api/generated/core/v1.ts";
import type { DnsRun } from "../contracts/container-run.ts";
import { dnsOf, parseResolvConf } from "./dns.ts";
import type { DnsOptions } from "./node-view.ts";
import { aPod, node } from "./testing/views.ts";

const OF_NODE: DnsRun = { servers: ["9.9.9.9"], searches: ["home.arpa"], options: ["rotate"] };
const OF_CLUSTER: DnsRun = {
  servers: ["10.96.0.10"],
  searches: ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "home.arpa"],
  options: ["ndots:5"],
};

const rows: readonly (readonly [claim: string, spec: Partial<PodSpec>, dns: DnsRun])[] = [
  ["ClusterFirst uses the cluster's DNS", { dnsPolicy: "ClusterFirst" }, OF_CLUSTER],
  ["ClusterFirst is the default policy", {}, OF_CLUSTER],
  ["ClusterFirst with hostNetwork uses the node's servers", { dnsPolicy: "ClusterFirst", hostNetwork: true }, OF_NODE],
  [
    "ClusterFirstWithHostNet with hostNetwork uses the cluster's DNS",
    { dnsPolicy: "ClusterFirstWithHostNet", hostNetwork: true },
    OF_CLUSTER,
  ],
  ["Default uses the node's resolver", { dnsPolicy: "Default" }, OF_NODE],
  [
    "None uses only dnsConfig",
    { dnsPolicy: "None", dnsConfig: { nameservers: ["1.1.1.1"] } },
    { servers: ["1.1.1.1"], searches: [], options: [] },
  ],
  [
    "dnsConfig is merged without duplicates, and options of the same name are replaced",
    {
      dnsConfig: {
        nameservers: ["1.1.1.1", "10.96.0.10"],
        searches: ["extra.example", "cluster.local"],
        options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
      },
    },
    { servers: ["10.96.0.10", "1.1.1.1"], searches: [...OF_CLUSTER.searches, "extra.example"], options: ["ndots:2", "edns0"] },
  ],
];

for (const [claim, spec, dns] of rows) {
  test(`DNS: ${claim}`, () => {
    assert.deepEqual(dnsOf(aPod(spec), node.dns), { dns, warnings: [] });
  });
}

test("without cluster DNS, ClusterFirst Pods use the node's resolver and a warning is emitted", () => {
  const missing: DnsOptions = { ...node.dns, clusterDns: [] };
  const nodeMessage =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';

  assert.deepEqual(dnsOf(aPod(), missing), {
    dns: OF_NODE,
    warnings: [{ reason: "MissingClusterDNS", message: `pod: "web-0_shop(u-1)". ${nodeMessage}`, nodeMessage }],
  });
});

test("on a node without a resolv.conf, Pods get the loopback as nameserver", () => {
  const { clusterDns, clusterDomain } = node.dns;
  const { dns } = dnsOf(aPod({ dnsPolicy: "Default" }), { clusterDns, clusterDomain }, ["192.168.0.7", "fd00::1"]);
  assert.deepEqual(dns, { servers: ["127.0.0.1", "::1"], searches: ["."], options: [] });
});

test("nameservers and search domains over the resolver limits are dropped with a warning", () => {
  const searches = Array.from({ length: 33 }, (_, index) => `d${index}.example`);
  const nameservers = ["1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"];
  const { dns, warnings } = dnsOf(aPod({ dnsPolicy: "None", dnsConfig: { nameservers, searches } }), node.dns);

  assert.deepEqual(dns, { servers: nameservers.slice(0, 3), searches: searches.slice(0, 32), options: [] });
  assert.deepEqual(warnings, [
    {
      reason: "DNSConfigForming",
      message:
        "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 2.2.2.2 3.3.3.3",
    },
    {
      reason: "DNSConfigForming",
      message: `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.slice(0, 32).join(" ")}`,
    },
  ]);
});

test("a search line is limited to 2048 characters, a domain to 253", () => {
  const wide = Array.from({ length: 20 }, (_, index) => `${String(index).padStart(200, "x")}`);
  const searchesOf = (searches: readonly string[]) => dnsOf(aPod({ dnsPolicy: "None", dnsConfig: { searches } }), node.dns).dns.searches;

  assert.deepEqual(searchesOf(wide), wide.slice(0, 10));
  assert.deepEqual(searchesOf(["a".repeat(254), "b"]), ["b"]);
});

test("parseResolvConf follows the rules of resolvers", () => {
  const text = `# written by hand
nameserver 9.9.9.9
  nameserver   fd00::53
nameserver
search old.example
search a.example. b.example .
options ndots:1 rotate
options ndots:3
domain ignored
`;
  assert.deepEqual(parseResolvConf(text), {
    servers: ["9.9.9.9", "fd00::53"],
    searches: ["a.example", "b.example"],
    options: ["ndots:3", "rotate"],
  });
});
