/**
 * The real kubectl queries identity and permissions (`auth`), impersonates (`--as`), and grants and revokes permissions; its output and
 * exit codes are those that users and scripts know of upstream. Not here: tokens and certificates, which have files of their own.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { kubectlOf, IGNORED_CREDENTIALS, tokenOf } from "./identities.ts";
import { aList } from "../../src/testing/clients/manifests.ts";

// A server that is only reachable from this machine would not advertise its address.
const server = await startTestApiServer({ serving: { advertiseAddress: "192.0.2.1" } });
after(() => server.close());

const RBAC = "rbac.authorization.k8s.io";

function aRole(metadata: JsonObject, rules: readonly JsonObject[]): JsonObject {
  return { apiVersion: `${RBAC}/v1`, kind: "Role", metadata, rules };
}

function aRoleBinding(metadata: JsonObject, user: string, role: JsonObject): JsonObject {
  const subjects = [{ apiGroup: RBAC, kind: "User", name: user }];
  return { apiVersion: `${RBAC}/v1`, kind: "RoleBinding", metadata, roleRef: { apiGroup: RBAC, ...role }, subjects };
}

test("kubectl auth whoami shows the administrator's name, groups and certificate", needs("kubectl"), async () => {
  const { status } = JSON.parse(await server.kubectl("auth whoami -o json"));

  const { username, groups, uid, extra } = status.userInfo;
  deepEqual([username, groups, uid], ["kubernetes-admin", ["system:masters", "system:authenticated"], undefined]);
  match(extra["authentication.kubernetes.io/credential-id"].join(), /^X509SHA256=[0-9a-f]{64}$/);
});

test("kubectl auth whoami shows a service account and the ID of its token", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("whoami");
  await kubectl("create serviceaccount robot");
  const uid = await kubectl("get serviceaccount robot -o jsonpath={.metadata.uid}");
  const robot = await kubectlOf(server, "whoami", { token: await tokenOf(kubectl, "robot") });

  const lines = (await robot("auth whoami")).replace(/JTI=[0-9a-f-]{36}/, "JTI=…").split("\n");

  deepEqual(lines, [
    "ATTRIBUTE                                           VALUE",
    "Username                                            system:serviceaccount:whoami:robot",
    `UID                                                 ${uid}`,
    "Groups                                              [system:serviceaccounts system:serviceaccounts:whoami system:authenticated]",
    "Extra: authentication.kubernetes.io/credential-id   [JTI=…]",
    "",
  ]);
});

test("kubectl auth whoami shows the impersonated user", needs("kubectl"), async () => {
  equal(
    await server.kubectl("auth whoami --as=jane --as-group=team --as-group=ops --as-uid=u1 --as-user-extra=scopes=a"),
    "ATTRIBUTE       VALUE\nUsername        jane\nUID             u1\nGroups          [team ops system:authenticated]\nExtra: scopes   [a]\n",
  );
  equal(
    await server.kubectl("auth whoami --as=system:serviceaccount:shop:robot"),
    "ATTRIBUTE   VALUE\nUsername    system:serviceaccount:shop:robot\nGroups      [system:serviceaccounts system:serviceaccounts:shop system:authenticated]\n",
  );
});

test("a client without credentials is anonymous and may read public endpoints", needs("kubectl"), async () => {
  const stranger = await kubectlOf(server, "stranger", IGNORED_CREDENTIALS);

  equal(JSON.parse(await stranger("get --raw /version")).minor, "36");
  equal(await stranger("get configmap cluster-info --namespace=kube-public -o name"), "configmap/cluster-info\n");
  for (const [line, error] of [
    ["auth whoami", "error: the selfsubjectreviews API is not enabled in the cluster or you do not have permission to call it"],
    ["get --raw /api", `Error from server (Forbidden): forbidden: User "system:anonymous" cannot get path "/api"`],
    [
      "get configmap extension-apiserver-authentication --namespace=kube-system",
      `Error from server (Forbidden): configmaps "extension-apiserver-authentication" is forbidden: User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "kube-system"`,
    ],
    [
      "auth can-i get pods",
      `Error from server (Forbidden): selfsubjectaccessreviews.authorization.k8s.io is forbidden: User "system:anonymous" cannot create resource "selfsubjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope`,
    ],
  ] as const)
    equal(await stranger.fails(line), `${error}\n`);
});

/** Jane, the group "team" and the service account "robot" may read pods, their logs and config maps of the namespace. */
async function aNamespaceWithReaders(name: string): Promise<ClientProgram> {
  const kubectl = await server.inNamespace(name);
  await kubectl("create serviceaccount robot");
  await kubectl("create role reader --verb=get,list,watch --resource=pods,pods/log,configmaps");
  await kubectl(`create rolebinding readers --role=reader --user=jane --group=team --serviceaccount=${name}:robot`);
  return kubectl;
}

