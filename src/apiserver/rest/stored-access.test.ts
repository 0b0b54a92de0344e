import { equal } from "node:assert/strict";
import { test } from "node:test";
import { NO_AGGREGATION } from "../framework/apis/aggregation.ts";
import { startServer } from "../testing/server.ts";
import { storedAccess } from "./stored-access.ts";

for (const { method = "GET", path, expected } of [
  { path: "/api/v1/pods", expected: "read" },
  { path: "/api/v1/namespaces/x/pods/y", expected: "read" },
  { path: "/api/v1/namespaces/x/pods/y/status", expected: "read" },
  { path: "/api/v1/namespaces/x/pods/y/log", expected: undefined },
  { path: "/api/v1/namespaces/x/pods/y/proxy/more", expected: undefined },
  { path: "/apis/example.com/v1/widgets", expected: undefined },
  { path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", expected: undefined },
  { path: "/metrics", expected: undefined },
  { path: "/api/v1/%zz", expected: undefined },
  { method: "POST", path: "/api/v1/namespaces/x/pods", expected: "write" },
  { method: "POST", path: "/api/v1/namespaces/x/pods/y/exec", expected: undefined },
  { method: "DELETE", path: "/api/v1/namespaces/x/pods", expected: "write" },
  { method: "HEAD", path: "/api/v1/pods", expected: undefined },
]) {
  test(`${method} ${path} is ${expected === undefined ? "no access to stored objects alone" : `a ${expected} of stored objects`}`, async () => {
    await using server = await startServer();
    const table = { endpoints: server.server.endpoints, documents: [], aggregation: NO_AGGREGATION };
    equal(storedAccess(table, { method, path }), expected);
  });
}
