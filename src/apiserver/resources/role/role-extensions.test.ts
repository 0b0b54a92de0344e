import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startGuardedServer, type StartedServer } from "../../testing/server.ts";

const GROUP = "/apis/rbac.authorization.k8s.io/v1";
const CLUSTER_ROLES = `${GROUP}/clusterroles`;
const ROLES = `${GROUP}/namespaces/default/roles`;
const CLUSTER_ROLE_BINDINGS = `${GROUP}/clusterrolebindings`;
const ROLE_BINDINGS = `${GROUP}/namespaces/default/rolebindings`;
const MERGE = { "content-type": "application/merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const JANE = { name: "jane", groups: ["dev"] };

const rbacWrites = may("get,create,update,patch", "rbac.authorization.k8s.io", "roles,clusterroles,rolebindings,clusterrolebindings");
const readPods = may("get,list", "", "pods");
const readSecrets = may("get,list", "", "secrets");
const everything = [may("*", "*", "*"), { verbs: ["*"], nonResourceURLs: ["*"] }];

function may(verbs: string, group: string, resources: string, ...resourceNames: readonly string[]): JsonObject {
  return {
    verbs: verbs.split(","),
    apiGroups: [group],
    resources: resources.split(","),
    ...(resourceNames.length === 0 ? {} : { resourceNames }),
  };
}

function role(name: string, rules: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { metadata: { name }, rules, ...more };
}

function binding(name: string, kind: string, to: string, user: string): JsonObject {
  return { metadata: { name }, roleRef: { kind, name: to }, subjects: [{ kind: "User", name: user }] };
}

async function make(server: StartedServer, path: string, object: JsonObject): Promise<void> {
  const { code, text } = await server.call("POST", path, object);
  assert.equal(code, 201, text);
}

/** Cluster-wide, by a role of its own. */
async function give(server: StartedServer, user: string, ...rules: readonly JsonObject[]): Promise<void> {
  await make(server, CLUSTER_ROLES, role(`of-${user}`, rules));
  await make(server, CLUSTER_ROLE_BINDINGS, binding(`of-${user}`, "ClusterRole", `of-${user}`, user));
}

const LACKS_SECRETS = `user "jane" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`;

test("a role can be written, by any verb, only with permissions that its writer has", async () => {
  await using server = await startGuardedServer();
  await give(server, "jane", rbacWrites, readPods);
  const { call } = server.as(JANE);
  const writes = (name: string, rules: readonly JsonObject[]) =>
    [
      ["POST", CLUSTER_ROLES, role(name, rules), {}],
      ["PUT", `${CLUSTER_ROLES}/${name}2`, role(`${name}2`, rules), {}],
      [
        "PATCH",
        `${CLUSTER_ROLES}/${name}3?fieldManager=a`,
        { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", ...role(`${name}3`, rules) },
        APPLY,
      ],
      ["PATCH", `${CLUSTER_ROLES}/mine`, { rules }, MERGE],
      ["POST", ROLES, role(name, rules), {}],
    ] as const;
  await make(server, CLUSTER_ROLES, role("mine", []));

  for (const [method, path, body, headers] of writes("pods", [readPods])) {
    const { code, text } = await call(method, path, body, headers);
    assert.ok(code === 200 || code === 201, `${method} ${path}: ${text}`);
  }
  for (const [method, path, body, headers] of writes("secrets", [readPods, readSecrets])) {
    const answer = await call(method, path, body, headers);
    assert.deepEqual([answer.code, answer.body.reason], [403, "Forbidden"], `${method} ${path}: ${answer.text}`);
    assert.equal(answer.body.message.replace(/^(cluster)?roles\.rbac\.authorization\.k8s\.io "\w+" is forbidden: /, ""), LACKS_SECRETS);
  }
  assert.equal((await server.call("GET", `${CLUSTER_ROLES}/secrets2`)).code, 404);
});

test("permissions of one namespace can be granted there only", async () => {
  await using server = await startGuardedServer();
  await give(server, "jane", rbacWrites);
  await make(server, ROLES, role("reader", [readPods]));
  await make(server, ROLE_BINDINGS, binding("jane", "Role", "reader", "jane"));
  const { call } = server.as(JANE);

  assert.equal((await call("POST", ROLES, role("mine", [readPods]))).code, 201);
  assert.equal((await call("POST", ROLE_BINDINGS, binding("joe", "Role", "reader", "joe"))).code, 201);
  assert.equal((await call("POST", `${GROUP}/namespaces/kube-system/roles`, role("mine", [readPods]))).code, 403);
  assert.equal((await call("POST", CLUSTER_ROLES, role("mine", [readPods]))).code, 403);
});

test("a role or binding too large for the escalation check is rejected, and duplicate rules count once", async () => {
  await using server = await startGuardedServer();
  await give(server, "jane", rbacWrites, may("get", "*", "*"));
  const { call } = server.as(JANE);
  const many = (letter: string) => Array.from({ length: 1_000 }, (_, index) => `${letter}${index}`);
  const wide = { verbs: ["get"], apiGroups: many("g"), resources: many("r") };
  const same = { verbs: ["get"], apiGroups: Array<string>(1_000).fill(""), resources: Array<string>(1_000).fill("pods") };
  await make(server, ROLES, role("wide", [wide]));

  const written = await call("POST", ROLES, role("mine", [wide]));
  const bound = await call("POST", ROLE_BINDINGS, binding("mine", "Role", "wide", "joe"));

  for (const { code, body } of [written, bound]) {
    assert.equal(code, 403);
    assert.match(body.message, /is attempting to grant too many RBAC permissions to compare with those currently held$/);
  }
  assert.equal((await call("POST", ROLES, role("same", [same]))).code, 201);
});

test("the verb escalate on one role allows any rules in that role only", async () => {
  await using server = await startGuardedServer();
  const writeRoles = may("create,update", "rbac.authorization.k8s.io", "clusterroles");
  await give(server, "jane", writeRoles, may("escalate", "rbac.authorization.k8s.io", "clusterroles", "mine"));
  const { call } = server.as(JANE);

  assert.equal((await call("PUT", `${CLUSTER_ROLES}/mine`, role("mine", everything))).code, 201);
  assert.equal((await call("PUT", `${CLUSTER_ROLES}/other`, role("other", everything))).code, 403);
  assert.equal((await call("POST", CLUSTER_ROLES, role("mine", everything))).code, 403);
});

const AGGREGATION = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } };

