import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestMetrics } from "./request-metrics.ts";
import type { ApiRequest } from "../framework/request.ts";
import { startServer } from "../testing/server.ts";

function request(plural: string): ApiRequest {
  const context = { user: { name: "u", groups: [] }, userAgent: "", warn() {} };
  return { verb: "get", group: "", version: "v1", plural, subresource: "", namespace: "", name: "", options: {}, context };
}

test("metrics keep at most 10,000 series, and existing ones continue to count", () => {
  const metrics = new RequestMetrics();
  for (let index = 0; index < 10_100; index++) metrics.request(request(`r${index}`), 200, 1);

  metrics.request(request("r7"), 200, 1);

  assert.deepEqual([metrics.requests.size, metrics.durations.size], [10_000, 10_000]);
  assert.equal(metrics.requests.get("GET\t\tv1\tr7\t\tcluster\t200"), 2);
  assert.equal(metrics.durations.get("GET\t\tv1\tr7\t\tcluster")?.count, 2);
});

test("requests for unknown resources share one metric series, whatever their names", async () => {
  await using server = await startServer();
  // The server's own requests at its start are counted, too.
  const before = new Set((await server.call("GET", "/metrics")).text.split("\n"));
  for (let index = 0; index < 50; index++) {
    for (const path of [`/apis/g${index}/v1/things`, `/apis/apps/v${index}x/things`, `/api/v1/things${index}/n/sub${index}`]) {
      assert.equal((await server.call("GET", path)).code, 404, path);
    }
  }
  await server.call("GET", "/api/v1/configmaps");

  const { text } = await server.call("GET", "/metrics");

  const counted = text
    .split("\n")
    .filter((line) => line.startsWith("apiserver_request_total{") && line.includes('code="404"') && !before.has(line));
  assert.deepEqual(
    counted.map((line) => [/resource="([^"]*)"/.exec(line)?.[1], /subresource="([^"]*)"/.exec(line)?.[1], line.split(" ").at(-1)]),
    [
      ["", "", "100"],
      ["", "", "50"],
    ],
  );
  assert.match(text, /apiserver_request_total\{code="200",.*resource="configmaps"/);
});
