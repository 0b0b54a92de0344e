import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { startCluster } from "./cluster.ts";

test("without options a cluster starts in memory and says what runs", async () => {
  await using cluster = await startCluster();
  deepEqual(cluster.parts, [{ name: "store", description: "in memory, gone when this process ends" }]);
});

test("closing twice is closing once, and several clusters live side by side", async () => {
  const [a, b] = await Promise.all([startCluster(), startCluster()]);
  await Promise.all([a.close(), a.close()]);
  await a.close();
  await b.close();
});