test("setting or removing an aggregation rule requires all permissions", async () => {
  await using server = await startGuardedServer();
  await give(server, "jane", rbacWrites);
  await give(server, "root", ...everything);
  await make(server, CLUSTER_ROLES, role("there", [], AGGREGATION));
  const { call } = server.as(JANE);

  const refused = [
    await call("POST", CLUSTER_ROLES, role("mine", [], AGGREGATION)),
    await call("PATCH", `${CLUSTER_ROLES}/there`, { aggregationRule: null }, MERGE),
    await call("PATCH", `${CLUSTER_ROLES}/there`, { metadata: { labels: { c: "d" } } }, MERGE),
  ];

  for (const { code, body } of refused) {
    assert.equal(code, 403);
    assert.match(
      body.message,
      /^clusterroles\.rbac\.authorization\.k8s\.io "\w+" is forbidden: must have cluster-admin privileges to use the aggregationRule$/,
    );
  }
  assert.equal((await server.as({ name: "root", groups: [] }).call("POST", CLUSTER_ROLES, role("mine", [], AGGREGATION))).code, 201);
});

test("binding a role requires its permissions or the verb bind on it", async () => {
  await using server = await startGuardedServer();
  await give(server, "jane", rbacWrites, readPods, may("bind", "rbac.authorization.k8s.io", "clusterroles", "admin-of-all"));
  await make(server, CLUSTER_ROLES, role("pods", [readPods]));
  await make(server, CLUSTER_ROLES, role("secrets", [readSecrets]));
  await make(server, CLUSTER_ROLES, role("admin-of-all", everything));
  await make(server, CLUSTER_ROLE_BINDINGS, binding("secrets-of-joe", "ClusterRole", "secrets", "joe"));
  const { call } = server.as(JANE);

  for (const to of ["pods", "admin-of-all"]) {
    assert.equal((await call("POST", CLUSTER_ROLE_BINDINGS, binding(to, "ClusterRole", to, "jane"))).code, 201);
    assert.equal((await call("PUT", `${ROLE_BINDINGS}/${to}`, binding(to, "ClusterRole", to, "jane"))).code, 201);
    await server.call("DELETE", `${CLUSTER_ROLE_BINDINGS}/${to}`);
    await server.call("DELETE", `${ROLE_BINDINGS}/${to}`);
  }
  const { code, body } = await call("POST", CLUSTER_ROLE_BINDINGS, binding("secrets", "ClusterRole", "secrets", "jane"));
  assert.deepEqual([code, body.message], [403, `clusterrolebindings.rbac.authorization.k8s.io "secrets" is forbidden: ${LACKS_SECRETS}`]);
  assert.equal((await call("POST", ROLE_BINDINGS, binding("secrets", "ClusterRole", "secrets", "jane"))).code, 403);
  const others = { subjects: [{ kind: "User", name: "jane" }] };
  assert.equal((await call("PATCH", `${CLUSTER_ROLE_BINDINGS}/secrets-of-joe`, others, MERGE)).code, 403);
});

