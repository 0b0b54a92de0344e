import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { AuditPolicy, AuditRule } from "../../framework/audit.ts";
import { auditDecision, type AuditedAccess } from "./audit-policy.ts";

const ANY: AuditRule = {
  ...{ level: "Metadata", users: [], userGroups: [], verbs: [], resources: [], namespaces: [], nonResourceUrls: [], omitStages: [] },
};

function policyOf(...rules: Partial<AuditRule>[]): AuditPolicy {
  return { rules: rules.map((rule) => ({ ...ANY, ...rule })), omitStages: [], omitManagedFields: false };
}

const JANE = { name: "jane", groups: ["developers", "system:authenticated"] };
const POD = { group: "", version: "v1", plural: "pods", subresource: "", namespace: "default", name: "web" };

function accessTo(resource: Partial<typeof POD> = {}, more: Partial<AuditedAccess> = {}): AuditedAccess {
  return { user: JANE, verb: "get", path: "", resource: { ...POD, ...resource }, ...more };
}

function accessOf(path: string): AuditedAccess {
  return { user: JANE, verb: "get", path };
}

const SCALE = { group: "apps", plural: "deployments", subresource: "scale" };

const MATCHES: readonly [it: string, rule: Partial<AuditRule>, access: AuditedAccess, matches: boolean][] = [
  ["an empty rule, a resource", {}, accessTo(), true],
  ["an empty rule, a path", {}, accessOf("/healthz"), true],
  ["its user", { users: ["jane"] }, accessTo(), true],
  ["another user", { users: ["john"] }, accessTo(), false],
  ["a user, but none is authenticated", { users: ["jane"] }, accessTo({}, { user: undefined }), false],
  ["one of its groups", { userGroups: ["admins", "developers"] }, accessTo(), true],
  ["another group", { userGroups: ["admins"] }, accessTo(), false],
  ["a group, but none is authenticated", { userGroups: ["developers"] }, accessTo({}, { user: undefined }), false],
  ["its verb", { verbs: ["get"] }, accessTo(), true],
  ["another verb", { verbs: ["watch"] }, accessTo(), false],
  ["its namespace", { namespaces: ["default"] }, accessTo(), true],
  ["another namespace", { namespaces: ["kube-system"] }, accessTo(), false],
  ["no namespace", { namespaces: [""] }, accessTo({ plural: "nodes", namespace: "" }), true],
  ["a namespace, and a path", { namespaces: [""] }, accessOf("/healthz"), false],
  ["its group without resources", { resources: [{ group: "apps", resources: [], resourceNames: [] }] }, accessTo(SCALE), true],
  ["another group of the API", { resources: [{ group: "apps", resources: [], resourceNames: [] }] }, accessTo(), false],
  ["all groups", { resources: [{ group: "*", resources: [], resourceNames: [] }] }, accessTo(SCALE), true],
  ["its resource", { resources: [{ group: "", resources: ["pods"], resourceNames: [] }] }, accessTo(), true],
  [
    "a resource, but a subresource",
    { resources: [{ group: "", resources: ["pods"], resourceNames: [] }] },
    accessTo({ subresource: "log" }),
    false,
  ],
  ["its subresource", { resources: [{ group: "", resources: ["pods/log"], resourceNames: [] }] }, accessTo({ subresource: "log" }), true],
  ["all subresources", { resources: [{ group: "", resources: ["pods/*"], resourceNames: [] }] }, accessTo({ subresource: "log" }), true],
  ["all subresources, the resource itself", { resources: [{ group: "", resources: ["pods/*"], resourceNames: [] }] }, accessTo(), true],
  ["a subresource of all", { resources: [{ group: "apps", resources: ["*/scale"], resourceNames: [] }] }, accessTo(SCALE), true],
  [
    "a subresource of all, another one",
    { resources: [{ group: "", resources: ["*/scale"], resourceNames: [] }] },
    accessTo({ subresource: "log" }),
    false,
  ],
  ["everything of a group", { resources: [{ group: "apps", resources: ["*"], resourceNames: [] }] }, accessTo(SCALE), true],
  ["its name", { resources: [{ group: "", resources: ["pods"], resourceNames: ["web"] }] }, accessTo(), true],
  ["another name", { resources: [{ group: "", resources: ["pods"], resourceNames: ["db"] }] }, accessTo(), false],
  ["resources, and a path", { resources: [{ group: "*", resources: ["*"], resourceNames: [] }] }, accessOf("/api"), false],
  ["its path", { nonResourceUrls: ["/healthz"] }, accessOf("/healthz"), true],
  ["another path", { nonResourceUrls: ["/healthz"] }, accessOf("/healthz/ping"), false],
  ["paths that begin so", { nonResourceUrls: ["/healthz*"] }, accessOf("/healthz/ping"), true],
  ["all paths", { nonResourceUrls: ["*"] }, accessOf("/version"), true],
  ["all paths, and a resource", { nonResourceUrls: ["*"] }, accessTo(), false],
];

for (const [it, rule, access, matches] of MATCHES) {
  test(`an audit rule with ${it}: ${matches ? "the request is recorded" : "the request is not recorded"}`, () => {
    equal(auditDecision(policyOf(rule), access).level, matches ? "Metadata" : "None");
  });
}

test("the first audit rule that matches decides", () => {
  const policy = policyOf({ level: "None", users: ["jane"] }, { level: "RequestResponse", verbs: ["get"] }, { level: "Request" });

  const levels = [accessTo(), accessTo({}, { user: undefined }), accessTo({}, { user: undefined, verb: "list" })].map(
    (access) => auditDecision(policy, access).level,
  );

  deepEqual(levels, ["None", "RequestResponse", "Request"]);
});

test("stages are omitted by the policy and by the rule, and managed fields by the rule or else by the policy", () => {
  const policy: AuditPolicy = {
    omitStages: ["RequestReceived"],
    omitManagedFields: true,
    rules: [
      { ...ANY, verbs: ["get"], omitStages: ["Panic"], omitManagedFields: false },
      { ...ANY, verbs: ["list"] },
    ],
  };

  const decisions = ["get", "list", "watch"].map((verb) => auditDecision(policy, accessTo({}, { verb })));

  deepEqual(decisions, [
    { level: "Metadata", omitStages: new Set(["RequestReceived", "Panic"]), omitManagedFields: false },
    { level: "Metadata", omitStages: new Set(["RequestReceived"]), omitManagedFields: true },
    { level: "None", omitStages: new Set(["RequestReceived"]), omitManagedFields: true },
  ]);
});
