/**
 * Privilege escalation through roles, bindings, reviews, certificates and tokens: users with permission to write them can grant only what
 * they have, by every method of writing. The verbs "escalate" and "bind" lift that restriction.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { User } from "../../src/apiserver/framework/request.ts";
import type { StartedServer } from "../../src/apiserver/testing/server.ts";
import { allow, attempt, grant, make, mustBeRefused, RBAC, startEscapeServer, type Sent } from "./cluster.ts";

const GROUP = "rbac.authorization.k8s.io";
const OWN = `${RBAC}/namespaces/own`;
const APPLY = { "content-type": "application/apply-patch+yaml" };
const JSON_PATCH = { "content-type": "application/json-patch+json" };
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const MORE = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
const ALL = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];

/** A user who may write all RBAC objects cluster-wide, and nothing else. */
const WRITER: User = { name: "writer", groups: [] };

function role(kind: "Role" | "ClusterRole", name: string, rules: readonly JsonObject[], metadata: JsonObject = {}): JsonObject {
  return { apiVersion: `${GROUP}/v1`, kind, metadata: { name, ...metadata }, rules };
}

function binding(kind: "RoleBinding" | "ClusterRoleBinding", name: string, to: string, roleKind = "ClusterRole"): JsonObject {
  const subjects = [{ apiGroup: GROUP, kind: "User", name: WRITER.name }];
  return { apiVersion: `${GROUP}/v1`, kind, metadata: { name }, roleRef: { apiGroup: GROUP, kind: roleKind, name: to }, subjects };
}

let server: StartedServer;

before(async () => {
  // A controller aggregates roles like admin.
  server = await startEscapeServer({ controllers: ["clusterrole-aggregation-controller"] });
  const verbs = "get,list,create,update,patch,delete";
  const kinds = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"];
  await grant(
    server,
    WRITER,
    "",
    kinds.map((kind) => allow(verbs, `${kind}.${GROUP}`)),
  );
  await make(server, `${OWN}/roles`, role("Role", "mine", []));
  await make(server, `${OWN}/roles`, role("Role", "strong", MORE));
  await make(server, `${RBAC}/clusterroles`, role("ClusterRole", "mine", []));
  await make(server, `${RBAC}/clusterroles`, role("ClusterRole", "strong", MORE));
  await make(server, `${OWN}/rolebindings`, { ...binding("RoleBinding", "strong", "strong", "Role"), subjects: [] });
  await make(server, `${RBAC}/clusterrolebindings`, { ...binding("ClusterRoleBinding", "strong", "strong"), subjects: [] });
});
after(() => server[Symbol.asyncDispose]());

const SUBJECT = { apiGroup: GROUP, kind: "User", name: WRITER.name };
const AGGREGATE = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };

