import assert from "node:assert/strict";
import { test } from "node:test";
import { SMALL_BODY_BYTES_MAX } from "./body-limits.ts";
import { startServer } from "../testing/server.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const PODS = "/api/v1/namespaces/default/pods";
const BINDING_BYTES_MAX = 512 * 1024;

/** A body of exactly this size: JSON with spaces behind it. */
function ofSize(body: object, sizeBytes: number): string {
  return JSON.stringify(body).padEnd(sizeBytes, " ");
}

const review = { spec: { resourceAttributes: { verb: "get", resource: "pods" } } };
const ROWS = [
  { it: "a SelfSubjectAccessReview", method: "POST", path: REVIEWS, body: review, limit: SMALL_BODY_BYTES_MAX },
  {
    it: "a TokenReview",
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { spec: { token: "known" } },
    limit: SMALL_BODY_BYTES_MAX,
  },
  { it: "an Eviction", method: "POST", path: `${PODS}/a/eviction`, body: { metadata: { name: "a" } }, limit: SMALL_BODY_BYTES_MAX },
  {
    it: "a TokenRequest",
    method: "POST",
    path: "/api/v1/namespaces/default/serviceaccounts/default/token",
    body: {},
    limit: SMALL_BODY_BYTES_MAX,
  },
  { it: "DeleteOptions of an object", method: "DELETE", path: `${PODS}/a`, body: {}, limit: SMALL_BODY_BYTES_MAX },
  { it: "DeleteOptions of a collection", method: "DELETE", path: PODS, body: {}, limit: SMALL_BODY_BYTES_MAX },
  { it: "a Binding", method: "POST", path: `${PODS}/a/binding`, body: { target: { name: "n" } }, limit: BINDING_BYTES_MAX },
  {
    it: "a Binding in its collection",
    method: "POST",
    path: "/api/v1/namespaces/default/bindings",
    body: { metadata: { name: "a" }, target: { name: "n" } },
    limit: BINDING_BYTES_MAX,
  },
] as const;

for (const { it, method, path, body, limit } of ROWS) {
  test(`${it} may have ${limit} bytes, and one byte more is rejected with 413`, async () => {
    await using server = await startServer();
    const headers = { "content-type": "application/json" };

    const largest = await server.call(method, path, ofSize(body, limit), headers);
    const larger = await server.call(method, path, ofSize(body, limit + 1), headers);

    assert.notEqual(largest.code, 413, largest.text);
    assert.equal(larger.code, 413);
    assert.equal(larger.body.message, `Request entity too large: limit is ${limit}`);
    assert.equal(larger.body.reason, "RequestEntityTooLarge");
  });
}

test("the body of a stored object is limited by the HTTP server only", async () => {
  await using server = await startServer();
  const body = { metadata: { name: "a" }, data: { a: "x".repeat(1024 * 1024) } };

  const { code } = await server.call("POST", "/api/v1/namespaces/default/configmaps", body);

  assert.equal(code, 201);
});
