import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { isReason, StatusError, type Reason } from "../../../api/machinery/status-error.ts";
import type { RequestOptions } from "../../../api/machinery/transport.ts";
import { StoreError } from "../../../store/store-error.ts";
import { memoryStore } from "../../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { AdmissionPlugin } from "../../framework/admission.ts";
import { admittingServer } from "../../testing/admitting-server.ts";
import { startServer } from "../../testing/server.ts";
import { wrappedStore } from "../../testing/wrapped-store.ts";

const SERVICES = "/api/v1/namespaces/default/services";

for (const [what, clusterIP, why] of [
  ["outside of the range", "1.2.3.4", "the provided network does not match the current range"],
  ["that another Service has", "10.96.200.1", "provided IP is already allocated"],
] as const) {
  test(`a Service address ${what} is rejected with upstream's message`, async () => {
    await using server = await startServer();
    await server.call("POST", SERVICES, { metadata: { name: "first" }, spec: { clusterIP: "10.96.200.1", ports: [{ port: 80 }] } });

    const { code, body } = await server.call("POST", SERVICES, {
      metadata: { name: "second" },
      spec: { clusterIP, ports: [{ port: 80 }] },
    });

    const message = `Service "second" is invalid: spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: ${why}`;
    assert.deepEqual([code, body.message], [422, message]);
  });
}

/** Six addresses, one of them the first Service's, and five ports. */
const SMALL = { serviceClusterIpRange: "10.0.0.0/29", serviceNodePortRange: { first: 30_000, last: 30_004 } };
const REFUSED = { labels: { refused: "" } };

const refusing: AdmissionPlugin = {
  name: "refusing",
  validate({ object }) {
    if (object?.metadata.labels?.["refused"] !== undefined) throw new StatusError("Forbidden", "not this one");
  },
};

/** A server with one Service "first" without a port, and a store that can be broken. */
async function withFirst(shared: boolean) {
  const memory = memoryStore(virtualClock());
  let isBroken = false;
  const store = wrappedStore(memory, {
    capabilities: { ...memory.capabilities, shared },
    commit: (...all) => (isBroken ? Promise.reject(new StoreError("Unavailable", "The store does not respond")) : memory.commit(...all)),
  });
  const transport = admittingServer({ plugins: [refusing], store, config: SMALL });
  const place = { group: "", version: "v1", plural: "services", namespace: "default" };
  const create = (name: string, spec: JsonObject = {}, metadata: JsonObject = {}, options: RequestOptions = {}) => {
    const object = { metadata: { name, ...metadata }, spec: { type: "NodePort", ports: [{ port: 80 }], ...spec } };
    return transport.request({ ...place, verb: "create", object, options });
  };
  const addPort = (name: string, metadata: JsonObject = {}, options: RequestOptions = {}) => {
    const value = { metadata, spec: { type: "NodePort" } };
    return transport.request({ ...place, verb: "patch", name, patch: { type: "merge", value }, options });
  };
  const remove = (name: string) => transport.request({ ...place, verb: "delete", name });
  await create("first", { type: "ClusterIP" });
  return { create, addPort, remove, breakStore: (value: boolean) => void (isBroken = value) };
}

for (const shared of [false, true]) {
  test(`a hundred failed Service writes leak no address or port, on a store ${shared ? "of many" : "of one"}`, async () => {
    const { create, addPort, remove, breakStore } = await withFirst(shared);
    const fails = (work: Promise<unknown>, reason: Reason) => assert.rejects(work, (error) => isReason(error, reason));
    const dryRun = { dryRun: ["All"] };

    for (let round = 0; round < 100; round++) {
      await create("other", {}, {}, dryRun);
      await addPort("first", {}, dryRun);
      await fails(create("first"), "AlreadyExists");
      await fails(create("first", {}, {}, dryRun), "AlreadyExists");
      await fails(create("other", { ports: [{ port: 80, nodePort: 40_000 }] }), "Invalid");
      await fails(create("other", {}, REFUSED), "Forbidden");
      await fails(addPort("first", REFUSED), "Forbidden");
      await fails(addPort("first", { resourceVersion: "1" }), "Conflict");
      breakStore(true);
      await fails(create("other"), "ServiceUnavailable");
      await fails(addPort("first"), "ServiceUnavailable");
      breakStore(false);
      await create("going", { type: "ClusterIP" }, { finalizers: ["example.com/wait"] });
      await remove("going");
      await addPort("going", { finalizers: null });
    }

    for (const name of ["b", "c", "d", "e", "f"]) await create(name);
    await assert.rejects(create("g", { type: "ClusterIP" }), /failed to allocate a serviceIP for Service "g": range is full/);
    await assert.rejects(addPort("first"), /failed to allocate a nodePort: range is full/);
  });
}

const ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";
const MERGE = { "content-type": "application/merge-patch+json" };

