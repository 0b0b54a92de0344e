/**
 * Asking as somebody else: each part of whom one wants to be (name, groups, uid, extra) needs a right of its own, and nothing that is
 * said in more than one way, or by somebody who is somebody else already, goes around that.
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

/** What somebody who may this gets with these headers, when reading the treasure. */
const ATTEMPTS: readonly (readonly [it: string, rules: readonly Rule[], headers: SentHeaders, code: number])[] = [
  ["somebody without the right", [], { "impersonate-user": "root" }, 403],
  ["somebody without the right wants to be nobody", [], { "impersonate-user": "system:anonymous" }, 403],
  ["somebody wants to be themselves", [], { "impersonate-user": "self" }, 403],
  ["a right to one user is not one to another", [USERS], { "impersonate-user": "root" }, 403],
  ["a right to one user, whose name is written otherwise", [USERS], { "impersonate-user": "BOB" }, 403],
  ["a right to users is none to groups", [USERS], MASTERS, 403],
  ["a right to all users is none to groups", [allow("impersonate", "users")], MASTERS, 403],
  ["a right to one group is not one to another", [USERS, allow("impersonate", "groups", "team")], MASTERS, 403],
  [
    "the right group and a wrong one",
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
  ["a user without a name", [allow("impersonate", "groups")], { "impersonate-user": "", "impersonate-group": "system:masters" }, 400],
  ["a uid without the right", [USERS], { "impersonate-user": "bob", "impersonate-uid": "1" }, 403],
  ["extra without the right", [USERS], { "impersonate-user": "bob", "impersonate-extra-scopes": "view" }, 403],
  [
    "a value of extra that is not the allowed one",
    [USERS, EXTRA],
    { "impersonate-user": "bob", "impersonate-extra-scopes": ["view", "edit"] },
    403,
  ],
  [
    "a key of extra that is not the allowed one",
    [USERS, EXTRA],
    { "impersonate-user": "bob", "impersonate-extra-scopes%2fother": "view" },
    403,
  ],
  ["a header that only looks like one of these", [USERS], { "impersonate-user": "bob", "impersonate-group_": "system:masters" }, 403],
  [
    "a service account by the right to users",
    [allow("impersonate", "users")],
    { "impersonate-user": "system:serviceaccount:kube-system:x" },
    403,
  ],
  [
    "a service account by the right to those of another namespace",
    [allow("impersonate", "users", "x")],
    { "impersonate-user": "system:serviceaccount:victim:x" },
    403,
  ],
  [
    "a node by the right to service accounts",
    [allow("impersonate", "serviceaccounts")],
    { "impersonate-user": "system:node:n1", "impersonate-group": "system:nodes" },
    403,
  ],
  ["the wildcard as a name", [USERS], { "impersonate-user": "*" }, 403],
  ["the user twice, where the first counts", [USERS], { "impersonate-user": ["bob", "root"] }, 403],
  ["the user twice, where the first is not allowed", [USERS], { "impersonate-user": ["root", "bob"] }, 403],
  ["both in one header", [USERS], { "impersonate-user": "bob, root" }, 403],
  ["space around the name", [USERS], { "impersonate-user": " root" }, 403],
  [
    "the name of another with the group of those who are known",
    [USERS],
    { "impersonate-user": "bob", "impersonate-group": "system:authenticated" },
    403,
  ],
  [
    "the verb for a whole group of resources, but not this one",
    [{ verbs: ["impersonate"], apiGroups: ["authentication.k8s.io"], resources: ["*"] }],
    MASTERS,
    403,
  ],
  ["the narrow verb, which masters are out of", [{ verbs: ["*"], apiGroups: ["authentication.k8s.io"], resources: ["*"] }], MASTERS, 403],
];

for (const [index, [it, rules, headers, code]] of ATTEMPTS.entries()) {
  test(`${it}: ${JSON.stringify(headers)}`, async () => {
    const user: User = { name: it.includes("themselves") ? "self" : `impersonator-${index}`, groups: [] };
    if (rules.length > 0) await grant(server, user, "", rules);
    const answer = await attempt(server, user, ["GET", TREASURES, undefined, headers]);
    equal(answer.code, code, answer.text);
    ok(!answer.text.includes(btoa(TREASURE)));
  });
}

describe("who has become somebody is that one, and nothing of before", () => {
  const ACTOR: User = { name: "actor", groups: ["system:masters"] };
  const may = async (headers: SentHeaders) => (await attempt(server, ACTOR, ["GET", TREASURES, undefined, headers])).code;
  test("a master who became somebody has their rights only", async () => {
    deepEqual([await may({}), await may({ "impersonate-user": "bob" }), await may({ "impersonate-user": "root" })], [200, 403, 200]);
  });
  test("and is not impersonating anybody any more: rights to become another are not those of whom it became", async () => {
    const { body } = await attempt(server, ACTOR, [
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      {},
      { "impersonate-user": "bob" },
    ]);
    deepEqual(body.status.userInfo, { username: "bob", groups: ["system:authenticated"] });
  });
  test("anonymous does not become known by being impersonated", async () => {
    const { body } = await attempt(server, ACTOR, [
      "POST",
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      { spec: {} },
      { "impersonate-user": "system:anonymous" },
    ]);
    equal(body.code, 403);
  });
});

test("the verbs for impersonation with limits need both rights, for this very request", async () => {
  const user: User = { name: "limited", groups: [] };
  const group = "authentication.k8s.io";
  await grant(server, user, "", [{ verbs: ["impersonate:user-info"], apiGroups: [group], resources: ["users"], resourceNames: ["root"] }]);
  const read = async (path: string) => (await attempt(server, user, ["GET", path, undefined, { "impersonate-user": "root" }])).code;
  equal(await read(TREASURES), 403);
  await grant(server, user, "", [{ verbs: ["impersonate-on:user-info:get"], resources: ["configmaps"] }]);
  equal(await read(TREASURES), 403);
  deepEqual([await read("/api/v1/namespaces/victim/configmaps/x"), await read("/api/v1/namespaces/victim/configmaps")], [404, 403]);
});
