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
  ["ClusterFirst asks the cluster", { dnsPolicy: "ClusterFirst" }, OF_CLUSTER],
  ["and is what Pods have that say nothing", {}, OF_CLUSTER],
  ["but in the node's own network the node's servers", { dnsPolicy: "ClusterFirst", hostNetwork: true }, OF_NODE],
  ["unless it says so", { dnsPolicy: "ClusterFirstWithHostNet", hostNetwork: true }, OF_CLUSTER],
  ["Default is as the node", { dnsPolicy: "Default" }, OF_NODE],
  [
    "None is nothing but its own",
    { dnsPolicy: "None", dnsConfig: { nameservers: ["1.1.1.1"] } },
    { servers: ["1.1.1.1"], searches: [], options: [] },
  ],
  [
    "its own is added, once, and options of a name are replaced",
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

test("without a cluster's DNS, Pods resolve as the node does, and somebody is told", () => {
  const missing: DnsOptions = { ...node.dns, clusterDns: [] };
  const nodeMessage =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';

  assert.deepEqual(dnsOf(aPod(), missing), {
    dns: OF_NODE,
    warnings: [{ reason: "MissingClusterDNS", message: `pod: "web-0_shop(u-1)". ${nodeMessage}`, nodeMessage }],
  });
});

test("a node without a resolver of its own sends its Pods to itself", () => {
  const { clusterDns, clusterDomain } = node.dns;
  const { dns } = dnsOf(aPod({ dnsPolicy: "Default" }), { clusterDns, clusterDomain }, ["192.168.0.7", "fd00::1"]);
  assert.deepEqual(dns, { servers: ["127.0.0.1", "::1"], searches: ["."], options: [] });
});

test("what resolvers cannot take is left out, and somebody is told what is left", () => {
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

test("a search line takes 2048 characters, and no domain over 253", () => {
  const wide = Array.from({ length: 20 }, (_, index) => `${String(index).padStart(200, "x")}`);
  const searchesOf = (searches: readonly string[]) => dnsOf(aPod({ dnsPolicy: "None", dnsConfig: { searches } }), node.dns).dns.searches;

  assert.deepEqual(searchesOf(wide), wide.slice(0, 10));
  assert.deepEqual(searchesOf(["a".repeat(254), "b"]), ["b"]);
});

test("a resolv.conf is read as resolvers read it", () => {
  const text = `# written by somebody
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
