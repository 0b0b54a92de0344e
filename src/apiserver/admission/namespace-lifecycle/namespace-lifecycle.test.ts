import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../testing/server.ts";

const POD = { containers: [{ name: "c", image: "i" }] };

test("a missing namespace is reported before validation errors of the object", async () => {
  await using server = await startServer();

  const { code, body } = await server.call("POST", "/api/v1/namespaces/nope/configmaps", { metadata: { name: "Not A Name" } });

  assert.deepEqual([code, body.message], [404, 'namespaces "nope" not found']);
});

test("a terminating namespace rejects creates and bindings", async () => {
  await using server = await startServer();
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  await server.call("POST", "/api/v1/namespaces/n/pods", { metadata: { name: "p" }, spec: POD });
  await server.call("DELETE", "/api/v1/namespaces/n");

  const created = await server.call("POST", "/api/v1/namespaces/n/configmaps", { metadata: { name: "c" } });
  const bound = await server.call("POST", "/api/v1/namespaces/n/pods/p/binding", { metadata: { name: "p" }, target: { name: "node" } });

  assert.deepEqual([created.code, created.body.details.causes[0].reason], [403, "NamespaceTerminating"]);
  assert.deepEqual([bound.code, bound.body.details.causes[0].reason], [403, "NamespaceTerminating"]);
});

test("the system namespaces cannot be deleted", async () => {
  await using server = await startServer();

  const { code, body } = await server.call("DELETE", "/api/v1/namespaces/kube-system");

  assert.deepEqual([code, body.message], [403, 'namespaces "kube-system" is forbidden: this namespace may not be deleted']);
});
