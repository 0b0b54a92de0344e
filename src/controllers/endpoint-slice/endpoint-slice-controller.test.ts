import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { services } from "../../api/core/v1/service.ts";
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, givenWith, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { aNode, aPod, aService, READY_AT } from "../shared/service-endpoints/testing/builders.ts";
import { endpointSliceController } from "./endpoint-slice-controller.ts";

const WEB = { namespace: "default", name: "web" };
const CONTROLLER = endpointSliceController();
const NODE = aNode("n1", { zone: "a" });

function pass(cluster: Given, controller = CONTROLLER) {
  return cluster.reconcile(controller, "default/web");
}

/** Slices of controllers: the API server has one of its own. */
async function slicesOf(cluster: Given): Promise<readonly EndpointSlice[]> {
  return (await cluster.list(endpointSlices)).filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === "web");
}

/** "web- IPv4 8080: 10.0.0.1,10.0.0.2". */
async function shown(cluster: Given): Promise<readonly string[]> {
  const slices = await slicesOf(cluster);
  return slices
    .map(({ metadata, addressType, ports, endpoints }) => {
      const addresses = (endpoints ?? []).flatMap((endpoint) => endpoint.addresses);
      return `${metadata.generateName} ${addressType} ${(ports ?? []).map(({ port }) => port).join(",")}: ${addresses.join(",")}`;
    })
    .toSorted();
}

async function patchService(cluster: Given, value: JsonObject): Promise<void> {
  await cluster.client.patch(services, WEB, { type: "merge", value });
}

test("a Service gets a slice with all details of its Pods", async () => {
  const service = aService("web", {
    labels: { team: "x", "kubernetes.io/service-name": "lies" },
    spec: { ports: [{ port: 80, targetPort: "web" }] },
  });
  const pod = aPod("a", { ips: ["10.0.0.1"], spec: { hostname: "one", subdomain: "web" } });
  await using cluster = await given(NODE, service, pod);

  await pass(cluster);

  deepEqual(cluster.actions, ["create endpointslices default/web-*"]);
  const [slice] = await slicesOf(cluster);
  const { uid } = (await cluster.client.get(services, WEB)).metadata;
  const { labels, annotations, ownerReferences } = slice?.metadata ?? {};
  deepEqual(
    { labels, annotations, ownerReferences, addressType: slice?.addressType, ports: slice?.ports, endpoints: slice?.endpoints },
    {
      labels: {
        team: "x",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      annotations: { "endpoints.kubernetes.io/last-change-trigger-time": READY_AT },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "web", uid, controller: true, blockOwnerDeletion: true }],
      addressType: "IPv4",
      ports: [{ name: "", port: 8080, protocol: "TCP" }],
      endpoints: [
        {
          addresses: ["10.0.0.1"],
          conditions: { ready: true, serving: true, terminating: false },
          hostname: "one",
          targetRef: {
            kind: "Pod",
            namespace: "default",
            name: "a",
            uid: (await cluster.client.get(pods, { ...WEB, name: "a" })).metadata.uid,
          },
          nodeName: "n1",
          zone: "a",
        },
      ],
    },
  );
});

test("a second reconciliation writes nothing", async () => {
  await using cluster = await given(
    NODE,
    aService("web"),
    aPod("a", { ips: ["10.0.0.1"] }),
    aPod("b", { ips: ["10.0.0.2"], isReady: false }),
  );
  await pass(cluster);
  cluster.actions.length = 0;

  await pass(cluster);

  deepEqual(cluster.actions, []);
});

