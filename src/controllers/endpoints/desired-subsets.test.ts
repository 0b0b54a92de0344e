import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { EndpointSubset, Pod, Service } from "../../api/generated/core/v1.ts";
import { aPod, aService } from "../shared/service-endpoints/testing/builders.ts";
import { ADDRESSES_MAX, desiredSubsets } from "./desired-subsets.ts";

const A = aPod("a", { ips: ["10.0.0.1"] });
const B = aPod("b", { ips: ["10.0.0.2"], isReady: false });
const GOING = { ...A, metadata: { ...A.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } };

/** "10.0.0.1|10.0.0.2:80": ready addresses, not-ready ones, ports. */
function texts(subsets: readonly EndpointSubset[]): readonly string[] {
  return subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const list = (all: readonly { readonly ip: string }[]): string => all.map(({ ip }) => ip).join(",");
    return `${list(addresses)}|${list(notReadyAddresses)}:${ports.map(({ port }) => port).join(",")}`;
  });
}

const all = { publishNotReadyAddresses: true };
const named = {
  ports: [
    { port: 80, targetPort: "web" },
    { name: "x", port: 1 },
  ],
};

const rows: readonly { readonly it: string; readonly service: Service; readonly pods: readonly Pod[]; readonly are: readonly string[] }[] =
  [
    { it: "Pods are ready or not", service: aService("web"), pods: [B, A], are: ["10.0.0.1|10.0.0.2:80"] },
    {
      it: "all Pods are ready with publishNotReadyAddresses",
      service: aService("web", { spec: all }),
      pods: [A, B],
      are: ["10.0.0.1,10.0.0.2|:80"],
    },
    { it: "terminating Pods are omitted", service: aService("web"), pods: [GOING], are: [] },
    {
      it: "terminating Pods are kept with publishNotReadyAddresses",
      service: aService("web", { spec: all }),
      pods: [GOING],
      are: ["10.0.0.1|:80"],
    },
    { it: "Pods without an address are omitted", service: aService("web"), pods: [aPod("c")], are: [] },
    {
      it: "Pods that have ended are omitted",
      service: aService("web"),
      pods: [aPod("c", { ips: ["10.0.0.3"], phase: "Failed" })],
      are: [],
    },
    {
      it: "another number for a named port is another subset",
      service: aService("web", { spec: named }),
      pods: [A, aPod("c", { ips: ["10.0.0.3"], port: 9090 })],
      are: ["10.0.0.1,10.0.0.3|:1", "10.0.0.1|:8080", "10.0.0.3|:9090"],
    },
    {
      it: "a Service without ports has addresses alone",
      service: aService("web", { spec: { clusterIP: "None", ports: [] } }),
      pods: [A, B],
      are: ["10.0.0.1|10.0.0.2:"],
    },
    {
      it: "only the first family counts",
      service: aService("web", { spec: { ipFamilies: ["IPv6", "IPv4"] } }),
      pods: [A, aPod("c", { ips: ["10.0.0.3", "fd00::3"] })],
      are: ["fd00::3|:80"],
    },
  ];

for (const { it, service, pods, are } of rows) test(`Endpoints: ${it}`, () => deepEqual(texts(desiredSubsets(service, pods).subsets), are));

test("an address has its targetRef and nodeName", () => {
  const pod = aPod("a", { ips: ["10.0.0.1"], spec: { hostname: "one", subdomain: "web" } });

  deepEqual(desiredSubsets(aService("web"), [pod]).subsets[0]?.addresses, [
    { ip: "10.0.0.1", hostname: "one", nodeName: "n1", targetRef: { kind: "Pod", namespace: "default", name: "a", uid: "uid-a" } },
  ]);
});

/** That many Pods, each with its own address. */
function many(count: number, first: number, parts: Parameters<typeof aPod>[1] = {}): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index;
    return aPod(`p${number}`, { ...parts, ips: [`10.0.${number >> 8}.${number & 255}`] });
  });
}

for (const { it, pods, counts } of [
  { it: "a thousand are all there", pods: many(ADDRESSES_MAX, 0), counts: [[1000, 0]] },
  { it: "of more that are ready a thousand stay", pods: many(1500, 0), counts: [[1000, 0]] },
  { it: "those that are not ready give first", pods: [...many(900, 0), ...many(300, 900, { isReady: false })], counts: [[900, 100]] },
  {
    it: "each subset gives in proportion, rounded up, so that the last gives most",
    pods: [...many(1001, 0), ...many(500, 1001, { port: 9090 })],
    counts: [
      [667, 0],
      [333, 0],
    ],
  },
]) {
  test(`truncated Endpoints: ${it}`, () => {
    const service = aService("web", { spec: { ports: [{ port: 80, targetPort: "web" }] } });
    const { subsets, isTruncated } = desiredSubsets(service, pods);
    deepEqual(
      subsets.map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length]),
      counts,
    );
    equal(isTruncated, pods.length > ADDRESSES_MAX);
  });
}