test("kubectl auth can-i prints yes or no, with a matching exit code", needs("kubectl"), async () => {
  const kubectl = await aNamespaceWithReaders("can-i");
  const yes = { code: 0, stdout: "yes\n", stderr: "" };
  const no = { code: 1, stdout: "no\n", stderr: "" };

  for (const [line, expected] of [
    ["get pods --as=jane", yes],
    ["delete pods --as=jane", no],
    ["delete pods --as=jane --quiet", { ...no, stdout: "" }],
    ["get pods/web --as=jane", yes],
    ["get pods --subresource=log --as=jane", yes],
    ["create pods --subresource=exec --as=jane", no],
    ["list pods --all-namespaces --as=jane", no],
    ["list pods --namespace=default --as=jane", no],
    ["get pods --as=joe", no],
    ["get pods --as=joe --as-group=team", yes],
    ["get pods --as=system:serviceaccount:can-i:robot", yes],
    ["get pods --as=system:serviceaccount:default:robot", no],
    ["get /healthz --as=jane", yes],
    ["get /metrics --as=jane", no],
    ["get nodes --as=jane", { ...no, stderr: "Warning: resource 'nodes' is not namespace scoped\n\n" }],
    ["'*' '*' --as=jane", no],
    ["'*' '*'", yes],
    ["get unicorns", { ...yes, stderr: "Warning: the server doesn't have a resource type 'unicorns'\n\n" }],
    ["ride pods", { ...yes, stderr: "Warning: verb 'ride' is not a known verb\n\n" }],
  ] as const)
    deepEqual(await kubectl.run(`auth can-i ${line}`), expected, line);
});

test("kubectl auth can-i --list shows the permissions of a role and those of all users", needs("kubectl"), async () => {
  const kubectl = await aNamespaceWithReaders("can-i-list");

  const [header, ...rows] = (await kubectl("auth can-i --list --as=jane")).replace(/ +$/gm, "").split("\n");
  const elsewhere = await kubectl("auth can-i --list --as=jane --namespace=default");
  const everything = await kubectl("auth can-i --list");

  match(header ?? "", /^Resources +Non-Resource URLs +Resource Names +Verbs$/);
  deepEqual(
    rows.filter((row) => /^\S/.test(row)).map((row) => row.split(/ {2,}/)),
    [
      ["selfsubjectreviews.authentication.k8s.io", "[]", "[]", "[create]"],
      ["selfsubjectaccessreviews.authorization.k8s.io", "[]", "[]", "[create]"],
      ["selfsubjectrulesreviews.authorization.k8s.io", "[]", "[]", "[create]"],
      ["configmaps", "[]", "[]", "[get list watch]"],
      ["pods/log", "[]", "[]", "[get list watch]"],
      ["pods", "[]", "[]", "[get list watch]"],
    ],
  );
  match(rows.join("\n"), /^ +\[\/healthz\] +\[\] +\[get\]$/m);
  equal(/^pods/m.test(elsewhere), false);
  match(everything, /^\*\.\* +\[\] +\[\] +\[\*\]\n +\[\*\] +\[\] +\[\*\]$/m);
});

test("a ClusterRole with the label aggregate-to-view is aggregated into view, edit and admin", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("aggregated");
  for (const role of ["view", "edit", "admin"]) await kubectl(`create rolebinding ${role} --clusterrole=${role} --user=${role}er`);
  const answers = async () => {
    const line = (role: string) => `auth can-i list csistoragecapacities.storage.k8s.io --as=${role}er`;
    return Promise.all(["view", "edit", "admin"].map(async (role) => (await kubectl.run(line(role))).stdout));
  };
  deepEqual(await answers(), ["no\n", "no\n", "no\n"]);

  await kubectl("create -f -", {
    input: {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: { name: "see-capacities", labels: { [`${RBAC}/aggregate-to-view`]: "true" } },
      rules: [{ apiGroups: ["storage.k8s.io"], resources: ["csistoragecapacities"], verbs: ["list"] }],
    },
  });
  await kubectl(`wait clusterrole/admin --for=jsonpath='{.rules[?(@.resources[0]=="csistoragecapacities")].verbs[0]}'=list`);

  deepEqual(await answers(), ["yes\n", "yes\n", "yes\n"]);
});