for (const { it, spec = {}, pod, conditions } of [
  { it: "that is ready", pod: aPod("a", { ips: ["10.0.0.1"] }), conditions: [true, true, false] },
  { it: "that is not ready", pod: aPod("a", { ips: ["10.0.0.1"], isReady: false }), conditions: [false, false, false] },
  {
    it: "that is not ready, of a Service with publishNotReadyAddresses,",
    spec: { publishNotReadyAddresses: true },
    pod: aPod("a", { ips: ["10.0.0.1"], isReady: false }),
    conditions: [true, false, false],
  },
  { it: "that is terminating", pod: going(aPod("a", { ips: ["10.0.0.1"] })), conditions: [false, true, true] },
  {
    it: "that is terminating, of a Service with publishNotReadyAddresses,",
    spec: { publishNotReadyAddresses: true },
    pod: going(aPod("a", { ips: ["10.0.0.1"] })),
    conditions: [true, true, true],
  },
]) {
  test(`a Pod ${it} is [ready, serving, terminating] = [${conditions.join(", ")}]`, async () => {
    await using cluster = await given(NODE, aService("web", { spec }), pod);
    if (pod.metadata.finalizers !== undefined) await cluster.client.delete(pods, { ...WEB, name: "a" });

    await pass(cluster);

    const [slice] = await slicesOf(cluster);
    const { ready, serving, terminating } = slice?.endpoints?.[0]?.conditions ?? {};
    deepEqual([ready, serving, terminating], conditions);
  });
}

function going(pod: ReturnType<typeof aPod>) {
  return { ...pod, metadata: { ...pod.metadata, finalizers: ["example.com/hold"] } };
}

const nothing: readonly { readonly it: string; readonly objects: readonly object[]; readonly shows: readonly string[] }[] = [
  { it: "without Pods gets an empty slice", objects: [aService("web")], shows: ["web- IPv4 : "] },
  { it: "whose Pods have no address gets an empty slice", objects: [aService("web"), aPod("a")], shows: ["web- IPv4 : "] },
  {
    it: "whose Pods have ended gets an empty slice",
    objects: [aService("web"), aPod("a", { ips: ["10.0.0.1"], phase: "Failed" })],
    shows: ["web- IPv4 : "],
  },
  { it: "that is another name gets none", objects: [aService("web", { spec: { type: "ExternalName", externalName: "x.y" } })], shows: [] },
  { it: "without a selector gets none", objects: [aService("web", { spec: { selector: {} } })], shows: [] },
];

for (const { it, objects, shows } of nothing) {
  test(`a Service ${it}`, async () => {
    await using cluster = await given(NODE, ...objects);
    await pass(cluster);
    deepEqual(await shown(cluster), shows);
  });
}

test("Pods whose named port is another number are in separate slices", async () => {
  const service = aService("web", { spec: { ports: [{ port: 80, targetPort: "web" }] } });
  await using cluster = await given(NODE, service, aPod("a", { ips: ["10.0.0.1"] }), aPod("b", { ips: ["10.0.0.2"], port: 9090 }));

  await pass(cluster);

  deepEqual(await shown(cluster), ["web- IPv4 8080: 10.0.0.1", "web- IPv4 9090: 10.0.0.2"]);
});

test("a headless Service may have no ports, and is labelled headless", async () => {
  await using cluster = await given(NODE, aService("web", { spec: { clusterIP: "None", ports: [] } }), aPod("a", { ips: ["10.0.0.1"] }));

  await pass(cluster);

  deepEqual(await shown(cluster), ["web- IPv4 : 10.0.0.1"]);
  equal((await slicesOf(cluster))[0]?.metadata.labels?.["service.kubernetes.io/headless"], "");
});

test("a dual-stack Service has slices of each family, and loses those of a removed one", async () => {
  const service = aService("web", { spec: { ipFamilyPolicy: "RequireDualStack" } });
  const config = { serviceClusterIpRange: "10.96.0.0/16,fd00:96::/112" };
  await using cluster = await givenWith({ config }, NODE, service, aPod("a", { ips: ["10.0.0.1", "fd00::1"] }));

  await pass(cluster);
  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1", "web- IPv6 80: fd00::1"]);

  await patchService(cluster, { spec: { ipFamilyPolicy: "SingleStack" } });
  await pass(cluster);
  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1"]);
});

