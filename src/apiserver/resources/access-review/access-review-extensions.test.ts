import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startGuardedServer, type StartedServer } from "../../testing/server.ts";

const GROUP = "/apis/authorization.k8s.io/v1";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const JANE = { name: "jane", groups: [] };
const podsInDefault = { verb: "get", resource: "pods", namespace: "default" };
const GIVEN = 'RBAC: allowed by RoleBinding "jane/default" of Role "reader" to User "jane"';
const LOST = 'RBAC: clusterrole.rbac.authorization.k8s.io "lost" not found';

/** Jane may get pods in "default"; Joe's role does not exist. */
async function withRoles(): Promise<StartedServer> {
  const server = await startGuardedServer();
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
  const to = (name: string, kind: string, role: string): JsonObject => ({
    metadata: { name },
    roleRef: { kind, name: role },
    subjects: [{ kind: "User", name }],
  });
  for (const [plural, object] of [
    ["roles", { metadata: { name: "reader" }, rules }],
    ["rolebindings", to("jane", "Role", "reader")],
    ["rolebindings", to("joe", "ClusterRole", "lost")],
  ] as const) {
    assert.equal((await server.call("POST", `${RBAC}/namespaces/default/${plural}`, object)).code, 201);
  }
  return server;
}

const QUESTIONS: readonly [what: string, path: string, spec: JsonObject, status: JsonObject][] = [
  ["a master", "subjectaccessreviews", { groups: ["system:masters"], resourceAttributes: podsInDefault }, { allowed: true }],
  [
    "a user with the permission",
    "subjectaccessreviews",
    { user: "jane", resourceAttributes: podsInDefault },
    { allowed: true, reason: GIVEN },
  ],
  [
    "a user in another namespace",
    "subjectaccessreviews",
    { user: "jane", resourceAttributes: { ...podsInDefault, namespace: "a" } },
    { allowed: false },
  ],
  [
    "a user whose role is missing",
    "subjectaccessreviews",
    { user: "joe", resourceAttributes: podsInDefault },
    { allowed: false, reason: LOST },
  ],
  ["a user on a path", "subjectaccessreviews", { user: "jane", nonResourceAttributes: { path: "/a", verb: "get" } }, { allowed: false }],
  [
    "a user in a namespace",
    "namespaces/default/localsubjectaccessreviews",
    { user: "jane", resourceAttributes: podsInDefault },
    { allowed: true, reason: GIVEN },
  ],
  ["oneself", "selfsubjectaccessreviews", { resourceAttributes: podsInDefault }, { allowed: true }],
];

for (const [what, path, spec, status] of QUESTIONS) {
  test(`an access review reports whether ${what} may, and why`, async () => {
    await using server = await withRoles();

    const { code, body } = await server.call("POST", `${GROUP}/${path}`, { spec });

    assert.deepEqual([code, body.status], [201, status]);
    assert.deepEqual(body.spec, spec);
  });
}

test("every user may review their own access, and only some that of others", async () => {
  await using server = await withRoles();
  const { call } = server.as(JANE);

  assert.deepEqual((await call("POST", `${GROUP}/selfsubjectaccessreviews`, { spec: { resourceAttributes: podsInDefault } })).body.status, {
    allowed: true,
    reason: GIVEN,
  });
  assert.equal(
    (await call("POST", `${GROUP}/subjectaccessreviews`, { spec: { user: "joe", resourceAttributes: podsInDefault } })).code,
    403,
  );
});

test("a LocalSubjectAccessReview applies to its namespace only", async () => {
  await using server = await startGuardedServer();
  const path = `${GROUP}/namespaces/default/localsubjectaccessreviews`;
  const spec = { user: "jane", resourceAttributes: { ...podsInDefault, namespace: "other" } };

  const answer = await server.call("POST", path, { spec });

  assert.deepEqual([answer.code, answer.body.details.causes[0].field], [422, "spec.resourceAttributes.namespace"]);
  assert.equal((await server.call("POST", path, { metadata: { namespace: "other" }, spec })).code, 400);
});

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
  test(`a review with selectors ${what} is answered ${error === undefined ? "without an error" : "with the ignored parts"}`, async () => {
    await using server = await startGuardedServer();

    const { body } = await server.call("POST", `${GROUP}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes: { ...podsInDefault, ...attributes } },
    });

    assert.deepEqual([body.status.allowed, body.status.evaluationError], [true, error]);
  });
}

test("server-set metadata of an access review is ignored", async () => {
  await using server = await startGuardedServer();
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

test("a SelfSubjectRulesReview lists rules with evaluation errors, and requires a namespace", async () => {
  await using server = await withRoles();
  const ask = (name: string, spec: JsonObject) =>
    server.as({ name, groups: [] }).call("POST", `${GROUP}/selfsubjectrulesreviews`, { spec });

  const { status, spec } = (await ask("jane", { namespace: "default" })).body;
  const elsewhere = (await ask("jane", { namespace: "kube-system" })).body.status;
  const lost = (await ask("joe", { namespace: "default" })).body.status;
  const refused = await ask("jane", {});

  const getPods = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
  assert.deepEqual(status.resourceRules.at(-1), getPods);
  assert.deepEqual([status.incomplete, status.evaluationError, spec], [false, undefined, {}]);
  assert.equal(elsewhere.resourceRules.length, status.resourceRules.length - 1);
  assert.equal(lost.evaluationError, 'clusterrole.rbac.authorization.k8s.io "lost" not found');
  assert.deepEqual([refused.code, refused.body.message], [400, "no namespace on request"]);
});
