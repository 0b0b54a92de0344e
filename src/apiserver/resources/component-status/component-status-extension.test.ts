import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "../../../testing/memory-store.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { startServer } from "../../testing/server.ts";
import { wrappedStore } from "../../testing/wrapped-store.ts";

const PATH = "/api/v1/componentstatuses";

test("the store is healthy as long as it answers", async () => {
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
  assert.deepEqual(broken.body.rows[0].cells, ["etcd-0", "Unhealthy", "the store does not answer", ""]);
});

test("there is nothing but what there is, and nobody can make more", async () => {
  await using server = await startServer();

  const none = await server.call("GET", `${PATH}/x`);
  assert.deepEqual([none.code, none.body.message], [404, 'componentstatus "x" not found']);
  assert.equal((await server.call("GET", `${PATH}?labelSelector=a`)).body.items.length, 0);
  assert.equal((await server.call("POST", PATH, { metadata: { name: "x" } })).code, 405);
  assert.equal((await server.call("DELETE", `${PATH}/etcd-0`)).code, 405);
});
