import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "../../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { startServer } from "../../testing/server.ts";
import { wrappedStore } from "../../testing/wrapped-store.ts";

const PATH = "/api/v1/componentstatuses";

test("ComponentStatus: the store is healthy while it responds", async () => {
  const memory = memoryStore(virtualClock());
  let isBroken = false;
  const store = wrappedStore(memory, {
    currentRevision: () => (isBroken ? Promise.reject(new Error("gone")) : memory.currentRevision()),
  });
  await using server = await startServer({ store });

  const { body, headers } = await server.call("GET", `${PATH}/etcd-0`);
  isBroken = true;
  const broken = await server.call("GET", PATH, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });

  assert.deepEqual(body.conditions, [{ type: "Healthy", status: "True", message: "ok" }]);
  assert.match(String(headers["warning"]), /v1 ComponentStatus is deprecated in v1\.19\+/);
  assert.deepEqual(broken.body.rows[1].cells, ["etcd-0", "Unhealthy", "the store does not respond", ""]);
});

test("ComponentStatus is read-only and has no other components", async () => {
  await using server = await startServer();

  const none = await server.call("GET", `${PATH}/x`);
  assert.deepEqual([none.code, none.body.message], [404, 'componentstatus "x" not found']);
  assert.equal((await server.call("GET", `${PATH}?labelSelector=a`)).body.items.length, 0);
  assert.equal((await server.call("POST", PATH, { metadata: { name: "x" } })).code, 405);
  assert.equal((await server.call("DELETE", `${PATH}/etcd-0`)).code, 405);
});

test("ComponentStatus: scheduler and controller manager are healthy while a leader renews their leases", async () => {
  await using server = await startServer();
  const name = "kube-scheduler";
  const messages = async () => {
    const { body } = await server.call("GET", PATH);
    return body.items.map(({ metadata, conditions: [{ status, message }] }: Shown) => [metadata.name, status, message]);
  };
  const renewTime = new Date(server.clock.now()).toISOString().replace("Z", "000Z");
  const missing = await messages();
  await server.call("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", {
    metadata: { name },
    spec: { holderIdentity: "node_1", leaseDurationSeconds: 15, renewTime },
  });
  const renewed = await messages();
  await server.clock.advance(20_000);
  const expired = await messages();

  const controllerManager = [
    "controller-manager",
    "False",
    "the lease kube-system/kube-controller-manager does not exist: no process has been the leader yet",
  ];
  const etcd = ["etcd-0", "True", "ok"];
  assert.deepEqual(missing.slice(0, 2), [controllerManager, etcd]);
  assert.deepEqual(renewed, [controllerManager, etcd, ["scheduler", "True", "ok"]]);
  assert.deepEqual(expired, [
    controllerManager,
    etcd,
    ["scheduler", "False", "the lease kube-system/kube-scheduler of node_1 expired 5s ago"],
  ]);
});

interface Shown {
  readonly metadata: { readonly name: string };
  readonly conditions: readonly [{ readonly status: string; readonly message: string }];
}
