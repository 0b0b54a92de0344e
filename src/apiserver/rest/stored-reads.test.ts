import { equal } from "node:assert/strict";
import { test } from "node:test";
import { NO_AGGREGATION } from "../framework/apis/aggregation.ts";
import { startServer } from "../testing/server.ts";
import { readsStoredObjects } from "./stored-reads.ts";

for (const { method = "GET", path, expected } of [
  { path: "/api/v1/pods", expected: true },
  { path: "/api/v1/namespaces/x/pods/y", expected: true },
  { path: "/api/v1/namespaces/x/pods/y/status", expected: true },
  { path: "/api/v1/namespaces/x/pods/y/log", expected: false },
  { path: "/api/v1/namespaces/x/pods/y/proxy/more", expected: false },
  { path: "/apis/example.com/v1/widgets", expected: false },
  { path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", expected: false },
  { path: "/metrics", expected: false },
  { path: "/api/v1/%zz", expected: false },
  { method: "POST", path: "/api/v1/namespaces/x/pods", expected: false },
  { method: "DELETE", path: "/api/v1/namespaces/x/pods", expected: false },
]) {
  test(`${method} ${path} ${expected ? "only reads stored objects" : "is not only a read of stored objects"}`, async () => {
    await using server = await startServer();
    const table = { endpoints: server.server.endpoints, documents: [], aggregation: NO_AGGREGATION };
    equal(readsStoredObjects(table, { method, path }), expected);
  });
}
