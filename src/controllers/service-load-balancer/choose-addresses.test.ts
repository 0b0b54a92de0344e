import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { withAnnouncer } from "../../api/core/v1/service/announcer.ts";
import type { Node, Service } from "../../api/generated/core/v1.ts";
import { parseCidr, type Cidr } from "../../api/machinery/ip/ip-address.ts";
import { chooseAddresses, isLoadBalanced, type AddressChoice, type AddressSource } from "./choose-addresses.ts";

const node = (
  name: string,
  address: string,
  { ready = true, labels = {}, since }: { ready?: boolean; labels?: Record<string, string>; since?: string } = {},
): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  status: {
    addresses: [{ type: "InternalIP", address }],
    conditions: [{ type: "Ready", status: ready ? "True" : "False", ...(since === undefined ? {} : { lastTransitionTime: since }) }],
  },
});

const service = (
  name: string,
  port: number,
  more: { ip?: string; requested?: string; created?: string; class?: string; held?: number; announcer?: string } = {},
): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name,
    namespace: "default",
    creationTimestamp: more.created ?? "2026-01-01T00:00:00Z",
  },
  spec: {
    type: "LoadBalancer",
    ports: [{ port, protocol: "TCP" }],
    ...(more.requested === undefined ? {} : { loadBalancerIP: more.requested }),
    ...(more.class === undefined ? {} : { loadBalancerClass: more.class }),
  },
  ...(more.ip === undefined
    ? {}
    : {
        status: {
          ...(more.announcer === undefined
            ? {}
            : { conditions: withAnnouncer({ apiVersion: "v1", kind: "Service", metadata: { name } }, { node: more.announcer, nowMs: 0 }) }),
          loadBalancer: {
            ingress: [{ ip: more.ip, ...(more.held === undefined ? {} : { ports: [{ port: more.held, protocol: "TCP" as const }] }) }],
          },
        },
      }),
});

const range = parseCidr("203.0.113.8/31") as Cidr;
const [first, second] = [node("a", "192.0.2.1"), node("b", "192.0.2.2")];
const small = parseCidr("203.0.113.8/30") as Cidr;
const NOW_MS = Date.parse("2026-03-01T00:01:00Z");
const chosen = (...addresses: string[]): AddressChoice => ({ is: "chosen", addresses });
const announced = (address: string, announcedBy: string): AddressChoice => ({ is: "chosen", addresses: [address], announcedBy });
const taken = () => "process 7 (sshd)";
const down = (since: string) => node("b", "192.0.2.2", { ready: false, since });
const many = Array.from({ length: 70 }, (_, index) => node(`n${index + 10}`, `192.0.2.${index + 10}`));
const none = (why: string, mayChange = false): AddressChoice => ({ is: "none", why, mayChange });

const dualNode = (name: string, ...addresses: string[]): Node => {
  const single = node(name, "");
  return { ...single, status: { ...single.status, addresses: addresses.map((address) => ({ type: "InternalIP", address })) } };
};
const families = (...ipFamilies: ("IPv4" | "IPv6")[]): Service => {
  const web = service("web", 80);
  return { ...web, spec: { ...web.spec, ipFamilies } };
};
const dualNodes = [dualNode("a", "192.0.2.1", "2001:db8::1"), dualNode("b", "192.0.2.2")];

