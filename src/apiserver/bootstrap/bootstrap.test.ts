import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { startServer, type StartedServer } from "../testing/server.ts";
import { breakableStore, wrappedStore } from "../testing/wrapped-store.ts";

const MERGE = { "content-type": "application/merge-patch+json" };
const FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1";
const CIDR = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
const ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";
const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
const SERVICE = "/api/v1/namespaces/default/services/kubernetes";

async function names(server: StartedServer, path: string): Promise<readonly string[]> {
  return (await server.call("GET", path)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}

test("a new cluster has its namespaces, priority classes, flow control, ServiceCIDR and kubernetes Service", async () => {
  await using server = await startServer();

  assert.deepEqual(await names(server, "/api/v1/namespaces"), ["default", "kube-node-lease", "kube-public", "kube-system"]);
  assert.deepEqual(await names(server, "/apis/scheduling.k8s.io/v1/priorityclasses"), ["system-cluster-critical", "system-node-critical"]);
  assert.deepEqual(await names(server, `${FLOW}/prioritylevelconfigurations`), [
    "catch-all",
    "exempt",
    "global-default",
    "leader-election",
    "node-high",
    "system",
    "workload-high",
    "workload-low",
  ]);
  assert.equal((await names(server, `${FLOW}/flowschemas`)).length, 11);
  const { spec, status } = (await server.call("GET", CIDR)).body;
  assert.deepEqual([spec.cidrs, status.conditions[0].type, status.conditions[0].status], [["10.96.0.0/12"], "Ready", "True"]);
  const service = (await server.call("GET", SERVICE)).body;
  assert.deepEqual(
    [service.spec.clusterIP, service.spec.ports[0].port, service.metadata.labels.component],
    ["10.96.0.1", 443, "apiserver"],
  );
  assert.deepEqual(await names(server, ADDRESSES), ["10.96.0.1"]);
});

test("a restart changes no object that is up to date", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  await using first = await startServer({ store, clock });
  await first.server.advertise({ address: "192.0.2.1", port: 6443 });
  const before = await store.currentRevision();

  await using second = await startServer({ store, clock });
  await second.server.advertise({ address: "192.0.2.1", port: 6443 });

  assert.equal(await store.currentRevision(), before);
});

test("mandatory flow control objects are repaired, suggested ones only if auto-update is enabled", async () => {
  await using server = await startServer();
  const level = `${FLOW}/prioritylevelconfigurations`;
  const changed = { spec: { limited: { nominalConcurrencyShares: 7 } } };
  for (const [name, more] of [
    ["system", {}],
    ["node-high", { metadata: { annotations: { "apf.kubernetes.io/autoupdate-spec": "false" } } }],
  ] as const) {
    assert.equal((await server.call("PATCH", `${level}/${name}`, { ...changed, ...more }, MERGE)).code, 200);
  }
  await server.clock.settle();

  const shares = async (name: string) => (await server.call("GET", `${level}/${name}`)).body.spec.limited.nominalConcurrencyShares;
  assert.deepEqual([await shares("system"), await shares("node-high")], [30, 7]);
});

for (const path of [
  "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt",
  "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/workload-low",
  CIDR,
  SERVICE,
  SLICE,
  "/api/v1/namespaces/default/endpoints/kubernetes",
]) {
  test(`${path} is recreated as soon as it is deleted`, async () => {
    await using server = await startServer();
    await server.server.advertise({ address: "192.0.2.1", port: 7443 });
    const before = (await server.call("GET", path)).body;

    assert.equal((await server.call("DELETE", path)).code, 200);
    await server.clock.settle();

    const after = (await server.call("GET", path)).body;
    assert.notEqual(after.metadata.uid, before.metadata.uid);
    assert.deepEqual([after.spec, after.endpoints, after.subsets], [before.spec, before.endpoints, before.subsets]);
  });
}

test("bootstrap objects are recreated after the store becomes writable again", async () => {
  const clock = virtualClock();
  const state = { isBroken: false };
  const store = breakableStore(memoryStore(clock), state);
  await using server = await startServer({ store, clock });
  const path = `${FLOW}/flowschemas/exempt`;
  const code = async () => (await server.call("GET", path)).code;

  state.isBroken = true;
  assert.equal((await server.call("DELETE", path)).code, 200);
  await clock.advance(9_000);
  assert.equal(await code(), 404);
  state.isBroken = false;
  await clock.advance(1_000);
  assert.equal(await code(), 200);
});

