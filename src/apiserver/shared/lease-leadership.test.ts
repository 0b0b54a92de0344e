import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const MERGE = { "content-type": "application/merge-patch+json" };
const BY_A = { "k8ts-leadership": "kube-system/manager/a" };

async function serverWithLeaseOf(holderIdentity: string): Promise<StartedServer> {
  const server = await startServer();
  const spec = { holderIdentity, leaseDurationSeconds: 15 };
  assert.equal((await server.call("POST", LEASES, { metadata: { name: "manager" }, spec })).code, 201);
  return server;
}

test("a writer with a leadership header may write until another one holds the lease, then every write is rejected", async () => {
  await using server = await serverWithLeaseOf("a");
  assert.equal((await server.call("POST", MAPS, { metadata: { name: "one" } }, BY_A)).code, 201);
  await server.call("PATCH", `${LEASES}/manager`, { spec: { holderIdentity: "b" } }, MERGE);

  for (const [method, path, body, headers] of [
    ["POST", MAPS, { metadata: { name: "two" } }, {}],
    ["PUT", `${MAPS}/one`, { metadata: { name: "one" }, data: { a: "1" } }, {}],
    ["PATCH", `${MAPS}/one`, { data: { a: "1" } }, MERGE],
    ["DELETE", `${MAPS}/one`, undefined, {}],
    ["DELETE", MAPS, undefined, {}],
  ] as const) {
    const answer = await server.call(method, path, body, { ...headers, ...BY_A });
    assert.deepEqual([answer.code, answer.body.reason], [409, "Conflict"], `${method} ${path}`);
    assert.match(answer.body.message, /The lease kube-system\/manager is not held by "a"/);
  }

  const { items } = (await server.call("GET", MAPS, undefined, BY_A)).body;
  assert.deepEqual(
    items.map(({ metadata, data }: { metadata: { name: string }; data?: object }) => [metadata.name, data]),
    [["one", undefined]],
  );
});

test("a lease without a holder, or a deleted one, lets no writer write", async () => {
  await using server = await serverWithLeaseOf("");
  assert.equal((await server.call("POST", MAPS, { metadata: { name: "x" } }, BY_A)).code, 409);
  await server.call("DELETE", `${LEASES}/manager`);
  assert.equal((await server.call("POST", MAPS, { metadata: { name: "x" } }, BY_A)).code, 409);
});

test("a leadership header that cannot be parsed is rejected, not ignored", async () => {
  await using server = await serverWithLeaseOf("a");
  const { code, body } = await server.call("POST", MAPS, { metadata: { name: "x" } }, { "k8ts-leadership": "a" });
  assert.deepEqual([code, body.reason], [400, "BadRequest"]);
});

test("the in-process transport checks leadership, too", async () => {
  await using server = await serverWithLeaseOf("b");
  const request = {
    verb: "create",
    group: "",
    version: "v1",
    plural: "configmaps",
    namespace: "default",
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "default" } },
  } as const;
  const leadership = { namespace: "kube-system", name: "manager" };

  await assert.rejects(server.transport().request({ ...request, leadership: { ...leadership, holder: "a" } }), /is not held by "a"/);
  await server.transport().request({ ...request, leadership: { ...leadership, holder: "b" } });
});
