import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startServer } from "../../testing/server.ts";

const GROUP = "/apis/authorization.k8s.io/v1";
const JANE = { name: "jane", groups: ["dev"] };
const asJane = { authenticator: { authenticate: () => JANE, authenticateToken: () => undefined } };
const podsInDefault = { verb: "get", resource: "pods", namespace: "default" };
const publicMaps = { verb: "list", resource: "configmaps", namespace: "kube-public" };

const QUESTIONS: readonly [what: string, path: string, spec: JsonObject, allowed: boolean][] = [
  ["a master", "subjectaccessreviews", { groups: ["system:masters"], resourceAttributes: podsInDefault }, true],
  ["somebody", "subjectaccessreviews", { user: "jane", resourceAttributes: podsInDefault }, false],
  [
    "somebody about a public path",
    "subjectaccessreviews",
    { user: "jane", nonResourceAttributes: { path: "/version", verb: "get" } },
    true,
  ],
  ["somebody about what is public", "subjectaccessreviews", { user: "jane", resourceAttributes: publicMaps }, true],
  ["somebody in a namespace", "namespaces/default/localsubjectaccessreviews", { user: "jane", resourceAttributes: podsInDefault }, false],
  ["oneself", "selfsubjectaccessreviews", { resourceAttributes: podsInDefault }, true],
];

for (const [what, path, spec, allowed] of QUESTIONS) {
  test(`a review tells whether ${what} may`, async () => {
    await using server = await startServer();

    const { code, body } = await server.call("POST", `${GROUP}/${path}`, { spec });

    assert.deepEqual([code, body.status], [201, { allowed }]);
    assert.deepEqual(body.spec, spec);
  });
}

const SELECTORS: readonly [what: string, attributes: JsonObject, error: string | undefined][] = [
  ["that are understood", { fieldSelector: { rawSelector: "a=b" }, labelSelector: { rawSelector: "a=b" } }, undefined],
  [
    "that are not understood",
    { fieldSelector: { rawSelector: "a" }, labelSelector: { rawSelector: "a in" } },
    "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error",
  ],
  [
    "of the future",
    {
      fieldSelector: { requirements: [{ key: "a", operator: "Exists" }] },
      labelSelector: {
        requirements: [
          { key: "a", operator: "Near" },
          { key: "a", operator: "Exists" },
        ],
      },
    },
    "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error",
  ],
];

for (const [what, attributes, error] of SELECTORS) {
  test(`a question with selectors ${what} is answered ${error === undefined ? "plainly" : "with what was left out"}`, async () => {
    await using server = await startServer();

    const { body } = await server.call("POST", `${GROUP}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes: { ...podsInDefault, ...attributes } },
    });

    assert.equal(body.status.evaluationError, error);
  });
}

test("what only the server says of an object is no question", async () => {
  await using server = await startServer();
  const metadata = { uid: "a", selfLink: "b", deletionTimestamp: "2026-01-02T03:04:05Z" };

  const { code, body } = await server.call("POST", `${GROUP}/selfsubjectaccessreviews`, {
    metadata,
    spec: { resourceAttributes: podsInDefault },
  });

  assert.equal(code, 201);
  assert.deepEqual(
    Object.keys(metadata).filter((field) => field in body.metadata),
    [],
  );
});

test("a question may be about objects that have a label or a field, whatever its value", async () => {
  await using server = await startServer();
  const requirements = [{ key: "a", operator: "Exists" }];
  const attributes = { ...podsInDefault, labelSelector: { requirements }, fieldSelector: { requirements } };

  const { code } = await server.call("POST", `${GROUP}/selfsubjectaccessreviews`, { spec: { resourceAttributes: attributes } });

  assert.equal(code, 201);
});

test("what one may do is listed, and only with a namespace", async () => {
  await using server = await startServer();
  const ask = (spec: JsonObject) => server.call("POST", `${GROUP}/selfsubjectrulesreviews`, { spec });

  const { body } = await ask({ namespace: "default" });
  const refused = await ask({});

  assert.deepEqual(body.status.resourceRules, [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
  assert.deepEqual([refused.code, refused.body.message], [400, "no namespace on request"]);
});

test("who may do little is told what is public", async () => {
  await using server = await startServer(asJane);
  const transport = server.server.transport({ user: { name: "a", groups: ["system:masters"] }, userAgent: "test" });
  await transport.request({
    verb: "create",
    group: "",
    version: "v1",
    plural: "configmaps",
    namespace: "kube-public",
    object: { metadata: { name: "cluster-info" }, data: { a: "b" } },
  });

  assert.equal((await server.call("GET", "/api/v1/namespaces/kube-public/configmaps/cluster-info")).body.data.a, "b");
  assert.equal((await server.call("GET", "/api/v1/namespaces/kube-public/secrets")).code, 403);
  assert.equal((await server.call("DELETE", "/api/v1/namespaces/kube-public/configmaps/cluster-info")).code, 403);
});

test("kube-public is readable also by who shows nothing, and nothing else is", async () => {
  await using server = await startServer({ authenticator: { authenticate: () => undefined, authenticateToken: () => undefined } });

  assert.equal((await server.call("GET", "/api/v1/namespaces/kube-public/configmaps")).code, 200);
  assert.equal((await server.call("GET", "/api/v1/namespaces/kube-system/configmaps")).code, 401);
  assert.equal((await server.call("POST", "/api/v1/namespaces/kube-public/configmaps", { metadata: { name: "x" } })).code, 401);
});