describe("a user who may write roles and bindings can grant only their own permissions", () => {
  const ESCAPES: readonly (readonly [it: string, ...Sent])[] = [
    ["a new Role", "POST", `${OWN}/roles`, role("Role", "x", MORE)],
    ["a new Role in a dry run", "POST", `${OWN}/roles?dryRun=All`, role("Role", "x", MORE)],
    ["a new Role by PUT", "PUT", `${OWN}/roles/x`, role("Role", "x", MORE)],
    ["a new Role by apply", "PATCH", `${OWN}/roles/x?fieldManager=f`, JSON.stringify(role("Role", "x", MORE)), APPLY],
    ["a new ClusterRole", "POST", `${RBAC}/clusterroles`, role("ClusterRole", "x", ALL)],
    ["a new ClusterRole by PUT", "PUT", `${RBAC}/clusterroles/x`, role("ClusterRole", "x", ALL)],
    [
      "a new ClusterRole by apply",
      "PATCH",
      `${RBAC}/clusterroles/x?fieldManager=f&force=true`,
      JSON.stringify(role("ClusterRole", "x", ALL)),
      APPLY,
    ],
    ["a ClusterRole for paths", "POST", `${RBAC}/clusterroles`, role("ClusterRole", "x", [{ nonResourceURLs: ["*"], verbs: ["get"] }])],
    [
      "the verb escalate for oneself",
      "POST",
      `${OWN}/roles`,
      role("Role", "x", [{ apiGroups: [GROUP], resources: ["roles"], verbs: ["escalate"] }]),
    ],
    [
      "impersonation for oneself",
      "POST",
      `${RBAC}/clusterroles`,
      role("ClusterRole", "x", [{ apiGroups: [""], resources: ["groups"], verbs: ["impersonate"] }]),
    ],
    ["a Role, changed by PUT", "PUT", `${OWN}/roles/mine`, role("Role", "mine", MORE)],
    ["a Role, changed by merge patch", "PATCH", `${OWN}/roles/mine`, { rules: MORE }],
    ["a Role, changed by JSON patch", "PATCH", `${OWN}/roles/mine`, [{ op: "add", path: "/rules", value: MORE }], JSON_PATCH],
    ["a Role, changed by strategic patch", "PATCH", `${OWN}/roles/mine`, { rules: MORE }, STRATEGIC],
    ["a Role, changed by apply", "PATCH", `${OWN}/roles/mine?fieldManager=f&force=true`, JSON.stringify(role("Role", "mine", MORE)), APPLY],
    ["a ClusterRole, changed by merge patch", "PATCH", `${RBAC}/clusterroles/mine`, { rules: ALL }],
    ["cluster-admin, changed", "PATCH", `${RBAC}/clusterroles/cluster-admin`, { metadata: { labels: { a: "b" } } }],
    ["a bootstrap role, changed for all users", "PATCH", `${RBAC}/clusterroles/system:public-info-viewer`, { rules: ALL }],
    ["a binding to cluster-admin", "POST", `${RBAC}/clusterrolebindings`, binding("ClusterRoleBinding", "x", "cluster-admin")],
    ["a binding to cluster-admin in one namespace", "POST", `${OWN}/rolebindings`, binding("RoleBinding", "x", "cluster-admin")],
    ["a binding by PUT", "PUT", `${RBAC}/clusterrolebindings/x`, binding("ClusterRoleBinding", "x", "cluster-admin")],
    [
      "a binding by apply",
      "PATCH",
      `${RBAC}/clusterrolebindings/x?fieldManager=f`,
      JSON.stringify(binding("ClusterRoleBinding", "x", "cluster-admin")),
      APPLY,
    ],
    ["a binding in a dry run", "POST", `${RBAC}/clusterrolebindings?dryRun=All`, binding("ClusterRoleBinding", "x", "cluster-admin")],
    ["a binding to a Role with more permissions", "POST", `${OWN}/rolebindings`, binding("RoleBinding", "x", "strong", "Role")],
    ["oneself in a binding of others, by merge patch", "PATCH", `${OWN}/rolebindings/strong`, { subjects: [SUBJECT] }],
    [
      "oneself in a binding of others, by JSON patch",
      "PATCH",
      `${OWN}/rolebindings/strong`,
      [{ op: "add", path: "/subjects", value: [SUBJECT] }],
      JSON_PATCH,
    ],
    ["oneself in the binding of masters", "PATCH", `${RBAC}/clusterrolebindings/cluster-admin`, { subjects: [SUBJECT] }],
    [
      "oneself in the binding of masters, by apply",
      "PATCH",
      `${RBAC}/clusterrolebindings/cluster-admin?fieldManager=f&force=true`,
      JSON.stringify(binding("ClusterRoleBinding", "cluster-admin", "cluster-admin")),
      APPLY,
    ],
    [
      "all users in the binding of masters",
      "PATCH",
      `${RBAC}/clusterrolebindings/cluster-admin`,
      { subjects: [{ apiGroup: GROUP, kind: "Group", name: "system:authenticated" }] },
    ],
    [
      "a role that is aggregated into those of all users by its label",
      "POST",
      `${RBAC}/clusterroles`,
      role("ClusterRole", "x", MORE, { labels: AGGREGATE }),
    ],
    [
      "a stronger role, aggregated into those of all users by its label",
      "PATCH",
      `${RBAC}/clusterroles/strong`,
      { metadata: { labels: AGGREGATE } },
    ],
    [
      "a role that aggregates all others",
      "POST",
      `${RBAC}/clusterroles`,
      { ...role("ClusterRole", "x", []), aggregationRule: { clusterRoleSelectors: [{}] } },
    ],
    [
      "a role changed to aggregate all others",
      "PATCH",
      `${RBAC}/clusterroles/mine`,
      { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } },
    ],
    ["rules written into an aggregated role", "PATCH", `${RBAC}/clusterroles/admin`, { rules: ALL }],
  ];
  for (const [it, ...sends] of ESCAPES) test(`${it} (${sends[0]})`, () => mustBeRefused(server, WRITER, { sends, gets: 403 }));

  test("a user can grant permissions that they have", async () => {
    const rules = [{ apiGroups: [GROUP], resources: ["roles"], verbs: ["get"] }];
    equal((await attempt(server, WRITER, ["POST", `${OWN}/roles`, role("Role", "less", rules)])).code, 201);
    equal((await attempt(server, WRITER, ["POST", `${OWN}/rolebindings`, binding("RoleBinding", "less", "less", "Role")])).code, 201);
  });
  test("the role of a binding is immutable", async () => {
    const { code } = await attempt(server, WRITER, ["PUT", `${OWN}/rolebindings/less`, binding("RoleBinding", "less", "strong", "Role")]);
    ok(code === 403 || code === 422, String(code));
  });
  test("a binding to a role that does not exist yet is rejected", async () => {
    const { code } = await attempt(server, WRITER, ["POST", `${OWN}/rolebindings`, binding("RoleBinding", "later", "later", "Role")]);
    equal(code, 404);
  });
  test("other versions of the RBAC group are not served", async () => {
    for (const version of ["v1beta1", "v1alpha1"]) {
      const { code } = await attempt(server, WRITER, ["POST", `/apis/${GROUP}/${version}/clusterroles`, role("ClusterRole", "x", ALL)]);
      equal(code, 404);
    }
  });
  test("the rejected attempts leave no objects behind", async () => {
    const { code } = await server.call("GET", `${RBAC}/clusterroles/x`);
    const review = { spec: { user: WRITER.name, resourceAttributes: { verb: "get", resource: "secrets", namespace: "own" } } };
    const answer = await server.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review);
    deepEqual([code, answer.body.status.allowed], [404, false]);
  });
});

