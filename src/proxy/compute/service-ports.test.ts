import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ServicePort } from "../model.ts";
import { anEndpoint, aService, aSlice, NOT_READY, TERMINATING } from "../testing/objects.ts";
import { computeService } from "./service-ports.ts";

const NODE = { name: "here" };
const WEB = aSlice([anEndpoint("10.0.0.2", { nodeName: "there" }), anEndpoint("10.0.0.1", { nodeName: "here" })]);

const PLAIN: ServicePort = {
  key: "default/web:/TCP/4",
  displayName: "default/web",
  namespace: "default",
  name: "web",
  portName: "",
  protocol: "TCP",
  family: 4,
  port: 80,
  clusterIp: "10.96.0.10",
  externalIps: [],
  loadBalancerIps: [],
  sourceRanges: [],
  internalPolicy: "Cluster",
  externalPolicy: "Cluster",
  clusterEndpoints: [
    { address: "10.0.0.1", port: 8080, isLocal: true },
    { address: "10.0.0.2", port: 8080, isLocal: false },
  ],
  localEndpoints: [],
  hasEndpoints: true,
  servingEndpoints: [],
};

it("a Service is one port with its endpoints sorted by address", () => {
  assert.deepEqual(computeService(aService("web"), [WEB], NODE), { ports: [PLAIN] });
});

describe("fields of a Service", () => {
  for (const [title, service, expected] of [
    ["node port", aService("web", { type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }] }), { nodePort: 30_080 }],
    [
      "external IPs are normalized, sorted and of the family",
      aService("web", { externalIPs: ["192.0.2.9", "192.0.2.010", "fd00::1", "192.0.2.9"] }),
      { externalIps: ["192.0.2.10", "192.0.2.9"] },
    ],
    [
      "load balancer IPs with ipMode VIP",
      aService(
        "web",
        { type: "LoadBalancer" },
        { ingress: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2", ipMode: "Proxy" }, { hostname: "lb" }] },
      ),
      { loadBalancerIps: ["192.0.2.1"] },
    ],
    [
      "source ranges are trimmed, masked and of the family",
      aService("web", { loadBalancerSourceRanges: [" 192.0.2.77/24 ", "fd00::/8"] }),
      { sourceRanges: ["192.0.2.0/24"] },
    ],
    ["a source range of everything is no restriction", aService("web", { loadBalancerSourceRanges: ["10.0.0.0/8", "0.0.0.0/0"] }), {}],
    [
      "session affinity",
      aService("web", { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 7 } } }),
      { affinitySeconds: 7 },
    ],
    ["session affinity by default", aService("web", { sessionAffinity: "ClientIP" }), { affinitySeconds: 10_800 }],
    [
      "internal traffic policy Local",
      aService("web", { internalTrafficPolicy: "Local" }),
      { internalPolicy: "Local", clusterEndpoints: [], localEndpoints: [{ address: "10.0.0.1", port: 8080, isLocal: true }] },
    ],
    ["external traffic policy of a Service without external addresses", aService("web", { externalTrafficPolicy: "Local" }), {}],
    [
      "external traffic policy Local",
      aService("web", { type: "NodePort", externalTrafficPolicy: "Local", ports: [{ port: 80, nodePort: 30_080 }] }),
      { nodePort: 30_080, externalPolicy: "Local", localEndpoints: [{ address: "10.0.0.1", port: 8080, isLocal: true }] },
    ],
  ] as const) {
    it(title, () => assert.deepEqual(computeService(service, [WEB], NODE).ports, [{ ...PLAIN, ...expected }]));
  }
});

describe("Services that are not proxied", () => {
  for (const [title, service] of [
    ["deleted", undefined],
    ["headless", aService("web", { clusterIP: "None", clusterIPs: ["None"] })],
    ["without a cluster IP", aService("web", { clusterIP: "", clusterIPs: [] })],
    ["ExternalName", aService("web", { type: "ExternalName", externalName: "example.com" })],
    ["of another proxy", aService("web", {}, { labels: { "service.kubernetes.io/service-proxy-name": "other" } })],
  ] as const) {
    it(title, () => assert.deepEqual(computeService(service, [WEB], NODE), { ports: [] }));
  }
});

