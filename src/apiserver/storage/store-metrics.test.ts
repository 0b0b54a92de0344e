import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

test("/metrics has the duration of the store's operations by resource, under upstream's name", async () => {
  await using server = await startServer();
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } };
  await server.call("POST", "/api/v1/namespaces/default/configmaps", map);
  await server.call("PUT", "/api/v1/namespaces/default/configmaps/a", { ...map, data: { a: "b" } });
  await server.call("DELETE", "/api/v1/namespaces/default/configmaps/a");

  const { text } = await server.call("GET", "/metrics");

  const counts = text.split("\n").filter((line) => line.startsWith("etcd_request_duration_seconds_count") && line.includes('"configmaps"'));
  const operations = counts
    .map((line) => /operation="(\w+)"/.exec(line)?.[1] ?? "")
    .filter((operation) => operation !== "list" && operation !== "get");
  deepEqual(operations.toSorted(), ["create", "delete", "update"]);
});

test("/metrics has request latencies under the name of the service level indicators, without long-running requests", async () => {
  await using server = await startServer();
  await server.call("GET", "/api/v1/namespaces/default");

  const { text } = await server.call("GET", "/metrics");

  const line = text
    .split("\n")
    .find(
      (one) =>
        one.startsWith("apiserver_request_sli_duration_seconds_count") &&
        one.includes('resource="namespaces"') &&
        one.includes('verb="GET"'),
    );
  deepEqual(line?.split(" ").at(-1) === "0", false);
});