describe("escalate and bind allow what they are for, and no more", () => {
  const LOCKSMITH: User = { name: "locksmith", groups: [] };
  before(() =>
    grant(server, LOCKSMITH, "own", [
      allow("create,patch", `roles.${GROUP}`),
      allow("create,patch", `rolebindings.${GROUP}`),
      allow("escalate", `roles.${GROUP}`, "mine"),
      allow("bind", `roles.${GROUP}`, "strong"),
    ]),
  );
  for (const [it, gets, ...sends] of [
    ["escalate on one Role does not allow another", 403, "PATCH", `${OWN}/roles/strong`, { rules: ALL }],
    ["escalate on one Role does not allow creating others", 403, "POST", `${OWN}/roles`, role("Role", "y", MORE)],
    ["bind on one Role does not allow another", 403, "POST", `${OWN}/rolebindings`, binding("RoleBinding", "y", "mine2", "Role")],
    [
      "bind on a Role does not allow a ClusterRole of the same name",
      403,
      "POST",
      `${OWN}/rolebindings`,
      binding("RoleBinding", "y", "strong"),
    ],
    [
      "bind in one namespace does not apply to another",
      403,
      "POST",
      `${RBAC}/namespaces/victim/rolebindings`,
      binding("RoleBinding", "y", "strong", "Role"),
    ],
    ["escalate on the named Role is allowed", 200, "PATCH", `${OWN}/roles/mine`, { rules: MORE }],
    ["bind on the named Role is allowed", 201, "POST", `${OWN}/rolebindings`, binding("RoleBinding", "y", "strong", "Role")],
  ] as const) {
    test(it, async () => {
      if (it.includes("another")) await server.call("POST", `${OWN}/roles`, role("Role", "mine2", ALL));
      equal((await attempt(server, LOCKSMITH, sends as Sent)).code, gets);
    });
  }
});

