import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../testing/server.ts";

const GROUP = "/apis/resource.k8s.io/v1/namespaces";
const WORDS = "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";
const devices = { requests: [{ name: "all", exactly: { deviceClassName: "gpu", allocationMode: "All", adminAccess: true } }] };

test("ResourceClaims and templates may request admin access only in a labelled namespace", async () => {
  await using server = await startServer();
  const labels = { "resource.kubernetes.io/admin-access": "true" };
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "admin", labels } });
  const objects = { resourceclaims: { devices }, resourceclaimtemplates: { spec: { devices } } };

  for (const [plural, spec] of Object.entries(objects)) {
    const refused = await server.call("POST", `${GROUP}/default/${plural}`, { metadata: { name: "c" }, spec });
    const made = await server.call("POST", `${GROUP}/admin/${plural}`, { metadata: { name: "c" }, spec });

    assert.deepEqual([refused.code, made.code], [422, 201], made.text);
    assert.equal(refused.body.details.causes[0].message, `Forbidden: ${WORDS}`);
    assert.equal(refused.body.details.causes[0].field, "spec.devices.requests[0].adminAccess");
  }
});

test("a rejected admin access request includes all other validation errors", async () => {
  await using server = await startServer();

  const { body } = await server.call("POST", `${GROUP}/default/resourceclaims`, { metadata: { name: "C" }, spec: { devices } });

  assert.deepEqual(
    body.details.causes.map(({ field }: { field: string }) => field),
    ["spec.devices.requests[0].adminAccess", "metadata.name"],
  );
});
