import assert from "node:assert/strict";
import test from "node:test";
import { validateDnsSubdomain } from "../../machinery/names.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { roleBindings } from "./role-binding.ts";

const [DNS_SUBDOMAIN = ""] = validateDnsSubdomain("A");

const ROLE = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "a" };

test("the apiGroup of the role, users and groups of a RoleBinding defaults to RBAC's, and of service accounts to the core group", () => {
  const subjects = ["User", "Group", "ServiceAccount"].map((kind) => ({ kind, name: "a", namespace: "n" }));

  const binding = newObject(roleBindings, { roleRef: { kind: "ClusterRole", name: "a" }, subjects });

  assert.deepEqual(binding.roleRef, ROLE);
  assert.deepEqual(
    binding.subjects?.map(({ apiGroup }) => apiGroup),
    ["rbac.authorization.k8s.io", "rbac.authorization.k8s.io", undefined],
  );
  assert.equal(roleBindings.served[0]?.defaults?.(binding), binding);
});

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  [
    "no role",
    { roleRef: {} },
    ['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', "roleRef.name: Required value"],
  ],
  [
    "a role of another group, kind and name",
    { roleRef: { apiGroup: "example.com", kind: "Pod", name: "a/b" } },
    [
      'roleRef.apiGroup: Unsupported value: "example.com": supported values: "rbac.authorization.k8s.io"',
      'roleRef.kind: Unsupported value: "Pod": supported values: "Role", "ClusterRole"',
      "roleRef.name: Invalid value: \"a/b\": may not contain '/'",
    ],
  ],
  [
    "subjects that are none",
    {
      roleRef: { kind: "ClusterRole", name: "a" },
      subjects: [
        { kind: "User" },
        { kind: "User", name: "a", apiGroup: "x" },
        { kind: "Group", name: "a", apiGroup: "x" },
        { kind: "ServiceAccount", name: "A", namespace: "n", apiGroup: "x" },
        { kind: "Node", name: "a" },
      ],
    },
    [
      "subjects[0].name: Required value",
      'subjects[1].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      'subjects[2].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      `subjects[3].name: Invalid value: "A": ${DNS_SUBDOMAIN}`,
      'subjects[3].apiGroup: Unsupported value: "x": supported values: ""',
      'subjects[4].kind: Unsupported value: "Node": supported values: "ServiceAccount", "User", "Group"',
    ],
  ],
  [
    "a service account without a namespace",
    { roleRef: { kind: "ClusterRole", name: "a" }, subjects: [{ kind: "ServiceAccount", name: "a" }] },
    [],
  ],
  ["a Role", { roleRef: { kind: "Role", name: "a" } }, []],
  ["a ClusterRole whose name has a colon", { roleRef: { kind: "ClusterRole", name: "system:a" } }, []],
];

for (const [title, sent, problems] of ROWS) {
  test(`a RoleBinding with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(roleBindings, sent), problems);
  });
}

test("the roleRef of a RoleBinding is immutable, and its subjects are not", () => {
  const previous = newObject(roleBindings, { roleRef: ROLE });

  assert.deepEqual(problemsOfChange(roleBindings, previous, { roleRef: ROLE, subjects: [{ kind: "User", name: "a" }] }), []);
  assert.deepEqual(problemsOfChange(roleBindings, previous, { roleRef: { ...ROLE, name: "b" } }), [
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"b"}: cannot change roleRef',
  ]);
});

test("the table of RoleBindings shows the subjects by kind", () => {
  const subjects = [
    { kind: "User", name: "anna" },
    { kind: "ServiceAccount", name: "robot", namespace: "factory" },
    { kind: "User", name: "bela" },
    { kind: "Group", name: "readers" },
  ];

  assert.deepEqual(cellsOf(roleBindings, newObject(roleBindings, { roleRef: ROLE, subjects })), {
    Name: "x",
    Role: "ClusterRole/a",
    Age: "<unknown>",
    Users: "anna, bela",
    Groups: "readers",
    ServiceAccounts: "factory/robot",
  });
  assert.deepEqual(columnNames(roleBindings), ["Name", "Role", "Age", "Users*", "Groups*", "ServiceAccounts*"]);
});

test("a RoleBinding has the name rule of a Role, and is created by a PUT", () => {
  assert.deepEqual(roleBindings.validateName?.("system:a%"), ["may not contain '%'"]);
  assert.equal(roleBindings.createOnUpdate, true);
});