test("a missing bootstrap object is created at the next start", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const first = await startServer({ store: wrappedStore(store, { close: () => Promise.resolve() }), clock });
  await first.server.close();
  const key = "/scheduling.k8s.io/priorityclasses/system-node-critical";
  await store.commit([{ type: "delete", key, precondition: { is: "exists" } }]);

  await using second = await startServer({ store, clock });

  assert.equal((await second.call("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical")).code, 200);
});

test("the default ServiceCIDR gains a second family, and any other configuration change is left to the administrator", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const cidrs = async (serviceClusterIpRange: string) => {
    await using server = await startServer({
      store: wrappedStore(store, { close: () => Promise.resolve() }),
      clock,
      config: { serviceClusterIpRange },
    });
    return (await server.call("GET", CIDR)).body.spec.cidrs;
  };

  assert.deepEqual(await cidrs("10.96.0.0/16"), ["10.96.0.0/16"]);
  assert.deepEqual(await cidrs("10.96.0.0/16,fd00::/112"), ["10.96.0.0/16", "fd00::/112"]);
  assert.deepEqual(await cidrs("10.97.0.0/16"), ["10.96.0.0/16", "fd00::/112"]);
});

test("the Service kubernetes routes to the server's advertised address", async () => {
  await using server = await startServer();
  await server.server.advertise({ address: "192.0.2.1", port: 7443 });

  const slice = (await server.call("GET", SLICE)).body;
  assert.deepEqual(
    [slice.addressType, slice.endpoints[0].addresses, slice.ports],
    ["IPv4", ["192.0.2.1"], [{ name: "https", port: 7443, protocol: "TCP" }]],
  );
  const { body } = await server.call("GET", "/api/v1/namespaces/default/endpoints/kubernetes");
  assert.deepEqual(body.subsets, [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ name: "https", port: 7443, protocol: "TCP" }] }]);
  assert.equal((await server.call("GET", SERVICE)).body.spec.ports[0].targetPort, 7443);
});

test("several servers can start concurrently on a new store", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const shared = () => wrappedStore(memory, { capabilities: { ...memory.capabilities, shared: true }, close: () => Promise.resolve() });

  const starting = Promise.all([1, 2, 3].map(() => startServer({ store: shared(), clock })));
  // A server whose cache lags behind a write of another one requests the progress of the store again after a while.
  await clock.advance(10_000);
  const servers = await starting;

  for (const server of servers) {
    assert.equal((await server.call("GET", SERVICE)).body.spec.clusterIP, "10.96.0.1");
    await server.server.close();
  }
});

test("on a shared store the kubernetes endpoints are those of all live servers", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const shared = () => wrappedStore(memory, { capabilities: { ...memory.capabilities, shared: true }, close: () => Promise.resolve() });
  await using first = await startServer({ store: shared(), clock });
  const second = await startServer({ store: shared(), clock });
  const addresses = async () =>
    (await first.call("GET", SLICE)).body.endpoints.map(({ addresses: [address] }: { addresses: string[] }) => address);
  await first.server.advertise({ address: "192.0.2.1", port: 6443 });

  await second.server.advertise({ address: "192.0.2.2", port: 6443 });
  assert.deepEqual(await addresses(), ["192.0.2.1", "192.0.2.2"]);
  await second.server.close();
  assert.deepEqual(await addresses(), ["192.0.2.1"]);
});

test("at the next start a missing IPAddress is recreated and an orphaned one is deleted", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  await using first = await startServer({ store, clock });
  const labels = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" };
  const left = (name: string, ofService: string) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: { name, labels },
    spec: { parentRef: { resource: "services", namespace: "default", name: ofService } },
  });
  await first.call("POST", "/api/v1/namespaces/default/services", {
    metadata: { name: "web" },
    spec: { clusterIP: "10.96.5.5", ports: [{ port: 80 }] },
  });
  await first.call("DELETE", `${ADDRESSES}/10.96.5.5`);
  assert.equal((await first.call("POST", ADDRESSES, left("10.96.7.7", "gone"))).code, 201);
  assert.equal((await first.call("POST", ADDRESSES, left("10.96.8.8", "web"))).code, 201);
  const own = { ...left("10.96.9.9", "gone"), metadata: { name: "10.96.9.9" } };
  assert.equal((await first.call("POST", ADDRESSES, own)).code, 201);

  await using second = await startServer({ store, clock });

  assert.deepEqual(await names(second, ADDRESSES), ["10.96.0.1", "10.96.5.5", "10.96.9.9"]);
});
