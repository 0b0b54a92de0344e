import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { NetworkPolicyEgressRule } from "../../api/generated/networking.k8s.io/v1.ts";
import { modelAllows } from "../testing/model-evaluator.ts";
import { aNamespace, aPod, aPolicy } from "../testing/objects.ts";
import { computeModel } from "./compute-model.ts";

const CLIENT = "10.0.1.2";
const DNS_SERVER = "10.0.0.1";
const API_SERVER_PORT = 6443;

const SLICE: EndpointSlice = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace: "kube-system", name: "kube-dns-a", labels: { "kubernetes.io/service-name": "kube-dns" } },
  addressType: "IPv4",
  endpoints: [{ addresses: [DNS_SERVER] }],
  ports: [
    { name: "dns", protocol: "UDP", port: 53 },
    { name: "dns-tcp", protocol: "TCP", port: 53 },
  ],
};

/** What a Pod of another node may reach at the address of the DNS server. */
function reachable(rule: NetworkPolicyEgressRule, slice: EndpointSlice = SLICE): readonly string[] {
  const model = computeModel({
    nodeName: "node-2",
    policies: [aPolicy("x/allow-dns", { podSelector: {}, policyTypes: ["Egress"], egress: [rule] })],
    pods: [aPod("x/client", [CLIENT], { node: "node-2" })],
    namespaces: [aNamespace("x"), aNamespace("kube-system", { "kubernetes.io/metadata.name": "kube-system" })],
    dnsSlices: [slice],
  });
  const connections = [
    { protocol: "UDP", port: 53 },
    { protocol: "TCP", port: 53 },
    { protocol: "TCP", port: API_SERVER_PORT },
  ] as const;
  return connections
    .filter((connection) => modelAllows(model, { client: CLIENT, server: DNS_SERVER, ...connection }))
    .map(({ protocol, port }) => `${protocol} ${port}`);
}

const IN_KUBE_SYSTEM = { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } };
const DNS_PODS = { matchLabels: { "k8s-app": "kube-dns" } };
const PORT_53 = [
  { protocol: "UDP" as const, port: 53 },
  { protocol: "TCP" as const, port: 53 },
];
const BOTH = ["UDP 53", "TCP 53"];

describe("a DNS server that is no Pod is a peer with the labels of CoreDNS, by its ports only", () => {
  const cases: readonly { readonly title: string; readonly rule: NetworkPolicyEgressRule; readonly expected: readonly string[] }[] = [
    {
      title: "the usual policy that allows DNS",
      rule: { to: [{ namespaceSelector: IN_KUBE_SYSTEM, podSelector: DNS_PODS }], ports: PORT_53 },
      expected: BOTH,
    },
    { title: "all ports of the DNS Pods", rule: { to: [{ namespaceSelector: IN_KUBE_SYSTEM, podSelector: DNS_PODS }] }, expected: BOTH },
    { title: "all namespaces, not the API server", rule: { to: [{ namespaceSelector: {} }] }, expected: BOTH },
    { title: "one protocol", rule: { to: [{ namespaceSelector: {} }], ports: [{ protocol: "UDP", port: 53 }] }, expected: ["UDP 53"] },
    {
      title: "a range of ports",
      rule: { to: [{ namespaceSelector: {} }], ports: [{ protocol: "UDP", port: 50, endPort: 60 }] },
      expected: ["UDP 53"],
    },
    {
      title: "a named port",
      rule: { to: [{ namespaceSelector: {} }], ports: [{ protocol: "TCP", port: "dns-tcp" }] },
      expected: ["TCP 53"],
    },
    { title: "a named port of every peer", rule: { ports: [{ protocol: "UDP", port: "dns" }] }, expected: ["UDP 53"] },
    { title: "another port", rule: { to: [{ namespaceSelector: {} }], ports: [{ port: 80 }] }, expected: [] },
    { title: "Pods of the policy's namespace", rule: { to: [{ podSelector: {} }] }, expected: [] },
    {
      title: "other Pods of kube-system",
      rule: { to: [{ namespaceSelector: IN_KUBE_SYSTEM, podSelector: { matchLabels: { app: "web" } } }] },
      expected: [],
    },
    { title: "its address", rule: { to: [{ ipBlock: { cidr: `${DNS_SERVER}/32` } }] }, expected: [...BOTH, `TCP ${API_SERVER_PORT}`] },
    { title: "another address", rule: { to: [{ ipBlock: { cidr: "10.0.0.9/32" } }] }, expected: [] },
  ];
  for (const { title, rule, expected } of cases) test(title, () => deepEqual(reachable(rule), expected));
});

test("a DNS server that is a Pod is matched by its own labels only", () => {
  const endpoints = [{ addresses: [DNS_SERVER], targetRef: { kind: "Pod", namespace: "kube-system", name: "coredns-a" } }];

  deepEqual(reachable({ to: [{ namespaceSelector: {} }] }, { ...SLICE, endpoints }), []);
});
