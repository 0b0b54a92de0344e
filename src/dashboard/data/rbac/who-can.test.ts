import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { subjectText, whoCan, type BindingObject, type Policy, type PolicyRule, type Question, type RoleObject } from "./who-can.ts";

const role = (name: string, rule: PolicyRule, namespace?: string): RoleObject => ({
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  rules: [{ apiGroups: [""], ...rule }],
});
const user = (name: string) => ({ kind: "User", name });
const bind = (name: string, roleRef: string, subjects: BindingObject["subjects"], namespace?: string): BindingObject => {
  const [kind = "", roleName = ""] = roleRef.split("/");
  return {
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { kind, name: roleName },
    ...(subjects === undefined ? {} : { subjects }),
  };
};

const POLICY: Policy = {
  clusterRoles: [
    role("admin", { verbs: ["*"], apiGroups: ["*"], resources: ["*"] }),
    role("view", { verbs: ["get", "list"], resources: ["pods", "pods/log"] }),
    role("scale-all", { verbs: ["patch"], apiGroups: ["apps"], resources: ["*/scale"] }),
    { metadata: { name: "empty" }, rules: null },
  ],
  roles: [
    role("secret-a", { verbs: ["get"], resources: ["secrets"], resourceNames: ["a"] }, "shop"),
    role("view", { verbs: ["delete"], resources: ["pods"] }, "shop"),
  ],
  clusterRoleBindings: [
    bind("admins", "ClusterRole/admin", [{ kind: "Group", name: "ops" }]),
    bind("scalers", "ClusterRole/scale-all", [{ kind: "ServiceAccount", name: "scaler", namespace: "kube-system" }]),
    bind("nothing", "ClusterRole/empty", [user("norman")]),
    bind("broken", "ClusterRole/missing", [user("broken")]),
  ],
  roleBindings: [
    bind("viewers", "ClusterRole/view", [user("vera"), { kind: "ServiceAccount", name: "robot" }], "shop"),
    bind("keepers", "Role/secret-a", [user("kim")], "shop"),
    bind("cleaners", "Role/view", [user("clea")], "shop"),
    bind("others", "ClusterRole/view", [user("olga")], "other"),
    bind("unused", "ClusterRole/view", undefined, "shop"),
  ],
};

const OPS = "Group ops by ClusterRoleBinding admins, ClusterRole admin";

const CASES: readonly { readonly it: string; readonly asks: Partial<Question>; readonly wanted: readonly string[] }[] = [
  {
    it: "a ClusterRole in the namespace of its RoleBinding, to users and ServiceAccounts",
    asks: { verb: "get", resource: "pods" },
    wanted: [
      OPS,
      "ServiceAccount shop/robot by RoleBinding viewers, ClusterRole view",
      "User vera by RoleBinding viewers, ClusterRole view",
    ],
  },
  { it: "only cluster-wide in all namespaces", asks: { verb: "get", resource: "pods", namespace: "" }, wanted: [OPS] },
  {
    it: "a Role, not the ClusterRole of the same name",
    asks: { verb: "delete", resource: "pods" },
    wanted: [OPS, "User clea by RoleBinding cleaners, Role view"],
  },
  {
    it: "a subresource only if the rule names it",
    asks: { verb: "get", resource: "pods/log" },
    wanted: [
      OPS,
      "ServiceAccount shop/robot by RoleBinding viewers, ClusterRole view",
      "User vera by RoleBinding viewers, ClusterRole view",
    ],
  },
  { it: "no other subresource", asks: { verb: "get", resource: "pods/exec" }, wanted: [OPS] },
  {
    it: "a subresource of every resource",
    asks: { verb: "patch", group: "apps", resource: "deployments/scale" },
    wanted: [OPS, "ServiceAccount kube-system/scaler by ClusterRoleBinding scalers, ClusterRole scale-all"],
  },
  { it: "no other group", asks: { verb: "patch", group: "batch", resource: "jobs/scale" }, wanted: [OPS] },
  {
    it: "named objects, if none is asked for",
    asks: { verb: "get", resource: "secrets" },
    wanted: [OPS, "User kim by RoleBinding keepers, Role secret-a, only a"],
  },
  {
    it: "a named object",
    asks: { verb: "get", resource: "secrets", name: "a" },
    wanted: [OPS, "User kim by RoleBinding keepers, Role secret-a, only a"],
  },
  { it: "no other object", asks: { verb: "get", resource: "secrets", name: "b" }, wanted: [OPS] },
];

for (const { it, asks, wanted } of CASES)
  test(`who can: ${it}`, () => {
    const grants = whoCan(POLICY, { verb: "", group: "", resource: "", namespace: "shop", name: "", ...asks });
    deepEqual(
      grants.map(
        ({ subject, binding, role: { kind, name }, names }) =>
          `${subjectText(subject)} by ${binding.kind} ${binding.name}, ${kind} ${name}${names.length === 0 ? "" : `, only ${names.join(" ")}`}`,
      ),
      wanted,
    );
  });
