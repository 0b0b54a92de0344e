import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

const PODS = "/api/v1/namespaces/default/pods";

test("a writer that sends a whole Pod through a subresource owns all fields that it changed, as upstream", async () => {
  await using server = await startServer();
  const { body: pod } = await server.call("POST", PODS, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });
  const ephemeralContainers = [{ name: "d", image: "j" }];

  const { body } = await server.call("PUT", `${PODS}/p/ephemeralcontainers?fieldManager=debugger`, {
    ...pod,
    metadata: { ...pod.metadata, labels: { l: "m" } },
    spec: { ...pod.spec, ephemeralContainers },
  });

  const claimed = body.metadata.managedFields.find(({ manager }: { manager: string }) => manager === "debugger");
  assert.equal(claimed.subresource, "ephemeralcontainers");
  assert.deepEqual(Object.keys(claimed.fieldsV1), ["f:metadata", "f:spec"]);
  assert.equal(body.metadata.labels, undefined);
});

test("the default field manager is the user agent up to its first slash", async () => {
  await using server = await startServer();
  const object = { metadata: { name: "a", labels: { l: "m" } } };

  const { body } = await server.call("POST", "/api/v1/namespaces/default/configmaps", object, { "user-agent": "program/1.2 (linux)" });

  assert.equal(body.metadata.managedFields[0].manager, "program");
});
