import assert from "node:assert/strict";
import test from "node:test";
import type { Json, JsonObject } from "../../../machinery/object.ts";
import { changedObject, newObject } from "../../../testing/kind.ts";
import { services } from "../service.ts";

test("a new Service with one clusterIP has a list of it, and an empty status", () => {
  const { spec, status } = newObject(services, { spec: { clusterIP: "None" }, status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } });

  assert.deepEqual(spec?.clusterIPs, ["None"]);
  assert.deepEqual(status, { loadBalancer: {} });
});

const BEFORE: JsonObject = {
  type: "LoadBalancer",
  ports: [
    { name: "a", port: 1, nodePort: 30_001 },
    { name: "b", port: 2, nodePort: 30_002 },
  ],
  clusterIP: "10.0.0.1",
  clusterIPs: ["10.0.0.1"],
  ipFamilies: ["IPv4"],
  ipFamilyPolicy: "SingleStack",
  externalTrafficPolicy: "Local",
  healthCheckNodePort: 30_003,
  loadBalancerClass: "a/b",
};
const BARE_PORTS: Json = [
  { name: "a", port: 1 },
  { name: "b", port: 2 },
];

test("an update without allocated addresses and ports keeps them", () => {
  const previous = newObject(services, { spec: BEFORE });
  const sent = { spec: { type: "LoadBalancer", ports: BARE_PORTS, externalTrafficPolicy: "Local", loadBalancerClass: "a/b" } };

  const { spec } = changedObject(services, previous, sent);

  assert.deepEqual([spec?.clusterIP, spec?.clusterIPs, spec?.healthCheckNodePort], ["10.0.0.1", ["10.0.0.1"], 30_003]);
  assert.deepEqual(
    spec?.ports?.map(({ nodePort }) => nodePort),
    [30_001, 30_002],
  );
});

test("a node port that is requested for another port is not kept for the previous one", () => {
  const previous = newObject(services, { spec: BEFORE });
  const ports = [
    { name: "a", port: 1 },
    { name: "c", port: 3, nodePort: 30_001 },
  ];

  const { spec } = changedObject(services, previous, { spec: { ...BEFORE, ports } });

  assert.deepEqual(
    spec?.ports?.map(({ nodePort }) => nodePort),
    [undefined, 30_001],
  );
});

test("a Service that becomes an ExternalName loses its addresses and ports", () => {
  const previous = newObject(services, { spec: BEFORE });

  const { spec } = changedObject(services, previous, { spec: { ...BEFORE, type: "ExternalName", externalName: "a.b" } });

  assert.deepEqual(spec, {
    type: "ExternalName",
    externalName: "a.b",
    sessionAffinity: "None",
    ports: [
      { name: "a", port: 1, protocol: "TCP", targetPort: 1 },
      { name: "b", port: 2, protocol: "TCP", targetPort: 2 },
    ],
  });
});

test("an ExternalName has no internalTrafficPolicy; an unknown one stays for validation", () => {
  const named = (internalTrafficPolicy: string) => ({ spec: { type: "ExternalName", externalName: "a.b", internalTrafficPolicy } });
  const previous = newObject(services, named("Local"));

  assert.equal(previous.spec?.internalTrafficPolicy, undefined);
  assert.equal(changedObject(services, previous, named("Local")).spec?.internalTrafficPolicy, undefined);
  assert.equal(changedObject(services, previous, named("x")).spec?.internalTrafficPolicy, "x");
});

test("a Service that stops being a LoadBalancer releases its ports and clears its status", () => {
  const ingress = [{ ip: "1.2.3.4", ipMode: "VIP" }];
  const previous = { ...newObject(services, { spec: BEFORE }), status: { loadBalancer: { ingress } } };

  const { spec, status } = changedObject(services, previous, { spec: { ...BEFORE, type: "ClusterIP" } });

  assert.deepEqual([spec?.loadBalancerClass, spec?.healthCheckNodePort, spec?.externalTrafficPolicy], [undefined, undefined, undefined]);
  assert.deepEqual(
    spec?.ports?.map(({ nodePort }) => nodePort),
    [undefined, undefined],
  );
  assert.deepEqual([spec?.clusterIP, status], ["10.0.0.1", { loadBalancer: {} }]);
});

test("fields that the client changed stay for validation to reject", () => {
  const previous = newObject(services, { spec: BEFORE });
  const sent = { ...BEFORE, type: "ClusterIP", loadBalancerClass: "a/c", ports: [{ name: "a", port: 1, nodePort: 30_009 }] };

  const { spec } = changedObject(services, previous, { spec: sent });

  assert.deepEqual([spec?.loadBalancerClass, spec?.ports?.[0]?.nodePort], ["a/c", 30_009]);
});

const ADDRESSES: readonly [title: string, change: JsonObject, clusterIPs: readonly string[] | undefined][] = [
  ["another clusterIP alone", { clusterIP: "10.0.0.2" }, ["10.0.0.2"]],
  ["no clusterIPs", { clusterIPs: [] }, ["10.0.0.1"]],
  ["another list", { clusterIP: "10.0.0.2", clusterIPs: ["10.0.0.3"] }, ["10.0.0.3"]],
];

for (const [title, change, clusterIPs] of ADDRESSES) {
  test(`an update of a Service with ${title} results in ${JSON.stringify(clusterIPs)}`, () => {
    const previous = newObject(services, { spec: BEFORE });

    assert.deepEqual(changedObject(services, previous, { spec: { ...BEFORE, ...change } }).spec?.clusterIPs, clusterIPs);
  });
}

test("an update without changes keeps the status identical", () => {
  const previous = newObject(services, { spec: BEFORE });

  assert.equal(changedObject(services, previous, { spec: BEFORE }).status, previous.status);
});