test("a Service and the IPAddress that references it are created and deleted in one commit", async () => {
  await using server = await startServer();
  const made = await server.call("POST", SERVICES, { metadata: { name: "web" }, spec: { clusterIP: "10.96.4.4", ports: [{ port: 80 }] } });

  const address = await server.call("GET", `${ADDRESSES}/10.96.4.4`);
  assert.deepEqual(address.body.spec.parentRef, { resource: "services", namespace: "default", name: "web" });
  assert.deepEqual(address.body.metadata.labels, {
    "ipaddress.kubernetes.io/ip-family": "IPv4",
    "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
  });
  assert.equal(address.body.metadata.resourceVersion, made.body.metadata.resourceVersion);
  await server.call("DELETE", `${SERVICES}/web`);
  assert.equal((await server.call("GET", `${ADDRESSES}/10.96.4.4`)).code, 404);
});

test("a Service that no longer needs its addresses releases them", async () => {
  const config = { serviceClusterIpRange: "10.96.0.0/16,fd00::/112" };
  await using server = await startServer({ config });
  const spec = { ipFamilyPolicy: "RequireDualStack", clusterIP: "10.96.4.4", clusterIPs: ["10.96.4.4", "fd00::44"], ports: [{ port: 80 }] };
  const made = await server.call("POST", SERVICES, { metadata: { name: "web" }, spec });
  assert.equal(made.code, 201, made.text);
  const codes = async () => [
    (await server.call("GET", `${ADDRESSES}/10.96.4.4`)).code,
    (await server.call("GET", `${ADDRESSES}/fd00::44`)).code,
  ];
  assert.deepEqual(await codes(), [200, 200]);

  const single = { spec: { ipFamilyPolicy: "SingleStack", clusterIPs: ["10.96.4.4"], ipFamilies: ["IPv4"] } };
  assert.equal((await server.call("PATCH", `${SERVICES}/web`, single, MERGE)).code, 200);
  assert.deepEqual(await codes(), [200, 404]);
  const external = { spec: { type: "ExternalName", externalName: "example.com", clusterIP: "", clusterIPs: null } };
  const changed = await server.call("PATCH", `${SERVICES}/web`, external, MERGE);
  assert.equal(changed.code, 200, changed.text);
  assert.deepEqual(await codes(), [404, 404]);
});

test("the second address of a rejected Service is released", async () => {
  const config = { serviceClusterIpRange: "10.96.0.0/16,fd00::/112" };
  await using server = await startServer({ config });
  const spec = { ipFamilyPolicy: "RequireDualStack", clusterIP: "10.96.4.4", clusterIPs: ["10.96.4.4", "fd00::44"], ports: [{ port: 80 }] };
  await server.call("POST", SERVICES, { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });

  assert.equal((await server.call("POST", SERVICES, { metadata: { name: "web" }, spec })).code, 409);
  assert.equal((await server.call("POST", `${SERVICES}?dryRun=All`, { metadata: { name: "tried" }, spec })).code, 201);

  assert.equal((await server.call("GET", `${ADDRESSES}/fd00::44`)).code, 404);
  assert.equal((await server.call("POST", SERVICES, { metadata: { name: "other" }, spec })).code, 201);
});

test("Service addresses come from every ready ServiceCIDR, and existing IPAddresses are not reused", async () => {
  await using server = await startServer({ config: { serviceClusterIpRange: "10.0.0.0/30" } });
  const cidrs = "/apis/networking.k8s.io/v1/servicecidrs";
  const make = (name: string, clusterIP?: string) =>
    server.call("POST", SERVICES, {
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...(clusterIP === undefined ? {} : { clusterIP }) },
    });
  assert.equal((await make("a")).body.spec.clusterIP, "10.0.0.2");
  assert.equal((await make("b")).code, 500, "the range is full");

  await server.call("POST", cidrs, { metadata: { name: "more" }, spec: { cidrs: ["10.1.0.0/30"] } });
  await server.call("POST", ADDRESSES, { metadata: { name: "10.1.0.1" }, spec: { parentRef: { resource: "things", name: "x" } } });
  assert.equal((await make("c", "10.1.0.1")).code, 422);
  assert.equal((await make("c")).body.spec.clusterIP, "10.1.0.2");
  const condition = { type: "Ready", status: "False", reason: "Terminating", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  await server.call("DELETE", `${SERVICES}/c`);
  await server.call("PATCH", `${cidrs}/more/status`, { status: { conditions: [condition] } }, MERGE);
  assert.equal((await make("d")).code, 500, "that range is not ready");
});

test("the IPAddress of a deleted Service with a finalizer stays, marked as terminating", async () => {
  await using server = await startServer();
  await server.call("POST", SERVICES, { metadata: { name: "web" }, spec: { clusterIP: "10.96.4.4", ports: [{ port: 80 }] } });
  await server.call("PATCH", `${ADDRESSES}/10.96.4.4`, { metadata: { finalizers: ["example.com/wait"] } }, MERGE);

  assert.equal((await server.call("DELETE", `${SERVICES}/web`)).code, 200);

  assert.notEqual((await server.call("GET", `${ADDRESSES}/10.96.4.4`)).body.metadata.deletionTimestamp, undefined);
});
