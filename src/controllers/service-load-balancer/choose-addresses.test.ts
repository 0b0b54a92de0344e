import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Node, Service } from "../../api/generated/core/v1.ts";
import { parseCidr, type Cidr } from "../../api/machinery/ip-address.ts";
import { chooseAddresses, isLoadBalanced, type AddressChoice, type AddressSource } from "./choose-addresses.ts";

const node = (
  name: string,
  address: string,
  { ready = true, labels = {} }: { ready?: boolean; labels?: Record<string, string> } = {},
): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  status: {
    addresses: [{ type: "InternalIP", address }],
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
  },
});

const service = (
  name: string,
  port: number,
  more: { ip?: string; requested?: string; created?: string; class?: string } = {},
): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "default", creationTimestamp: more.created ?? "2026-01-01T00:00:00Z" },
  spec: {
    type: "LoadBalancer",
    ports: [{ port, protocol: "TCP" }],
    ...(more.requested === undefined ? {} : { loadBalancerIP: more.requested }),
    ...(more.class === undefined ? {} : { loadBalancerClass: more.class }),
  },
  ...(more.ip === undefined ? {} : { status: { loadBalancer: { ingress: [{ ip: more.ip }] } } }),
});

const range = parseCidr("203.0.113.8/31") as Cidr;
const [first, second] = [node("a", "192.0.2.1"), node("b", "192.0.2.2")];
const chosen = (...addresses: string[]): AddressChoice => ({ is: "chosen", addresses });
const none = (why: string, mayChange = false): AddressChoice => ({ is: "none", why, mayChange });

const cases: readonly [title: string, Service, Partial<AddressSource>, AddressChoice][] = [
  ["all ready nodes by name", service("web", 80), { nodes: [second, first] }, chosen("192.0.2.1", "192.0.2.2")],
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
    none("all addresses of --load-balancer-range are in use for these ports"),
  ],
];

describe("load balancer addresses", () => {
  for (const [title, wanted, source, expected] of cases)
    test(title, () => deepEqual(chooseAddresses(wanted, { nodes: [], others: [], ...source }), expected));
});

test("only Services of type LoadBalancer without another class are load-balanced", () => {
  deepEqual(
    [service("a", 80), service("b", 80, { class: "k8ts.io/load-balancer" }), service("c", 80, { class: "example.com/other" })].map(
      isLoadBalanced,
    ),
    [true, true, false],
  );
});
