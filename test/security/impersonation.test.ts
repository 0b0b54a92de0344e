/**
 * Impersonation: user, groups, uid and extra each require permission of their own, and neither duplicate headers nor nested impersonation
 * circumvent that.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { User } from "../../src/apiserver/framework/request.ts";
import type { SentHeaders, StartedServer } from "../../src/apiserver/testing/server.ts";
import { allow, attempt, grant, make, RBAC, startEscapeServer, TREASURE, type Rule } from "./cluster.ts";

const TREASURES = "/api/v1/namespaces/victim/secrets/treasure";

let server: StartedServer;

before(async () => {
  server = await startEscapeServer();
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "root" }];
  await make(server, `${RBAC}/clusterrolebindings`, { metadata: { name: "root" }, roleRef, subjects });
});
after(() => server[Symbol.asyncDispose]());

const MASTERS = { "impersonate-user": "bob", "impersonate-group": "system:masters" };
const USERS = allow("impersonate", "users", "bob");
const EXTRA: Rule = {
  verbs: ["impersonate"],
  apiGroups: ["authentication.k8s.io"],
  resources: ["userextras/scopes"],
  resourceNames: ["view"],
};

/** Response to reading the treasure with these headers, by a user with these permissions. */
const ATTEMPTS: readonly (readonly [it: string, rules: readonly Rule[], headers: SentHeaders, code: number])[] = [
  ["a user without permission", [], { "impersonate-user": "root" }, 403],
  ["a user without permission impersonates system:anonymous", [], { "impersonate-user": "system:anonymous" }, 403],
  ["users impersonate themselves", [], { "impersonate-user": "self" }, 403],
  ["permission for one user does not cover another", [USERS], { "impersonate-user": "root" }, 403],
  ["permission for one user, whose name is spelled differently", [USERS], { "impersonate-user": "BOB" }, 403],
  ["permission for users does not cover groups", [USERS], MASTERS, 403],
  ["permission for all users does not cover groups", [allow("impersonate", "users")], MASTERS, 403],
  ["permission for one group does not cover another", [USERS, allow("impersonate", "groups", "team")], MASTERS, 403],
  [
    "a permitted group and a forbidden one",
    [USERS, allow("impersonate", "groups", "team")],
    { "impersonate-user": "bob", "impersonate-group": ["team", "system:masters"] },
    403,
  ],
  [
    "two groups in one header are one group of that name",
    [USERS, allow("impersonate", "groups", "team")],
    { "impersonate-user": "bob", "impersonate-group": "team, system:masters" },
    403,
  ],
  ["a group without a user", [allow("impersonate", "groups")], { "impersonate-group": "system:masters" }, 400],
  ["a uid without a user", [allow("impersonate", "uids.authentication.k8s.io")], { "impersonate-uid": "1" }, 400],
  ["extra without a user", [EXTRA], { "impersonate-extra-scopes": "view" }, 400],
  ["an empty user name", [allow("impersonate", "groups")], { "impersonate-user": "", "impersonate-group": "system:masters" }, 400],
  ["a uid without permission", [USERS], { "impersonate-user": "bob", "impersonate-uid": "1" }, 403],
  ["extra without permission", [USERS], { "impersonate-user": "bob", "impersonate-extra-scopes": "view" }, 403],
  [
    "a value of extra other than the permitted one",
    [USERS, EXTRA],
    { "impersonate-user": "bob", "impersonate-extra-scopes": ["view", "edit"] },
    403,
  ],
  [
    "a key of extra other than the permitted one",
    [USERS, EXTRA],
    { "impersonate-user": "bob", "impersonate-extra-scopes%2fother": "view" },
    403,
  ],
  ["a header similar to the impersonation headers", [USERS], { "impersonate-user": "bob", "impersonate-group_": "system:masters" }, 403],
  [
    "a service account by permission for users",
    [allow("impersonate", "users")],
    { "impersonate-user": "system:serviceaccount:kube-system:x" },
    403,
  ],
  [
    "a service account by permission for those of another namespace",
    [allow("impersonate", "users", "x")],
    { "impersonate-user": "system:serviceaccount:victim:x" },
    403,
  ],
  [
    "a node by permission for service accounts",
    [allow("impersonate", "serviceaccounts")],
    { "impersonate-user": "system:node:n1", "impersonate-group": "system:nodes" },
    403,
  ],
  ["the wildcard as a name", [USERS], { "impersonate-user": "*" }, 403],
  ["two user headers, of which the first counts", [USERS], { "impersonate-user": ["bob", "root"] }, 403],
  ["two user headers, of which the first is forbidden", [USERS], { "impersonate-user": ["root", "bob"] }, 403],
  ["two users in one header", [USERS], { "impersonate-user": "bob, root" }, 403],
  ["a space before the name", [USERS], { "impersonate-user": " root" }, 403],
  [
    "another user with the group system:authenticated",
    [USERS],
    { "impersonate-user": "bob", "impersonate-group": "system:authenticated" },
    403,
  ],
  [
    "the verb for all resources of the wrong group",
    [{ verbs: ["impersonate"], apiGroups: ["authentication.k8s.io"], resources: ["*"] }],
    MASTERS,
    403,
  ],
  [
    "the constrained verbs, which exclude system:masters",
    [{ verbs: ["*"], apiGroups: ["authentication.k8s.io"], resources: ["*"] }],
    MASTERS,
    403,
  ],
];