test("kubectl auth reconcile creates, extends and, on request, removes permissions, and is idempotent", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("reconcile");
  const state = async () => {
    const { rules } = JSON.parse(await kubectl("get role shop -o json"));
    const { subjects, roleRef } = JSON.parse(await kubectl("get rolebinding shop -o json"));
    const verbs = rules.map((rule: { readonly verbs: readonly string[] }) => rule.verbs.join());
    return { verbs, users: subjects.map(({ name }: { readonly name: string }) => name), role: roleRef.name };
  };
  // kubectl does not default the namespace here.
  const shop = { name: "shop", namespace: "reconcile" };
  const may = (...verbs: readonly string[]) => aRole(shop, [{ apiGroups: [""], resources: ["pods"], verbs }]);
  const bind = (name: string) => aRoleBinding(shop, name, { kind: "Role", name: "shop" });
  const reconcile = async (input: object, flags = "") => {
    const { stdout, stderr } = await kubectl.run(`auth reconcile -f - ${flags}`, { input });
    return { printed: stdout, details: stderr.split("\n").map((line) => line.trim()) };
  };
  const rule = (verbs: string) => `{Verbs:[${verbs}] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}`;
  const subject = (name: string) => `{Kind:User APIGroup:${RBAC} Name:${name} Namespace:}`;
  const firstInput = aList(may("get", "list"), bind("ann"));
  const secondInput = aList(may("watch"), bind("ben"));

  const made = await reconcile(firstInput);
  const again = await reconcile(firstInput);
  const madeState = await state();
  const added = await reconcile(secondInput);
  const addedState = await state();
  const removed = await reconcile(secondInput, "--remove-extra-permissions --remove-extra-subjects");
  const removedState = await state();
  const bound = await reconcile(aRoleBinding(shop, "ben", { kind: "ClusterRole", name: "view" }));

  const printed = `role.${RBAC}/shop reconciled\nrolebinding.${RBAC}/shop reconciled\n`;
  const create = "reconciliation required create";
  const update = "reconciliation required update";
  deepEqual(
    [made, again, added, removed, bound],
    [
      { printed, details: [create, "missing rules added:", rule("get list"), create, "missing subjects added:", subject("ann"), ""] },
      { printed, details: [""] },
      { printed, details: [update, "missing rules added:", rule("watch"), update, "missing subjects added:", subject("ben"), ""] },
      {
        printed,
        details: [update, "extra rules removed:", rule("get"), rule("list"), update, "extra subjects removed:", subject("ann"), ""],
      },
      { printed: `rolebinding.${RBAC}/shop reconciled\n`, details: ["reconciliation required recreate", ""] },
    ],
  );
  deepEqual(
    [madeState, addedState, removedState],
    [
      { verbs: ["get,list"], users: ["ann"], role: "shop" },
      { verbs: ["get,list", "watch"], users: ["ann", "ben"], role: "shop" },
      { verbs: ["watch"], users: ["ben"], role: "shop" },
    ],
  );
  equal((await state()).role, "view");
});

test("a client without permission gets upstream's Forbidden message", needs("kubectl"), async () => {
  const kubectl = (await aNamespaceWithReaders("no-right")).with("--as=jane");
  const cannot = (verb: string, resource: string, where: string) =>
    `forbidden: User "jane" cannot ${verb} resource "${resource}" in API group "" ${where}`;
  const here = `in the namespace "no-right"`;
  const everywhere = "at the cluster scope";

  equal(await kubectl("get pods -o name"), "");
  for (const [line, error] of [
    ["get pods --all-namespaces", `Error from server (Forbidden): pods is ${cannot("list", "pods", everywhere)}`],
    ["get nodes", `Error from server (Forbidden): nodes is ${cannot("list", "nodes", everywhere)}`],
    ["get secret key", `Error from server (Forbidden): secrets "key" is ${cannot("get", "secrets", here)}`],
    ["create configmap settings", `error: failed to create configmap: configmaps is ${cannot("create", "configmaps", here)}`],
    ["delete pod web", `Error from server (Forbidden): pods "web" is ${cannot("delete", "pods", here)}`],
    ["get pods --namespace=ghost", `Error from server (Forbidden): pods is ${cannot("list", "pods", `in the namespace "ghost"`)}`],
    ["get --raw /metrics", `Error from server (Forbidden): forbidden: User "jane" cannot get path "/metrics"`],
    ["create token robot", `error: failed to create token: serviceaccounts "robot" is ${cannot("create", "serviceaccounts/token", here)}`],
  ] as const)
    equal(await kubectl.fails(line), `${error}\n`, line);
});