test("labels of the Service are copied to its slices", async () => {
  await using cluster = await given(NODE, aService("web", { labels: { a: "1", b: "2" } }), aPod("a", { ips: ["10.0.0.1"] }));
  await pass(cluster);

  await patchService(cluster, { metadata: { labels: { a: null, c: "3" } } });
  await pass(cluster);

  const {
    "kubernetes.io/service-name": _,
    "endpointslice.kubernetes.io/managed-by": __,
    ...labels
  } = (await slicesOf(cluster))[0]?.metadata.labels ?? {};
  deepEqual(labels, { b: "2", c: "3" });
});

test("slices are filled to the maximum, and a new Pod changes one of them", async () => {
  const controller = endpointSliceController({ maxEndpointsPerSlice: 2 });
  const many = ["a", "b", "c"].map((name, index) => aPod(name, { ips: [`10.0.0.${index + 1}`] }));
  await using cluster = await given(NODE, aService("web"), ...many);
  await pass(cluster, controller);
  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1,10.0.0.2", "web- IPv4 80: 10.0.0.3"]);
  cluster.actions.length = 0;

  await cluster.client.delete(pods, { ...WEB, name: "b" }, { gracePeriodSeconds: 0 });
  await pass(cluster, controller);

  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1", "web- IPv4 80: 10.0.0.3"]);
  equal(cluster.actions.length, 1);
});

test("a Pod on an unknown node is omitted, which is reported", async () => {
  await using cluster = await given(
    NODE,
    aService("web"),
    aPod("a", { ips: ["10.0.0.1"] }),
    aPod("b", { ips: ["10.0.0.2"], node: "lost" }),
  );

  await pass(cluster);

  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1"]);
  deepEqual(cluster.events, [
    "Warning FailedToUpdateEndpointSlices Service/web Error updating Endpoint Slices for Service default/web: skipping Pod b for Service default/web: Node lost Not Found",
  ]);
});

test("slices of an older Service of the same name are deleted, and new ones created", async () => {
  await using cluster = await given(NODE, aService("web"), aPod("a", { ips: ["10.0.0.1"] }));
  await pass(cluster);
  await cluster.client.delete(services, WEB);
  await cluster.client.create(services, aService("web"));
  cluster.actions.length = 0;

  await pass(cluster);

  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1"]);
  deepEqual(
    cluster.actions.map((line) => line.replace(/web-\w+$/, "web-x")),
    ["create endpointslices default/web-*", "delete endpointslices default/web-x"],
  );
});

test("a terminating Service gets no more slices", async () => {
  const service = aService("web");
  await using cluster = await given(NODE, { ...service, metadata: { ...service.metadata, finalizers: ["example.com/hold"] } });
  await cluster.client.delete(services, WEB);

  await pass(cluster);

  deepEqual(cluster.actions, []);
});

test("a terminating slice counts as deleted", async () => {
  await using cluster = await given(NODE, aService("web"), aPod("a", { ips: ["10.0.0.1"] }));
  await pass(cluster);
  const key = { namespace: "default", name: (await slicesOf(cluster))[0]?.metadata.name ?? "" };
  await cluster.client.patch(endpointSlices, key, { type: "merge", value: { metadata: { finalizers: ["example.com/hold"] } } });
  await cluster.client.delete(endpointSlices, key);

  await pass(cluster);

  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1", "web- IPv4 80: 10.0.0.1"]);
});

test("trafficDistribution adds hints, and its removal removes them", async () => {
  const hints = async (cluster: Given) => (await slicesOf(cluster))[0]?.endpoints?.[0]?.hints;
  await using cluster = await given(
    NODE,
    aService("web", { spec: { trafficDistribution: "PreferSameNode" } }),
    aPod("a", { ips: ["10.0.0.1"] }),
  );
  await pass(cluster);
  deepEqual(await hints(cluster), { forZones: [{ name: "a" }], forNodes: [{ name: "n1" }] });

  await patchService(cluster, { spec: { trafficDistribution: null } });
  await pass(cluster);
  equal(await hints(cluster), undefined);
});

