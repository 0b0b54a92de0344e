import { deepEqual, equal, notEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { isStatusError } from "../../api/machinery/status-error.ts";
import type { AccessAttributes, Authorizer } from "../framework/authorization.ts";
import type { User } from "../framework/request.ts";
import { impersonated } from "./impersonation.ts";
import { asHeader, requestShowing, type RequestCredentials } from "./testing/shown.ts";

type Headers = NonNullable<RequestCredentials["headers"]>;

const SELF: User = { name: "self", groups: ["own", "system:authenticated"], extra: { own: ["1"] } };

/** "verb group/resource/subresource namespace/name" or "verb path", as the tests write permissions. */
function shown({ verb, resource, path }: AccessAttributes): string {
  if (resource === undefined) return `${verb} ${path}`;
  const { group, plural, subresource, namespace, name } = resource;
  return `${verb} ${group}/${plural}${subresource === "" ? "" : `/${subresource}`} ${namespace}/${name}`;
}

/** Allows only these; a trailing "*" matches anything. */
function allowing(...allowed: readonly string[]): Authorizer & { readonly asked: string[]; readonly askers: User[] } {
  const asked: string[] = [];
  const askers: User[] = [];
  return {
    asked,
    askers,
    authorize(access) {
      const question = shown(access);
      asked.push(question);
      askers.push(access.user);
      return { allowed: allowed.some((one) => (one.endsWith("*") ? question.startsWith(one.slice(0, -1)) : one === question)) };
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  };
}

const EVERYTHING = allowing("*");
/** May impersonate anyone in the legacy mode. */
const OLD = allowing("impersonate *");
const PODS: RequestCredentials = { path: "/api/v1/namespaces/x/pods" };

function become(authorizer: Authorizer, headers: Headers, { asker = SELF, on = PODS } = {}): User {
  return impersonated(authorizer, requestShowing({ ...on, headers }), asker);
}

/** "code message" */
function refusalOf(authorizer: Authorizer, headers: Headers, options = {}): string {
  try {
    return `became ${JSON.stringify(become(authorizer, headers, options))}`;
  } catch (error) {
    if (isStatusError(error)) return `${error.code} ${error.message}`;
    throw error;
  }
}

const AUTHENTICATED = "system:authenticated";

const users: readonly [title: string, authorizer: Authorizer, headers: Headers, user: User][] = [
  ["has no attributes of the requestor", OLD, { "impersonate-user": "bob" }, { name: "bob", groups: [AUTHENTICATED] }],
  [
    "has the groups that were asked for, whatever is in their names",
    OLD,
    { "impersonate-user": "bob", "impersonate-group": ["a, b", "c", "a, b"] },
    { name: "bob", groups: ["a, b", "c", "a, b", AUTHENTICATED] },
  ],
  [
    "has the UID and the extra fields that were asked for",
    OLD,
    {
      "impersonate-user": "bob",
      "impersonate-uid": "7",
      "impersonate-extra-acme.io%2fx": ["1", "2, 3"],
      "impersonate-extra-__proto__": "4",
    },
    {
      name: "bob",
      uid: "7",
      groups: [AUTHENTICATED],
      extra: Object.fromEntries([
        ["acme.io/x", ["1", "2, 3"]],
        ["__proto__", ["4"]],
      ]),
    },
  ],
  ["is the first of several names", OLD, { "impersonate-user": ["bob", "eve"] }, { name: "bob", groups: [AUTHENTICATED] }],
  ["has a name in UTF-8", OLD, { "impersonate-user": asHeader("jürgen") }, { name: "jürgen", groups: [AUTHENTICATED] }],
  [
    "may be system:anonymous",
    OLD,
    { "impersonate-user": "system:anonymous" },
    { name: "system:anonymous", groups: ["system:unauthenticated"] },
  ],
  [
    "is not in system:authenticated if it is in system:unauthenticated",
    OLD,
    { "impersonate-user": "bob", "impersonate-group": "system:unauthenticated" },
    { name: "bob", groups: ["system:unauthenticated"] },
  ],
  [
    "has the groups of a service account if it is one",
    OLD,
    { "impersonate-user": "system:serviceaccount:x:y" },
    { name: "system:serviceaccount:x:y", groups: ["system:serviceaccounts", "system:serviceaccounts:x", AUTHENTICATED] },
  ],
  [
    "has other groups than a service account's if they were asked for",
    OLD,
    { "impersonate-user": "system:serviceaccount:x:y", "impersonate-group": "dev" },
    { name: "system:serviceaccount:x:y", groups: ["dev", AUTHENTICATED] },
  ],
  [
    "has no node groups in the legacy mode",
    OLD,
    { "impersonate-user": "system:node:n" },
    { name: "system:node:n", groups: [AUTHENTICATED] },
  ],
  [
    "is a node with its group in a narrow way",
    EVERYTHING,
    { "impersonate-user": "system:node:n" },
    { name: "system:node:n", groups: ["system:nodes", AUTHENTICATED] },
  ],
  [
    "may be a master only in the old way",
    EVERYTHING,
    { "impersonate-user": "bob", "impersonate-group": "system:masters" },
    { name: "bob", groups: ["system:masters", AUTHENTICATED] },
  ],
];

for (const [title, authorizer, headers, user] of users) {
  test(`the impersonated user ${title}`, () => deepEqual(become(authorizer, headers), user));
}

test("a request without impersonation headers keeps its user", () => {
  const denying = allowing();
  for (const headers of [
    {},
    { "impersonate-user": "" },
    { "impersonate-uid": "", "impersonate-user": "" },
    { "impersonate-other": "bob" },
  ]) {
    equal(become(denying, headers), SELF);
  }
  deepEqual(denying.asked, []);
});

const WITHOUT = "without impersonating a user name";
const malformed: readonly [headers: Headers, message: string][] = [
  [
    { "impersonate-group": ["a", 'b"'] },
    `&user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a", "b\\""}, Extra:map[string][]string(nil)}`,
  ],
  [{ "impersonate-uid": "1" }, `&user.DefaultInfo{Name:"", UID:"1", Groups:[]string(nil), Extra:map[string][]string(nil)}`],
  [
    { "impersonate-extra-b": "2", "impersonate-extra-a": ["1", "1"], "impersonate-user": "" },
    `&user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"1", "1"}, "b":[]string{"2"}}}`,
  ],
];

for (const [headers, value] of malformed) {
  test(`${JSON.stringify(headers)} without Impersonate-User is a bad request, even from an administrator`, () => {
    equal(refusalOf(EVERYTHING, headers), `400 requested ${value} ${WITHOUT}`);
  });
}

/** The checks of the legacy mode, in order. */
const questions: readonly [headers: Headers, asked: readonly string[]][] = [
  [{ "impersonate-user": "bob" }, ["impersonate /users /bob"]],
  [{ "impersonate-user": "system:serviceaccount:x:y" }, ["impersonate /serviceaccounts x/y"]],
  [{ "impersonate-user": "system:serviceaccount:x" }, ["impersonate /users /system:serviceaccount:x"]],
  [{ "impersonate-user": "system:serviceaccount:x:y:z" }, ["impersonate /users /system:serviceaccount:x:y:z"]],
  [{ "impersonate-user": "system:serviceaccount:../a:y" }, ["impersonate /users /system:serviceaccount:../a:y"]],
  [{ "impersonate-user": "system:node:n" }, ["impersonate /users /system:node:n"]],
  [
    {
      "impersonate-user": "bob",
      "impersonate-group": ["a", "", "system:masters"],
      "impersonate-uid": "7",
      "impersonate-extra-k": ["1", "2"],
    },
    [
      "impersonate /users /bob",
      "impersonate authentication.k8s.io/uids /7",
      "impersonate /groups /a",
      "impersonate /groups /",
      "impersonate /groups /system:masters",
      "impersonate authentication.k8s.io/userextras/k /1",
      "impersonate authentication.k8s.io/userextras/k /2",
    ],
  ],
];

for (const [headers, asked] of questions) {
  test(`impersonating ${JSON.stringify(headers)} in the legacy mode requires permission for each part`, () => {
    const free = allowing("impersonate *");
    become(free, headers);
    deepEqual(
      free.asked.filter((question) => question.startsWith("impersonate ")),
      asked,
    );
    for (const missing of asked) {
      const without = allowing(...asked.filter((one) => one !== missing));
      equal(refusalOf(without, headers).slice(0, 3), "403", missing);
    }
  });
}

const ON_PODS = "impersonate-on:user-info:list /pods x/";
const BE_BOB = "impersonate:user-info authentication.k8s.io/users /bob";

test("constrained impersonation requires permission for the user and for the operation", () => {
  const bob = { "impersonate-user": "bob" };

  equal(become(allowing(ON_PODS, BE_BOB), bob).name, "bob");
  equal(
    refusalOf(allowing(BE_BOB), bob),
    '403 pods is forbidden: User "self" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "x"',
  );
  equal(
    refusalOf(allowing(ON_PODS), bob),
    '403 users.authentication.k8s.io "bob" is forbidden: User "self" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
  );
  equal(
    refusalOf(allowing(ON_PODS, BE_BOB), bob, { on: { path: "/version" } }),
    '403 forbidden: User "self" cannot impersonate-on:user-info:get path "/version"',
  );
});

const GROUPS = "impersonate:user-info authentication.k8s.io/groups /";
const EXTRAS = "impersonate:user-info authentication.k8s.io/userextras";
const narrow: readonly [title: string, headers: Headers, may: readonly string[], ends: string][] = [
  ["an empty group", { "impersonate-group": "" }, [`${GROUPS}*`], "impersonating the empty string group is not allowed"],
  [
    "system:masters",
    { "impersonate-group": ["a", "system:masters"] },
    [`${GROUPS}*`],
    "impersonating the system:masters group is not allowed",
  ],
  ["an empty key", { "impersonate-extra-": "v" }, [`${EXTRAS}*`], "impersonating the empty string key in extra is not allowed"],
  [
    "an empty value",
    { "impersonate-extra-acme.io%2fx": "" },
    [`${EXTRAS}*`],
    "impersonating the empty string value in extra is not allowed",
  ],
  [
    "a key without a domain",
    { "impersonate-extra-scopes": "v" },
    [`${EXTRAS}*`],
    'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
];

for (const [title, headers, may, ends] of narrow) {
  test(`${title} cannot be impersonated in a constrained mode, whatever the permissions`, () => {
    const message = refusalOf(allowing(ON_PODS, BE_BOB, ...may), { "impersonate-user": "bob", ...headers });
    equal(message.endsWith(`: ${ends}`), true, message);
  });
}

test("many impersonated groups are checked once with permission for all groups, and otherwise one by one", () => {
  const headers = { "impersonate-user": "bob", "impersonate-group": ["a", "b", "c", "d"] };
  const all = allowing(ON_PODS, BE_BOB, `${GROUPS}*`);
  const each = allowing(ON_PODS, BE_BOB, ...["a", "b", "c", "d"].map((name) => GROUPS + name));

  become(all, headers);
  become(each, headers);

  deepEqual(all.asked, [ON_PODS, BE_BOB, `${GROUPS}*`]);
  deepEqual(each.asked.slice(2), [`${GROUPS}*`, `${GROUPS}a`, `${GROUPS}b`, `${GROUPS}c`, `${GROUPS}d`]);
});

const AGENT: User = {
  name: "system:serviceaccount:kube-system:agent",
  groups: [],
  extra: { "authentication.kubernetes.io/node-name": ["n1"], "authentication.kubernetes.io/pod-name": ["p"] },
};
const OWN_NODE = ["impersonate-on:associated-node:list /pods x/", "impersonate:associated-node authentication.k8s.io/nodes /*"];

test("a pod's service account may be allowed to impersonate the node it runs on, and no other", () => {
  const own = allowing(...OWN_NODE);

  deepEqual(become(own, { "impersonate-user": "system:node:n1" }, { asker: AGENT }), {
    name: "system:node:n1",
    groups: ["system:nodes", AUTHENTICATED],
  });
  deepEqual(own.asked, OWN_NODE);
  deepEqual(own.askers[0]?.extra, {
    "authentication.kubernetes.io/associated-node-keys": [
      "authentication.kubernetes.io/node-name",
      "authentication.kubernetes.io/pod-name",
    ],
  });
  equal(refusalOf(own, { "impersonate-user": "system:node:n2" }, { asker: AGENT }).slice(0, 3), "403");
  equal(refusalOf(own, { "impersonate-user": "system:node:n1" }, { asker: { ...AGENT, name: "other" } }).slice(0, 3), "403");
  equal(refusalOf(own, { "impersonate-user": "system:node:n1", "impersonate-group": "a" }, { asker: AGENT }).slice(0, 3), "403");
});

test("a rejected impersonation names the missing permission of the legacy mode after its earlier use, and otherwise of a constrained mode", () => {
  const may = allowing("impersonate /users /bob");
  const eve = { "impersonate-user": "eve" };

  const before = refusalOf(may, eve);
  become(may, { "impersonate-user": "bob" });
  const after = refusalOf(may, eve);

  equal(before.includes("cannot impersonate-on:user-info:list"), true, before);
  equal(after, '403 users "eve" is forbidden: User "self" cannot impersonate resource "users" in API group "" at the cluster scope');
});

test("an impersonated user is the same object in each request", () => {
  const headers = { "impersonate-user": "bob", "impersonate-group": "dev" };

  equal(become(OLD, headers), become(OLD, headers));
  throws(() => equal(become(OLD, headers), become(OLD, { ...headers, "impersonate-uid": "1" })));
});

test("a rejected impersonation includes evaluation errors of the authorizer", () => {
  const failing: Authorizer = { ...allowing(), authorize: () => ({ allowed: false, reason: "why", evaluationError: "broken" }) };

  equal(refusalOf(failing, { "impersonate-user": "bob" }).endsWith(": broken: why"), true);
});

test("impersonated users with large data are evicted from the cache before the entry limit is reached", () => {
  const authorizer = allowing("*");
  const bob = () => become(authorizer, { "impersonate-user": "bob" });
  const before = bob();
  equal(bob(), before);

  for (let index = 0; index < 100; index++)
    become(authorizer, { "impersonate-user": `${index}`, "impersonate-group": "g".repeat(100_000) });

  deepEqual(bob(), before);
  notEqual(bob(), before);
});
