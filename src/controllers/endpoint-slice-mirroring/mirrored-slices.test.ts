import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { Endpoints, EndpointSubset } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { ObjectMeta } from "../../api/machinery/object.ts";
import { planMirror, type MirrorPlan } from "./mirrored-slices.ts";

const HTTP = { name: "http", port: 80, protocol: "TCP" } as const;
const DNS = { name: "dns", port: 53, protocol: "UDP" } as const;
const A = { ip: "10.0.0.1" };
const B = { ip: "10.0.0.2" };

function anEndpoints(subsets: readonly EndpointSubset[], metadata: Partial<ObjectMeta> = {}): Endpoints {
  return { apiVersion: "v1", kind: "Endpoints", metadata: { name: "db", namespace: "default", uid: "1", ...metadata }, subsets };
}

function plan(endpoints: Endpoints, existing: readonly EndpointSlice[] = [], maxEndpointsPerSubset = 1000): MirrorPlan {
  return planMirror({ endpoints, existing, maxEndpointsPerSubset });
}

/** The slices after a plan, as the server would have them. */
function written({ create, update }: MirrorPlan, existing: readonly EndpointSlice[] = []): readonly EndpointSlice[] {
  const made = create.map((slice, index) => ({ ...slice, metadata: { ...slice.metadata, name: `s${existing.length + index}` } }));
  return [...update, ...made];
}

/** "IPv4 80: 10.0.0.1,-10.0.0.2": those with a dash are not ready. */
function texts(slices: readonly Pick<EndpointSlice, "addressType" | "ports" | "endpoints">[]): readonly string[] {
  return slices.map(({ addressType, ports = [], endpoints = [] }) => {
    const addresses = endpoints.map(({ addresses: [ip], conditions }) => `${conditions?.ready === true ? "" : "-"}${ip}`);
    return `${addressType} ${ports.map(({ port }) => port).join(",")}: ${addresses.join(",")}`;
  });
}

const rows: readonly { readonly it: string; readonly subsets: readonly EndpointSubset[]; readonly shows: readonly string[] }[] = [
  { it: "nothing makes none", subsets: [], shows: [] },
  {
    it: "ready and not ready are in one",
    subsets: [{ addresses: [A], notReadyAddresses: [B], ports: [HTTP] }],
    shows: ["IPv4 80: 10.0.0.1,-10.0.0.2"],
  },
  {
    it: "each family has its own",
    subsets: [{ addresses: [{ ip: "fd00::1" }, A], ports: [HTTP] }],
    shows: ["IPv4 80: 10.0.0.1", "IPv6 80: fd00::1"],
  },
  {
    it: "each set of ports has its own",
    subsets: [
      { addresses: [A], ports: [HTTP] },
      { addresses: [B], ports: [DNS] },
    ],
    shows: ["IPv4 53: 10.0.0.2", "IPv4 80: 10.0.0.1"],
  },
  {
    it: "subsets that mean one make one",
    subsets: [
      { addresses: [A], ports: [HTTP] },
      { addresses: [B], ports: [HTTP] },
    ],
    shows: ["IPv4 80: 10.0.0.1,10.0.0.2"],
  },
  {
    it: "addresses are canonical",
    subsets: [{ addresses: [{ ip: "010.0.0.1" }], ports: [HTTP] }],
    shows: ["IPv4 80: 10.0.0.1"],
  },
];

for (const { it, subsets, shows } of rows) test(`mirrored slices: ${it}`, () => deepEqual(texts(plan(anEndpoints(subsets)).create), shows));

test("a mirrored slice has the labels and annotations of the Endpoints, names its manager, and is owned by them", () => {
  const annotations = {
    mine: "yes",
    "endpoints.kubernetes.io/last-change-trigger-time": "x",
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
  };
  const address = { ...A, hostname: "one", nodeName: "n1", targetRef: { kind: "Pod", name: "p" } };
  const { create } = plan(anEndpoints([{ addresses: [address], ports: [HTTP] }], { labels: { team: "x" }, annotations }));

  deepEqual(create, [
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        generateName: "db-",
        namespace: "default",
        labels: {
          team: "x",
          "kubernetes.io/service-name": "db",
          "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
        },
        annotations: { mine: "yes" },
        ownerReferences: [{ apiVersion: "v1", kind: "Endpoints", name: "db", uid: "1", controller: true, blockOwnerDeletion: true }],
      },
      addressType: "IPv4",
      endpoints: [
        { addresses: ["10.0.0.1"], conditions: { ready: true }, hostname: "one", targetRef: { kind: "Pod", name: "p" }, nodeName: "n1" },
      ],
      ports: [HTTP],
    },
  ]);
});

const FIRST = anEndpoints([{ addresses: [A, B], ports: [HTTP] }]);
const EXISTING = written(plan(FIRST));

for (const { it, endpoints, does } of [
  { it: "the same", endpoints: FIRST, does: { create: 0, update: 0, remove: 0 } },
  {
    it: "another order",
    endpoints: anEndpoints([
      { addresses: [B], ports: [HTTP] },
      { addresses: [A], ports: [HTTP] },
    ]),
    does: { create: 0, update: 0, remove: 0 },
  },
  { it: "another address", endpoints: anEndpoints([{ addresses: [A], ports: [HTTP] }]), does: { create: 0, update: 1, remove: 0 } },
  { it: "another label", endpoints: anEndpoints(FIRST.subsets ?? [], { labels: { x: "y" } }), does: { create: 0, update: 1, remove: 0 } },
  { it: "other ports", endpoints: anEndpoints([{ addresses: [A, B], ports: [DNS] }]), does: { create: 0, update: 1, remove: 0 } },
  {
    it: "another family",
    endpoints: anEndpoints([{ addresses: [{ ip: "fd00::1" }], ports: [HTTP] }]),
    does: { create: 1, update: 0, remove: 1 },
  },
  { it: "nothing", endpoints: anEndpoints([]), does: { create: 0, update: 0, remove: 1 } },
  { it: "the same, written again", endpoints: anEndpoints(FIRST.subsets ?? [], { uid: "2" }), does: { create: 0, update: 1, remove: 0 } },
]) {
  test(`Endpoints with ${it} result in ${JSON.stringify(does)}`, () => {
    const { create, update, remove } = plan(endpoints, EXISTING);
    deepEqual({ create: create.length, update: update.length, remove: remove.length }, does);
  });
}

test("terminating Endpoints are not mirrored further", () => {
  const metadata = { deletionTimestamp: "2030-01-01T00:00:00Z" };

  deepEqual(plan(anEndpoints([{ addresses: [A], ports: [HTTP] }], metadata)).create, []);
});

test("invalid and surplus addresses are skipped and counted", () => {
  const addresses = [A, { ip: "no" }, B, { ip: "10.0.0.3" }];

  const { create, invalid, skipped } = plan(anEndpoints([{ addresses, ports: [HTTP] }]), [], 2);

  deepEqual([texts(create), invalid, skipped], [["IPv4 80: 10.0.0.1,10.0.0.2"], 0, 2]);
  deepEqual([plan(anEndpoints([{ addresses, ports: [HTTP] }])).invalid], [1]);
});