const cases: readonly [title: string, Service, Partial<AddressSource>, AddressChoice][] = [
  ["all ready nodes by name", service("web", 80), { nodes: [second, first] }, chosen("192.0.2.1", "192.0.2.2")],
  ["of dual-stack nodes that of the Service's family", families("IPv4"), { nodes: dualNodes }, chosen("192.0.2.1", "192.0.2.2")],
  ["nodes without an address of the Service's family are left out", families("IPv6"), { nodes: dualNodes }, chosen("2001:db8::1")],
  [
    "addresses of both families of a dual-stack Service",
    families("IPv4", "IPv6"),
    { nodes: dualNodes },
    chosen("192.0.2.1", "2001:db8::1", "192.0.2.2"),
  ],
  [
    "none of a range of another family",
    families("IPv6"),
    { nodes: dualNodes, range },
    none("--load-balancer-range 203.0.113.8/31 has no addresses of IPv6; add IPv4 to spec.ipFamilies"),
  ],
  [
    "a node that is not ready is left out",
    service("web", 80),
    { nodes: [first, node("b", "192.0.2.2", { ready: false })] },
    chosen("192.0.2.1"),
  ],
  [
    "a node with the exclusion label is left out",
    service("web", 80),
    { nodes: [first, node("b", "192.0.2.2", { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } })] },
    chosen("192.0.2.1"),
  ],
  ["without ready nodes there is no address", service("web", 80), { nodes: [] }, none("no node is ready")],
  [
    "a requested node address is the only one",
    service("web", 80, { requested: "192.0.2.2" }),
    { nodes: [first, second] },
    chosen("192.0.2.2"),
  ],
  [
    "a requested address that no node has is refused",
    service("web", 80, { requested: "192.0.2.9" }),
    { nodes: [first] },
    none("loadBalancerIP 192.0.2.9 is not the address of a ready node"),
  ],
  [
    "a port that another Service has is not shared",
    service("web", 80),
    { nodes: [first], others: [service("other", 80, { ip: "192.0.2.1" })] },
    none("port 80/TCP of 192.0.2.1 is used by the Service default/other", true),
  ],
  [
    "another port of the address is free",
    service("web", 80),
    { nodes: [first], others: [service("other", 81, { ip: "192.0.2.1" })] },
    chosen("192.0.2.1"),
  ],
  [
    "a Service keeps its address against a newer one",
    service("web", 80, { ip: "192.0.2.1" }),
    { nodes: [first], others: [service("other", 80, { ip: "192.0.2.1", created: "2026-02-01T00:00:00Z" })] },
    chosen("192.0.2.1"),
  ],
  [
    "of two Services with the address the older one keeps it",
    service("web", 80, { ip: "192.0.2.1" }),
    { nodes: [first], others: [service("other", 80, { ip: "192.0.2.1", created: "2025-02-01T00:00:00Z" })] },
    none("port 80/TCP of 192.0.2.1 is used by the Service default/other", true),
  ],
  [
    "a port of this machine in use is refused",
    service("web", 22),
    { nodes: [first], portUser: () => "process 7 (sshd)" },
    none("port 22/TCP of 192.0.2.1 is in use by process 7 (sshd)", true),
  ],
  [
    "a range gives its first free address",
    service("web", 80),
    { range, others: [service("other", 80, { ip: "203.0.113.8" })] },
    chosen("203.0.113.9"),
  ],
  ["an address of the range is kept", service("web", 80, { ip: "203.0.113.9" }), { range }, chosen("203.0.113.9")],
  ["a requested address of the range is given", service("web", 80, { requested: "203.0.113.9" }), { range }, chosen("203.0.113.9")],
  [
    "a requested address outside of the range is refused",
    service("web", 80, { requested: "192.0.2.1" }),
    { range },
    none("loadBalancerIP 192.0.2.1 is not in the range of --load-balancer-range"),
  ],
  [
    "an exhausted range is reported",
    service("web", 80),
    { range, others: [service("one", 80, { ip: "203.0.113.8" }), service("two", 80, { ip: "203.0.113.9" })] },
    none(
      "all addresses of --load-balancer-range 203.0.113.8/31 are in use for these ports; delete a Service of type LoadBalancer or set a larger range",
    ),
  ],
  ["a range does not give its network address", service("web", 80), { range: small }, chosen("203.0.113.9")],
  [
    "a range does not give its broadcast address",
    service("web", 80),
    { range: small, others: [service("one", 80, { ip: "203.0.113.9" }), service("two", 80, { ip: "203.0.113.10" })] },
    none(
      "all addresses of --load-balancer-range 203.0.113.8/30 are in use for these ports; delete a Service of type LoadBalancer or set a larger range",
    ),
  ],
  [
    "a requested broadcast address is refused",
    service("web", 80, { requested: "203.0.113.11" }),
    { range: small },
    none("loadBalancerIP 203.0.113.11 is the network or broadcast address of --load-balancer-range"),
  ],
  [
    "a range does not give a node's address",
    service("web", 80),
    { range: small, nodes: [node("a", "203.0.113.9")] },
    announced("203.0.113.10", "a"),
  ],
  [
    "addresses of a range are spread over the ready nodes",
    service("web", 80),
    { range, nodes: [first, second] },
    announced("203.0.113.8", "a"),
  ],
  [
    "the node that announces an address stays the one while it is ready",
    service("web", 80, { ip: "203.0.113.8", announcer: "b" }),
    { range, nodes: [first, second] },
    announced("203.0.113.8", "b"),
  ],
  [
    "another node announces the address of one that is not ready",
    service("web", 80, { ip: "203.0.113.8", announcer: "b" }),
    { range, nodes: [first, down("2026-03-01T00:00:59Z")] },
    announced("203.0.113.8", "a"),
  ],
  [
    "without a ready node the last one announces the address",
    service("web", 80, { ip: "203.0.113.8", announcer: "b" }),
    { range, nodes: [down("2026-03-01T00:00:59Z")] },
    announced("203.0.113.8", "b"),
  ],
  [
    "a node that is briefly not ready keeps its address, which is checked again",
    service("web", 80, { ip: "192.0.2.2" }),
    { nodes: [first, down("2026-03-01T00:00:20Z")] },
    { is: "chosen", addresses: ["192.0.2.1", "192.0.2.2"], recheckMs: 20_000 },
  ],
  [
    "a node that is not ready for longer loses its address to others",
    service("web", 80, { ip: "192.0.2.2" }),
    { nodes: [first, down("2026-03-01T00:00:00Z")] },
    chosen("192.0.2.1"),
  ],
  [
    "the only node keeps its address while it is not ready",
    service("web", 80, { ip: "192.0.2.2" }),
    { nodes: [down("2026-01-01T00:00:00Z")] },
    chosen("192.0.2.2"),
  ],
  [
    "a port that a process binds later is kept",
    service("web", 22, { ip: "192.0.2.1", held: 22 }),
    { nodes: [first], portUser: taken },
    chosen("192.0.2.1"),
  ],
  [
    "a new port of a Service with an address must be free",
    service("web", 22, { ip: "192.0.2.1", held: 80 }),
    { nodes: [first], portUser: taken },
    none("port 22/TCP of 192.0.2.1 is in use by process 7 (sshd)", true),
  ],
  [
    "of very many nodes 64 are enough, and the present one stays",
    service("web", 80, { ip: "192.0.2.79" }),
    { nodes: many },
    chosen(...Array.from({ length: 63 }, (_, index) => `192.0.2.${index + 10}`), "192.0.2.79"),
  ],
];

describe("load balancer addresses", () => {
  for (const [title, wanted, source, expected] of cases)
    test(title, () => deepEqual(chooseAddresses(wanted, { nodes: [], others: [], nowMs: NOW_MS, ...source }), expected));
});

test("only Services of type LoadBalancer without another class are load-balanced", () => {
  deepEqual(
    [service("a", 80), service("b", 80, { class: "k8ts.io/load-balancer" }), service("c", 80, { class: "example.com/other" })].map(
      isLoadBalanced,
    ),
    [true, true, false],
  );
});