it("several ports find their endpoints by name and protocol", () => {
  const ports = [
    { name: "dns", port: 53, protocol: "UDP" },
    { name: "dns-tcp", port: 53, protocol: "TCP" },
    { name: "other", port: 54, protocol: "TCP" },
  ] as const;
  const slice = aSlice([anEndpoint("10.0.0.1")], {
    ports: [
      { name: "dns", port: 5353, protocol: "UDP" },
      { name: "dns-tcp", port: 5354, protocol: "TCP" },
    ],
  });

  const found = computeService(aService("web", { ports: [...ports] }), [slice], NODE).ports;

  const shown = found.map(({ key, port, clusterEndpoints, servingEndpoints }) => [
    key,
    port,
    clusterEndpoints.map((one) => one.port),
    servingEndpoints,
  ]);
  assert.deepEqual(shown, [
    ["default/web:dns/UDP/4", 53, [5353], ["10.0.0.1:5353"]],
    ["default/web:dns-tcp/TCP/4", 53, [5354], []],
    ["default/web:other/TCP/4", 54, [], []],
  ]);
});

it("a dual-stack Service has a port per family with the addresses of that family", () => {
  const service = aService("web", { clusterIPs: ["10.96.0.10", "fd00::a"], externalIPs: ["192.0.2.1", "2001:db8::1"] });
  const slices = [
    WEB,
    aSlice([anEndpoint("fd00:1::5")], { addressType: "IPv6" }),
    aSlice([anEndpoint("x.example")], { addressType: "FQDN" }),
  ];

  const shown = computeService(service, slices, NODE).ports.map(({ key, clusterIp, externalIps, clusterEndpoints }) => [
    key,
    clusterIp,
    ...externalIps,
    ...clusterEndpoints.map(({ address }) => address),
  ]);

  assert.deepEqual(shown, [
    ["default/web:/TCP/4", "10.96.0.10", "192.0.2.1", "10.0.0.1", "10.0.0.2"],
    ["default/web:/TCP/6", "fd00::a", "2001:db8::1", "fd00:1::5"],
  ]);
});

describe("endpoints in several slices", () => {
  for (const [title, slices, expected] of [
    ["are merged", [aSlice([anEndpoint("10.0.0.2")]), aSlice([anEndpoint("10.0.0.1")])], ["10.0.0.1", "10.0.0.2"]],
    ["are used once", [aSlice([anEndpoint("10.0.0.1")]), aSlice([anEndpoint("10.0.0.1")])], ["10.0.0.1"]],
    [
      "a terminating Pod does not hide another one with its address",
      [aSlice([anEndpoint("10.0.0.1")]), aSlice([anEndpoint("10.0.0.1", { conditions: TERMINATING })])],
      ["10.0.0.1"],
    ],
    ["the later one counts", [aSlice([anEndpoint("10.0.0.1")]), aSlice([anEndpoint("10.0.0.1", { conditions: NOT_READY })])], []],
    ["missing conditions mean ready", [aSlice([{ addresses: ["10.0.0.1"] }])], ["10.0.0.1"]],
    ["of a headless Service are ignored", [aSlice([anEndpoint("10.0.0.1")], { labels: { "service.kubernetes.io/headless": "" } })], []],
    ["ports without a number are ignored", [aSlice([anEndpoint("10.0.0.1")], { ports: [{ name: "" }] })], []],
  ] as const) {
    it(title, () => {
      const [port] = computeService(aService("web"), slices, NODE).ports;
      assert.deepEqual(
        port?.clusterEndpoints.map(({ address }) => address),
        expected,
      );
    });
  }
});

it("a LoadBalancer with policy Local reports its ready local endpoints at the health check port, each address once", () => {
  const service = aService("web", {
    type: "LoadBalancer",
    externalTrafficPolicy: "Local",
    healthCheckNodePort: 31_000,
    ports: [
      { name: "a", port: 80 },
      { name: "b", port: 81 },
    ],
  });
  const endpoints = [
    anEndpoint("10.0.0.1", { nodeName: "here" }),
    anEndpoint("10.0.0.2", { nodeName: "here", conditions: TERMINATING }),
    anEndpoint("10.0.0.3", { nodeName: "there" }),
  ];
  const slice = aSlice(endpoints, {
    ports: [
      { name: "a", port: 1 },
      { name: "b", port: 2 },
    ],
  });

  const { healthCheck } = computeService(service, [slice], NODE);

  assert.deepEqual(healthCheck, { namespace: "default", name: "web", port: 31_000, localEndpoints: 1 });
});
