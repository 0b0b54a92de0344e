import assert from "node:assert/strict";
import test from "node:test";
import { cellsOf, columnNames, newObject, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { roles } from "./role.ts";

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["no rules", {}, []],
  [
    "verbs of its own on resources of its own",
    { rules: [{ verbs: ["fly"], apiGroups: ["example.com"], resources: ["birds/wings"], resourceNames: ["a"] }] },
    [],
  ],
  [
    "a rule that says nothing",
    { rules: [{}] },
    [
      "rules[0].verbs: Required value: verbs must contain at least one value",
      "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
      "rules[0].resources: Required value: resource rules must supply at least one resource",
    ],
  ],
  [
    "verbs, and nothing that they are for",
    { rules: [{ verbs: ["get"] }] },
    [
      "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
      "rules[0].resources: Required value: resource rules must supply at least one resource",
    ],
  ],
  [
    "a path",
    { rules: [{ verbs: ["get"], nonResourceURLs: ["/a"] }] },
    ['rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs'],
  ],
  [
    "paths and resources in one rule",
    { rules: [{ verbs: ["get"], nonResourceURLs: ["/a", "/b"], resourceNames: ["c"] }] },
    [
      'rules[0].nonResourceURLs: Invalid value: ["/a","/b"]: namespaced rules cannot apply to non-resource URLs',
      'rules[0].nonResourceURLs: Invalid value: ["/a","/b"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
];

for (const [title, sent, problems] of ROWS) {
  test(`a Role with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(roles, sent), problems);
  });
}

test("the name of a Role is any path segment", () => {
  assert.deepEqual(roles.validateName?.("system:Leader Locking"), []);
  assert.deepEqual(roles.validateName?.("a/b%"), ["may not contain '/'", "may not contain '%'"]);
  assert.deepEqual(roles.validateName?.(".."), ["may not be '..'"]);
});

test("a Role is created by a PUT, and its table shows the creation timestamp", () => {
  const role = newObject(roles, { metadata: { creationTimestamp: "2026-01-01T00:00:00Z" } });

  assert.equal(roles.createOnUpdate, true);
  assert.deepEqual(columnNames(roles), ["Name", "Created At"]);
  assert.deepEqual(cellsOf(roles, role), { Name: "x", "Created At": "2026-01-01T00:00:00Z" });
});
