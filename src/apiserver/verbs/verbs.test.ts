import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

const IN_DEFAULT = "/api/v1/namespaces/default";
const NOT_ALLOWED = "the server does not allow this method on the requested resource";
const NOT_FOUND = "the server could not find the requested resource";

for (const [method, path, code, message] of [
  ["POST", "/api/v1/configmaps", 405, NOT_ALLOWED],
  ["DELETE", "/api/v1/configmaps", 405, NOT_ALLOWED],
  ["GET", "/api/v1/configmaps/a", 404, NOT_FOUND],
  ["PUT", `${IN_DEFAULT}/configmaps`, 405, NOT_ALLOWED],
  ["PATCH", `${IN_DEFAULT}/configmaps`, 405, NOT_ALLOWED],
  ["POST", `${IN_DEFAULT}/configmaps/a`, 405, NOT_ALLOWED],
  ["POST", `${IN_DEFAULT}/pods/a/status`, 405, NOT_ALLOWED],
  ["DELETE", "/api/v1/namespaces", 405, NOT_ALLOWED],
  ["OPTIONS", `${IN_DEFAULT}/configmaps`, 405, NOT_ALLOWED],
  ["OPTIONS", `${IN_DEFAULT}/things`, 404, NOT_FOUND],
  ["GET", `${IN_DEFAULT}/nodes`, 404, NOT_FOUND],
  ["GET", "/apis/apps/v9/deployments", 404, NOT_FOUND],
] as const) {
  test(`${method} ${path} is answered with ${code}`, async () => {
    await using server = await startServer();

    const answer = await server.call(method, path, method === "POST" || method === "PUT" ? { metadata: { name: "a" } } : undefined);

    assert.deepEqual([answer.code, answer.body.message, answer.body.details], [code, message, {}]);
  });
}
