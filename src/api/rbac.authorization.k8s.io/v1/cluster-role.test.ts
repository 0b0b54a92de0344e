import assert from "node:assert/strict";
import test from "node:test";
import { validateLabelValue, validateQualifiedName } from "../../machinery/names.ts";
import { columnNames, newObject, problemsOfChange, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { clusterRoles } from "./cluster-role.ts";

const [LABEL_VALUE = ""] = validateLabelValue("-");
const [LABEL_KEY = ""] = validateQualifiedName("a/b/c");

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
  ["a path", { rules: [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }] }, []],
  [
    "paths and an API group in one rule",
    { rules: [{ verbs: ["get"], nonResourceURLs: ["/a"], apiGroups: [""] }] },
    ['rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs'],
  ],
  [
    "paths and resources in one rule, and no verbs",
    { rules: [{ nonResourceURLs: ["/a"], resources: ["pods"] }] },
    [
      "rules[0].verbs: Required value: verbs must contain at least one value",
      'rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  ["others to take rules from", { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } }, []],
  [
    "an aggregation rule without selectors",
    { aggregationRule: {} },
    ["aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"],
  ],
  [
    "selectors that make no sense",
    {
      aggregationRule: {
        clusterRoleSelectors: [
          { matchLabels: { "a/b/c": "-" } },
          {
            matchExpressions: [
              { key: "a", operator: "In" },
              { key: "a", operator: "Exists", values: ["x"] },
              { key: "a", operator: "Like" },
              { key: "a/b/c", operator: "In", values: ["-"] },
            ],
          },
        ],
      },
    },
    [
      `aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: "a/b/c": ${LABEL_KEY}`,
      `aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: "-": ${LABEL_VALUE}`,
      "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
      "aggregationRule.clusterRoleSelectors[1].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "aggregationRule.clusterRoleSelectors[1].matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'aggregationRule.clusterRoleSelectors[1].matchExpressions[2].operator: Invalid value: "Like": not a valid selector operator',
      `aggregationRule.clusterRoleSelectors[1].matchExpressions[3].key: Invalid value: "a/b/c": ${LABEL_KEY}`,
      `aggregationRule.clusterRoleSelectors[1].matchExpressions[3].values[0]: Invalid value: "-": ${LABEL_VALUE}`,
      "aggregationRule.clusterRoleSelectors[1]: Invalid value: null: invalid label selector.",
    ],
  ],
];

for (const [title, sent, problems] of ROWS) {
  test(`a ClusterRole with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(clusterRoles, sent), problems);
  });
}

test("stored selector values from before they were validated remain valid, if they are usable", () => {
  const sent = { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "In", values: ["-"] }] }] } };
  const problem = "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.";

  assert.deepEqual(problemsOfChange(clusterRoles, newObject(clusterRoles, sent), sent), [problem]);
  assert.deepEqual(problemsOfChange(clusterRoles, newObject(clusterRoles, { aggregationRule: { clusterRoleSelectors: [{}] } }), sent), [
    `aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values[0]: Invalid value: "-": ${LABEL_VALUE}`,
    problem,
  ]);
});

test("a ClusterRole has the name rule and table of a Role, and is created by a PUT", () => {
  assert.deepEqual(clusterRoles.validateName?.("system:a/"), ["may not contain '/'"]);
  assert.equal(clusterRoles.createOnUpdate, true);
  assert.deepEqual(columnNames(clusterRoles), ["Name", "Created At"]);
});