const REFERENCES: readonly [what: string, path: string, kind: string, name: string, code: number, message: string][] = [
  [
    "a missing ClusterRole",
    CLUSTER_ROLE_BINDINGS,
    "ClusterRole",
    "lost",
    404,
    'clusterrolebindings.rbac.authorization.k8s.io "lost" not found',
  ],
  ["a missing Role", ROLE_BINDINGS, "Role", "lost", 404, 'rolebindings.rbac.authorization.k8s.io "lost" not found'],
  ["a Role without a namespace", CLUSTER_ROLE_BINDINGS, "Role", "lost", 400, "Namespace parameter required."],
  ["something without a name", ROLE_BINDINGS, "Role", "", 400, "Name parameter required."],
  ["an unsupported kind", ROLE_BINDINGS, "Thing", "lost", 500, 'unsupported role reference kind: "Thing"'],
];

for (const [what, path, kind, name, code, message] of REFERENCES) {
  test(`binding ${what} is reported`, async () => {
    await using server = await startGuardedServer();
    await give(server, "jane", rbacWrites);

    const answer = await server.as(JANE).call("POST", path, binding("b", kind, name, "joe"));

    assert.deepEqual([answer.code, answer.body.message], [code, message]);
  });
}

test("finalizers and owner references can be changed without the role's permissions, and nothing else", async () => {
  await using server = await startGuardedServer();
  await give(server, "jane", rbacWrites);
  await make(server, CLUSTER_ROLES, role("all", everything));
  await make(server, CLUSTER_ROLE_BINDINGS, binding("all", "ClusterRole", "all", "joe"));
  const { call } = server.as(JANE);
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "b" };

  for (const path of [`${CLUSTER_ROLES}/all`, `${CLUSTER_ROLE_BINDINGS}/all`]) {
    for (const [metadata, code] of [
      [{ finalizers: ["a.example.com/b"] }, 200],
      [{ ownerReferences: [owner] }, 200],
      [{ labels: { a: "b" } }, 403],
      [{ finalizers: [], annotations: { a: "b" } }, 403],
    ] as const) {
      assert.equal((await call("PATCH", path, { metadata }, MERGE)).code, code, `${path} ${JSON.stringify(metadata)}`);
    }
  }
});

test("an escalation error includes evaluation errors of the user's own bindings", async () => {
  await using server = await startGuardedServer();
  await give(server, "jane", rbacWrites);
  await make(server, CLUSTER_ROLE_BINDINGS, binding("lost", "ClusterRole", "lost", "jane"));

  const { body } = await server.as(JANE).call("POST", CLUSTER_ROLES, role("a", [readSecrets]));

  assert.equal(
    body.message,
    `clusterroles.rbac.authorization.k8s.io "a" is forbidden: ${LACKS_SECRETS}; resolution errors: [clusterroles.rbac.authorization.k8s.io "lost" not found]`,
  );
});

test("a rule without verbs is a validation error for every user", async () => {
  await using server = await startGuardedServer();
  await give(server, "jane", rbacWrites);

  const { code } = await server.as(JANE).call("POST", CLUSTER_ROLES, role("a", [{ apiGroups: [""], resources: ["pods"] }]));

  assert.equal(code, 422);
});
