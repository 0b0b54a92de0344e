import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const A = `${CONFIG_MAPS}/a`;

for (const [query, message] of [
  ["dryRun=", 'dryRun: Unsupported value: [""]: supported values: "All"'],
  ["dryRun=All&dryRun=Bad", 'dryRun: Unsupported value: ["All","Bad"]: supported values: "All"'],
  ["fieldValidation=Bad", 'fieldValidation: Unsupported value: "Bad": supported values: "", "Ignore", "Strict", "Warn"'],
  ["fieldManager=a%0Ab", 'fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)'],
  [`fieldManager=${"a".repeat(129)}`, "fieldManager: Too long: may not be more than 128 bytes"],
] as const) {
  test(`every write rejects ${query.slice(0, 30)} before it checks anything else`, async () => {
    await using server = await startServer();

    const created = await server.call("POST", `${CONFIG_MAPS}?${query}`, "{");
    const updated = await server.call("PUT", `${A}?${query}`, "{");
    const patched = await server.call("PATCH", `${A}?${query}`, {}, { "content-type": "application/merge-patch+json" });

    assert.deepEqual(
      [created, updated, patched].map(({ code, body }) => [code, body.message]),
      ["Create", "Update", "Patch"].map((verb) => [422, `${verb}Options.meta.k8s.io "" is invalid: ${message}`]),
    );
  });
}
