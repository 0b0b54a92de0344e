import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startGuardedServer, type StartedServer } from "../../testing/server.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MERGE = { "content-type": "application/merge-patch+json" };
/** Jane may write policies; Joe may also get ConfigMaps. */
const JANE = { name: "jane", uid: "1", groups: ["dev"], extra: { b: ["x", "y"], a: ["z"] } };
const JOE = { name: "joe", groups: [] };
const SHOWN_JANE = "&{jane 1 [dev system:authenticated] map[a:[z] b:[x y]]}";

async function withWriters(): Promise<StartedServer> {
  const server = await startGuardedServer();
  const write = { verbs: ["create", "update", "patch"], apiGroups: ["admissionregistration.k8s.io"], resources: ["*"] };
  const read = { verbs: ["get"], apiGroups: [""], resources: ["configmaps"] };
  for (const [name, rules, users] of [
    ["write", [write], ["jane", "joe"]],
    ["read", [read], ["joe"]],
  ] as const) {
    const subjects = users.map((user) => ({ kind: "User", name: user }));
    assert.equal((await server.call("POST", `${RBAC}/clusterroles`, { metadata: { name }, rules })).code, 201);
    const binding = { metadata: { name }, roleRef: { kind: "ClusterRole", name }, subjects };
    assert.equal((await server.call("POST", `${RBAC}/clusterrolebindings`, binding)).code, 201);
  }
  return server;
}

const CONFIG_MAPS = { apiVersion: "v1", kind: "ConfigMap" };
const matchConstraints = { resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }] };

function validating(name: string, paramKind: JsonObject, more: JsonObject = {}): JsonObject {
  return { metadata: { name }, spec: { paramKind, matchConstraints, validations: [{ expression: "true" }], ...more } };
}

function mutating(name: string, paramKind: JsonObject): JsonObject {
  const expression = '[JSONPatch{op: "add", path: "/a", value: "b"}]';
  const mutations = [{ patchType: "JSONPatch", jsonPatch: { expression } }];
  return { metadata: { name }, spec: { paramKind, matchConstraints, reinvocationPolicy: "Never", mutations } };
}

function bindingOf(policyName: string, paramRef: JsonObject): JsonObject {
  return { metadata: { name: "b" }, spec: { policyName, paramRef: { parameterNotFoundAction: "Deny", ...paramRef } } };
}

test("a policy with a paramKind requires permission to get all objects of that kind, which system:masters has", async () => {
  await using server = await withWriters();
  const rows = [
    ["validatingadmissionpolicies", validating("p", CONFIG_MAPS)],
    ["mutatingadmissionpolicies", mutating("p", CONFIG_MAPS)],
  ] as const;

  for (const [plural, policy] of rows) {
    const path = `${GROUP}/${plural}?dryRun=All`;
    const refused = await server.as(JANE).call("POST", path, policy);
    assert.equal(refused.code, 422);
    assert.deepEqual(refused.body.details.causes, [
      {
        reason: "FieldValueForbidden",
        message: `Forbidden: user ${SHOWN_JANE} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`,
        field: "spec.paramKind",
      },
    ]);
    assert.equal((await server.as(JOE).call("POST", path, policy)).code, 201);
    assert.equal((await server.call("POST", path, policy)).code, 201);
  }
});

test("a policy with an unresolvable paramKind requires permission to get everything", async () => {
  await using server = await withWriters();

  const { code } = await server
    .as(JOE)
    .call("POST", `${GROUP}/validatingadmissionpolicies`, validating("p", { apiVersion: "v1", kind: "Unknown" }));

  assert.equal(code, 422);
});

test("an invalid policy is rejected with its validation errors only", async () => {
  await using server = await withWriters();

  const { body } = await server
    .as(JANE)
    .call("POST", `${GROUP}/validatingadmissionpolicies`, validating("p", CONFIG_MAPS, { validations: [] }));

  assert.deepEqual(
    body.details.causes.map(({ field }: { field: string }) => field),
    ["spec.validations", "spec.auditAnnotations"],
  );
});

test("a policy may be updated without access to its parameters while paramKind is unchanged", async () => {
  await using server = await withWriters();
  await server.call("POST", `${GROUP}/validatingadmissionpolicies`, validating("p", CONFIG_MAPS));
  const patch = (body: JsonObject) => server.as(JANE).call("PATCH", `${GROUP}/validatingadmissionpolicies/p`, body, MERGE);

  assert.equal((await patch({ spec: { failurePolicy: "Ignore" } })).code, 200);
  assert.equal((await patch({ spec: { paramKind: { kind: "Secret" } } })).code, 422);
});

const BINDINGS: readonly [what: string, plural: string, policy: string, paramRef: JsonObject, message: string][] = [
  [
    "one object",
    "validatingadmissionpolicybindings",
    "p",
    { name: "a" },
    `user ${SHOWN_JANE} does not have "get" permission on the object referenced by paramRef`,
  ],
  [
    "some objects",
    "validatingadmissionpolicybindings",
    "p",
    { selector: {} },
    `user ${SHOWN_JANE} does not have "list" permission on the object referenced by paramRef`,
  ],
  [
    "an object of a missing kind",
    "validatingadmissionpolicybindings",
    "unknown",
    { name: "a" },
    `unable to resolve paramKind &{v1 Unknown} to determine minimum required permissions and user ${SHOWN_JANE} does not have "get" permission for all groups, versions and resources`,
  ],
  [
    "an object for a missing policy",
    "mutatingadmissionpolicybindings",
    "lost",
    { name: "a" },
    `unable to get policy lost to determine minimum required permissions and user ${SHOWN_JANE} does not have "get" permission for all groups, versions and resources`,
  ],
  [
    "one object for changes",
    "mutatingadmissionpolicybindings",
    "p",
    { name: "a" },
    `user get does not have "${SHOWN_JANE}" permission on the object referenced by paramRef`,
  ],
];

for (const [what, plural, policy, paramRef, message] of BINDINGS) {
  test(`a binding to ${what} requires permission to read it`, async () => {
    await using server = await withWriters();
    await server.call("POST", `${GROUP}/validatingadmissionpolicies`, validating("p", CONFIG_MAPS));
    await server.call("POST", `${GROUP}/validatingadmissionpolicies`, validating("unknown", { apiVersion: "v1", kind: "Unknown" }));
    await server.call("POST", `${GROUP}/mutatingadmissionpolicies`, mutating("p", CONFIG_MAPS));
    const binding = bindingOf(policy, paramRef);
    const actions = plural.startsWith("validating") ? { validationActions: ["Deny"] } : {};

    const { code, body } = await server
      .as(JANE)
      .call("POST", `${GROUP}/${plural}`, { ...binding, spec: { ...(binding["spec"] as JsonObject), ...actions } });

    assert.deepEqual([code, body.details.causes[0].field, body.details.causes[0].message], [422, "spec.paramRef", `Forbidden: ${message}`]);
  });
}
