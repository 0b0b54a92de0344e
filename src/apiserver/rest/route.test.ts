import { deepEqual, equal, fail, throws } from "node:assert/strict";
import { test } from "node:test";
import { isReason } from "../../api/machinery/status-error.ts";
import { NO_AGGREGATION } from "../framework/apis/aggregation.ts";
import type { Document } from "../framework/document.ts";
import { startServer } from "../testing/server.ts";
import { routeOf, type RouteTable } from "./route.ts";

const HEALTH: Document = {
  name: "healthz",
  answers: (path) => path === "/healthz",
  answer: () => ({ code: 200, headers: {}, body: [] }),
};

const POD = "/api/v1/namespaces/x/pods/y";

for (const { path, expected } of [
  { path: "/healthz", expected: ["document", "healthz"] },
  { path: "/healthz/", expected: ["document", "healthz"] },
  { path: "/nothing", expected: ["document", undefined] },
  { path: POD, expected: ["resource", "pods", undefined, undefined] },
  { path: `${POD}/status`, expected: ["resource", "pods", "object", undefined] },
  { path: `${POD}/log`, expected: ["resource", "pods", "connection", true] },
  { path: `${POD}/log/more`, expected: ["resource", "pods", "connection", undefined] },
  { path: `${POD}/proxy/more`, expected: ["resource", "pods", "connection", true] },
  { path: `${POD}/__proto__`, expected: ["resource", "pods", undefined, undefined] },
  { path: "/apis/example.com/v1/widgets", expected: ["resource", undefined, undefined, undefined] },
]) {
  test(`${path} resolves to ${expected.filter((part) => typeof part === "string").join(" ")}`, async () => {
    await using server = await startServer();

    const route = routeOf({ endpoints: server.server.endpoints, documents: [HEALTH], aggregation: NO_AGGREGATION }, path);

    if (route.is === "document") return deepEqual([route.is, route.document?.name], expected);
    if (route.is === "remote") return fail("no other server is registered");
    const { resolved, connection } = route;
    deepEqual([route.is, resolved.endpoint?.resource.plural, resolved.subresource?.of, connection && true], expected);
  });
}

test("a path that cannot be decoded is a bad request", () => {
  const table: RouteTable = { endpoints: { find: () => undefined }, documents: [], aggregation: NO_AGGREGATION };

  throws(
    () => routeOf(table, "/api/v1/%zz"),
    (error) => isReason(error, "BadRequest"),
  );
});

test("the endpoint is looked up once per route", async () => {
  await using server = await startServer();
  let lookups = 0;
  const find: RouteTable["endpoints"]["find"] = (...resource) => {
    lookups++;
    return server.server.endpoints.find(...resource);
  };

  routeOf({ endpoints: { find }, documents: [], aggregation: NO_AGGREGATION }, `${POD}/exec`);

  equal(lookups, 1);
});
