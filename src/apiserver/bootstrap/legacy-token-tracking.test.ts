import assert from "node:assert/strict";
import { test } from "node:test";
import { startTokenServer } from "../authentication/service-account-token/testing/token-server.ts";

test("the legacy token tracking ConfigMap records the first date and keeps it", async () => {
  await using server = await startTokenServer();
  const path = "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking";

  const { body } = await server.call("GET", path);

  assert.deepEqual(body.data, { since: "2026-01-01" });
});