test("the topology annotation distributes endpoints among zones, with events when that starts, fails and ends", async () => {
  const service = aService("web", { annotations: { "service.kubernetes.io/topology-mode": "Auto" } });
  const placed = [aPod("a", { ips: ["10.0.0.1"], node: "n1" }), aPod("b", { ips: ["10.0.0.2"], node: "n2" })];
  await using cluster = await given(NODE, aNode("n2", { zone: "b" }), service, ...placed);
  const hints = async () => (await slicesOf(cluster))[0]?.endpoints?.map((endpoint) => endpoint.hints?.forZones?.[0]?.name);

  await pass(cluster);
  await pass(cluster);
  deepEqual(await hints(), ["a", "b"]);
  await cluster.client.delete(pods, { ...WEB, name: "b" }, { gracePeriodSeconds: 0 });
  await pass(cluster);
  deepEqual(await hints(), [undefined]);
  await cluster.client.create(pods, aPod("b"));
  await cluster.client.patch(
    pods,
    { ...WEB, name: "b" },
    { type: "merge", value: { status: aPod("b", { ips: ["10.0.0.3"], node: "n1" }).status as never } },
    { subresource: "status" },
  );
  await pass(cluster);
  await patchService(cluster, { metadata: { annotations: { "service.kubernetes.io/topology-mode": null } } });
  await pass(cluster);

  deepEqual(cluster.events, [
    "Normal TopologyAwareHintsEnabled Service/web Topology Aware Hints has been enabled, addressType: IPv4",
    "Warning TopologyAwareHintsDisabled Service/web Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv4",
    "Normal TopologyAwareHintsEnabled Service/web Topology Aware Hints has been enabled, addressType: IPv4",
    "Warning TopologyAwareHintsDisabled Service/web Topology Aware Hints has been disabled, addressType: IPv4",
  ]);
});

test("the running controller follows Pods, nodes and slices, and converges", async () => {
  await using cluster = await given(NODE, aService("web"), aPod("a"), aPod("b", { ips: ["10.0.0.2"], node: "n2" }));
  await cluster.run(CONTROLLER);
  await cluster.settled();
  deepEqual(await shown(cluster), ["web- IPv4 : "]);

  const { status } = aPod("a", { ips: ["10.0.0.1"] });
  await cluster.client.patch(pods, { ...WEB, name: "a" }, { type: "merge", value: { status: status as never } }, { subresource: "status" });
  await cluster.settled();
  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1"]);

  await cluster.client.create(nodes, aNode("n2", { zone: "b" }));
  await cluster.settled();
  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1,10.0.0.2"]);

  const [slice] = await slicesOf(cluster);
  await cluster.client.delete(endpointSlices, { namespace: "default", name: slice?.metadata.name ?? "" });
  await cluster.settled();
  deepEqual(await shown(cluster), ["web- IPv4 80: 10.0.0.1,10.0.0.2"]);
});

test("a crash at any step does not change the final state", async () => {
  const many = Array.from({ length: 5 }, (_, index) => aPod(`p${index}`, { ips: [`10.0.0.${index}`], port: index < 3 ? 8080 : 9090 }));
  const scenario = {
    objects: [NODE, aService("web", { spec: { ports: [{ port: 80, targetPort: "web" }] } }), ...many],
    controllers: () => [endpointSliceController({ maxEndpointsPerSlice: 2 })],
    restMs: 20_000,
    steps: [
      async ({ client }: Pick<Given, "client">) => {
        await client.patch(services, WEB, { type: "merge", value: { spec: { ports: [{ port: 80, targetPort: 1 }] } } });
      },
      async ({ client }: Pick<Given, "client">) => {
        for (const name of ["p0", "p1", "p2", "p3", "p4"]) await client.delete(pods, { ...WEB, name }, { gracePeriodSeconds: 0 });
      },
    ],
  };

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 4, full: 100 }), disturbedRuns: rounds({ quick: 1, full: 10 }) });
});