test("kubectl --as requires permission to impersonate the user, each of the groups, and the uid", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("acting-as");
  await kubectl("create serviceaccount robot");
  const robot = (await kubectlOf(server, "acting-as", { token: await tokenOf(kubectl, "robot") })).with("--namespace=acting-as");
  const me = `User "system:serviceaccount:acting-as:robot"`;
  const refused = (what: string) => `Error from server (Forbidden): ${what}\n`;

  equal(
    await robot.fails("get pods --as=jane"),
    refused(`pods is forbidden: ${me} cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "acting-as"`),
  );
  const rule = (resources: string, name: string) => ({
    apiGroups: [""],
    resources: [resources],
    resourceNames: [name],
    verbs: ["impersonate"],
  });
  await kubectl("create -f -", {
    input: { ...aRole({ name: "act-as-jane" }, [rule("users", "jane"), rule("groups", "team")]), kind: "ClusterRole" },
  });
  await kubectl("create clusterrolebinding act-as-jane --clusterrole=act-as-jane --serviceaccount=acting-as:robot");

  equal(
    await robot("auth whoami --as=jane --as-group=team"),
    "ATTRIBUTE   VALUE\nUsername    jane\nGroups      [team system:authenticated]\n",
  );
  const rows = [
    ["--as=jane", `pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "acting-as"`],
    ["--as=root", `users "root" is forbidden: ${me} cannot impersonate resource "users" in API group "" at the cluster scope`],
    [
      "--as=jane --as-group=system:masters",
      `groups "system:masters" is forbidden: ${me} cannot impersonate resource "groups" in API group "" at the cluster scope`,
    ],
    [
      "--as=jane --as-uid=7",
      `uids.authentication.k8s.io "7" is forbidden: ${me} cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope`,
    ],
  ] as const;
  for (const [flags, error] of rows) equal(await robot.fails(`get pods ${flags}`), refused(error), flags);
  equal(
    await server.kubectl.fails("get pods --as-group=team"),
    "error: requesting uid, groups or user-extra for admin without impersonating a user\n",
  );
});

test("an administrator of a namespace cannot grant permissions that they do not have", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("ruled");
  await kubectl("create rolebinding adam-rules --clusterrole=admin --user=adam");
  const adam = kubectl.with("--as=adam");
  const escalates = `user "adam" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n`;
  const everything = `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}\n`;

  equal(await adam("create rolebinding kim-sees --clusterrole=view --user=kim"), `rolebinding.${RBAC}/kim-sees created\n`);
  equal(await adam("create role see-pods --verb=get --resource=pods"), `role.${RBAC}/see-pods created\n`);
  for (const [line, error] of [
    [
      "create rolebinding all --clusterrole=cluster-admin --user=adam",
      `error: failed to create rolebinding: rolebindings.${RBAC} "all" is forbidden: ${escalates}${everything}`,
    ],
    [
      "create role see-nodes --verb=get,list --resource=nodes",
      `Error from server (Forbidden): roles.${RBAC} "see-nodes" is forbidden: ${escalates}{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}\n`,
    ],
    [
      "create role all '--verb=*' '--resource=*'",
      `Error from server (Forbidden): roles.${RBAC} "all" is forbidden: ${escalates}{APIGroups:[""], Resources:["*"], Verbs:["*"]}\n`,
    ],
    [
      "create clusterrolebinding everywhere --clusterrole=view --user=adam",
      `error: failed to create clusterrolebinding: clusterrolebindings.${RBAC} is forbidden: User "adam" cannot create resource "clusterrolebindings" in API group "${RBAC}" at the cluster scope\n`,
    ],
    [
      "create clusterrole everywhere --verb=get --resource=pods",
      `Error from server (Forbidden): clusterroles.${RBAC} is forbidden: User "adam" cannot create resource "clusterroles" in API group "${RBAC}" at the cluster scope\n`,
    ],
  ] as const)
    equal(await adam.fails(line), error);
  // Nor by changing a role that they may change.
  const wider = [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }];
  match(
    await adam.fails(`patch role see-pods --type=merge -p '${JSON.stringify({ rules: wider })}'`),
    /"see-pods" is forbidden: user "adam" .* is attempting to grant RBAC permissions not currently held:\n/,
  );
  equal(
    await kubectl("get roles,rolebindings -o name"),
    [`role.${RBAC}/see-pods\n`, `rolebinding.${RBAC}/adam-rules\n`, `rolebinding.${RBAC}/kim-sees\n`].join(""),
  );
});
