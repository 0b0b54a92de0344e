import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { all } from "../controllers/all.ts";
import { startCluster } from "./cluster.ts";

const RUNNING = all({ rootCa: "" }).length;

test("without options a cluster starts in memory and says what runs", async () => {
  await using cluster = await startCluster();
  deepEqual(cluster.parts, [
    { name: "store", description: "in memory, gone when this process ends" },
    { name: "API server", description: cluster.url },
    { name: "controllers", description: `${RUNNING} running` },
  ]);
});

test("closing twice is closing once, and several clusters live side by side", async () => {
  const [a, b] = await Promise.all([startCluster(), startCluster()]);
  await Promise.all([a.close(), a.close()]);
  await a.close();
  await b.close();
});

test("a program in the same process uses the API without a socket", async () => {
  await using cluster = await startCluster();
  const transport = cluster.transport({ userAgent: "a-test" });

  const made = await transport.request({
    ...{ verb: "create", group: "", version: "v1", plural: "configmaps", namespace: "default" },
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { key: "value" } },
  });

  const read = await transport.request({ verb: "get", group: "", version: "v1", plural: "configmaps", namespace: "default", name: "a" });
  equal(made.is === "object" && made.created, true);
  equal(read.is === "object" && made.is === "object" && read.object === made.object, true, "it is the same object, not a copy");
});