for (const [index, [it, rules, headers, code]] of ATTEMPTS.entries()) {
  test(`impersonation, ${it}: ${JSON.stringify(headers)}`, async () => {
    const user: User = { name: it.includes("themselves") ? "self" : `impersonator-${index}`, groups: [] };
    if (rules.length > 0) await grant(server, user, "", rules);
    const answer = await attempt(server, user, ["GET", TREASURES, undefined, headers]);
    equal(answer.code, code, answer.text);
    ok(!answer.text.includes(btoa(TREASURE)));
  });
}

describe("an impersonating request has only the identity of the impersonated user", () => {
  const ACTOR: User = { name: "actor", groups: ["system:masters"] };
  const may = async (headers: SentHeaders) => (await attempt(server, ACTOR, ["GET", TREASURES, undefined, headers])).code;
  test("a member of system:masters who impersonates has only the permissions of the impersonated user", async () => {
    deepEqual([await may({}), await may({ "impersonate-user": "bob" }), await may({ "impersonate-user": "root" })], [200, 403, 200]);
  });
  test("an impersonated user's own permissions to impersonate do not apply to the request", async () => {
    const { body } = await attempt(server, ACTOR, [
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      {},
      { "impersonate-user": "bob" },
    ]);
    deepEqual(body.status.userInfo, { username: "bob", groups: ["system:authenticated"] });
  });
  test("an impersonated system:anonymous is not authenticated", async () => {
    const { body } = await attempt(server, ACTOR, [
      "POST",
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      { spec: {} },
      { "impersonate-user": "system:anonymous" },
    ]);
    equal(body.code, 403);
  });
});

test("the constrained impersonation verbs require both permissions, for this very request", async () => {
  const user: User = { name: "limited", groups: [] };
  const group = "authentication.k8s.io";
  await grant(server, user, "", [{ verbs: ["impersonate:user-info"], apiGroups: [group], resources: ["users"], resourceNames: ["root"] }]);
  const read = async (path: string) => (await attempt(server, user, ["GET", path, undefined, { "impersonate-user": "root" }])).code;
  equal(await read(TREASURES), 403);
  await grant(server, user, "", [{ verbs: ["impersonate-on:user-info:get"], resources: ["configmaps"] }]);
  equal(await read(TREASURES), 403);
  deepEqual([await read("/api/v1/namespaces/victim/configmaps/x"), await read("/api/v1/namespaces/victim/configmaps")], [404, 403]);
});
