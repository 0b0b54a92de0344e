import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../testing/server.ts";

const REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";

test("a TokenReview returns the user of a token, or that the token is unknown", async () => {
  await using server = await startServer();

  const known = await server.call("POST", REVIEWS, { spec: { token: "known" } });
  const unknown = await server.call("POST", REVIEWS, { spec: { token: "other" } });
  const none = await server.call("POST", REVIEWS, { spec: {} });

  const user = { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
  assert.deepEqual([known.code, known.body.status], [201, { authenticated: true, user }]);
  assert.deepEqual([unknown.code, unknown.body.status], [201, { user: {}, error: "invalid bearer token" }]);
  assert.deepEqual([none.code, none.body.message], [400, "token is required for TokenReview in authentication"]);
});

test("a SelfSubjectReview returns the requesting user", async () => {
  await using server = await startServer();

  const { code, body } = await server.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {});

  assert.deepEqual([code, body.status.userInfo.username], [201, "kubernetes-admin"]);
  assert.deepEqual(body.metadata, { creationTimestamp: "2026-01-01T00:00:00Z" });
});