describe("the administrator of a namespace has no permissions outside of it", () => {
  const BOSS: User = { name: "boss", groups: [] };
  before(async () => {
    await make(server, `${OWN}/rolebindings`, { ...binding("RoleBinding", "boss", "admin"), subjects: [{ ...SUBJECT, name: BOSS.name }] });
  });
  for (const [it, ...sends] of [
    ["a Role with all permissions", "POST", `${OWN}/roles`, role("Role", "all", ALL)],
    ["a binding to cluster-admin", "POST", `${OWN}/rolebindings`, binding("RoleBinding", "ca", "cluster-admin")],
    ["a ClusterRoleBinding", "POST", `${RBAC}/clusterrolebindings`, binding("ClusterRoleBinding", "ca", "view")],
    ["a binding in another namespace", "POST", `${RBAC}/namespaces/victim/rolebindings`, binding("RoleBinding", "b", "view")],
    ["a binding in kube-system", "POST", `${RBAC}/namespaces/kube-system/rolebindings`, binding("RoleBinding", "b", "view")],
    ["a Pod in kube-system", "POST", "/api/v1/namespaces/kube-system/pods", { metadata: { name: "p" } }],
    ["a token in kube-system", "POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token", { spec: {} }],
    ["the quota of its namespace", "POST", "/api/v1/namespaces/own/resourcequotas", { metadata: { name: "q" }, spec: {} }],
    [
      "the labels of its namespace, which select the Pod Security level",
      "PATCH",
      "/api/v1/namespaces/own",
      { metadata: { labels: { "pod-security.kubernetes.io/enforce": "privileged" } } },
    ],
    ["deletion of its namespace", "PUT", "/api/v1/namespaces/own/finalize", { metadata: { name: "own" } }],
    [
      "endpoints of a Service, which redirect traffic (CVE-2021-25740)",
      "PUT",
      "/api/v1/namespaces/own/endpoints/x",
      { metadata: { name: "x" } },
    ],
    ["endpoint slices (CVE-2021-25740)", "POST", "/apis/discovery.k8s.io/v1/namespaces/own/endpointslices", { metadata: { name: "x" } }],
    ["a namespace", "POST", "/api/v1/namespaces", { metadata: { name: "new" } }],
    ["a webhook", "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", { metadata: { name: "w" } }],
    [
      "a review of another user's permissions in all namespaces",
      "POST",
      "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      { spec: { user: "x", nonResourceAttributes: { path: "/", verb: "get" } } },
    ],
    ["a review of a token", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "x" } }],
    ["a certificate", "POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", { metadata: { name: "c" } }],
    ["a node", "POST", "/api/v1/nodes", { metadata: { name: "n" } }],
    ["a PersistentVolume", "POST", "/api/v1/persistentvolumes", { metadata: { name: "pv" } }],
  ] as const) {
    test(it, () => mustBeRefused(server, BOSS, { sends, gets: 403 }));
  }
  test("the administrator of a namespace may do the same inside of it, so the scope is the reason of the rejections", async () => {
    equal((await attempt(server, BOSS, ["GET", "/api/v1/namespaces/own/secrets/open"])).code, 200);
  });
  test("a LocalSubjectAccessReview is about its own namespace", async () => {
    const spec = { user: "x", resourceAttributes: { namespace: "victim", verb: "get", resource: "secrets" } };
    const { code } = await attempt(server, BOSS, [
      "POST",
      "/apis/authorization.k8s.io/v1/namespaces/own/localsubjectaccessreviews",
      { spec },
    ]);
    equal(code, 422);
  });
});

describe("reviews of one's own permissions are about the requesting user, whatever they contain", () => {
  const UNPRIVILEGED: User = { name: "unprivileged", groups: [] };
  const REVIEWS = "/apis/authorization.k8s.io/v1";
  const attributes = { namespace: "own", verb: "get", resource: "secrets" };
  test("a SelfSubjectAccessReview with a user in it is about the requester", async () => {
    const spec = { user: "kubernetes-admin", groups: ["system:masters"], resourceAttributes: attributes };
    const { code, body } = await attempt(server, UNPRIVILEGED, [
      "POST",
      `${REVIEWS}/selfsubjectaccessreviews`,
      { spec, status: { allowed: true } },
    ]);
    deepEqual([code, body.status.allowed], [201, false]);
  });
  test("a SelfSubjectReview with a user in it is about the requester", async () => {
    const status = { userInfo: { username: "kubernetes-admin", groups: ["system:masters"] } };
    const { body } = await attempt(server, UNPRIVILEGED, ["POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { status }]);
    deepEqual([body.status.userInfo.username, body.status.userInfo.groups.includes("system:masters")], ["unprivileged", false]);
  });
  test("a SubjectAccessReview requires permission", async () => {
    for (const path of ["subjectaccessreviews", "namespaces/own/localsubjectaccessreviews"]) {
      const spec = { user: "kubernetes-admin", resourceAttributes: attributes };
      equal((await attempt(server, UNPRIVILEGED, ["POST", `${REVIEWS}/${path}`, { spec }])).code, 403);
    }
  });
});
