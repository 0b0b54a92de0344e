import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "./server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

test("a test server answers calls, and a watch receives their changes", async () => {
  await using server = await startServer();
  const watch = await server.watch(`${CONFIG_MAPS}?watch=true`);

  const created = await server.call("POST", CONFIG_MAPS, { metadata: { name: "a" }, data: { key: "value" } });
  await server.clock.settle();

  assert.equal(created.code, 201);
  assert.deepEqual(
    watch.events.map(({ type, object }) => [type, object.metadata.name, object.data]),
    [["ADDED", "a", { key: "value" }]],
  );
});
