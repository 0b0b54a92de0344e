import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { problemsOfNew } from "../../testing/kind.ts";
import { mutatingWebhookConfigurations } from "./mutating-webhook-configuration.ts";
import { validatingAdmissionPolicyBindings } from "./validating-admission-policy-binding.ts";
import { validatingWebhookConfigurations } from "./validating-webhook-configuration.ts";

const RULE: JsonObject = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };

const ROWS: readonly [title: string, rule: JsonObject, problems: readonly string[]][] = [
  ["what most have", RULE, []],
  ["a scope", { ...RULE, scope: "Namespaced" }, []],
  ["stars for everything", { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], scope: "*" }, []],
  ["everything and the subresources of one", { ...RULE, resources: ["*", "pods/status"] }, []],
  ["nothing", {}, ["operations: Required value", "apiGroups: Required value", "apiVersions: Required value", "resources: Required value"]],
  [
    "an operation beside all",
    { ...RULE, operations: ["*", "CREATE"] },
    ['operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations'],
  ],
  [
    "an operation that there is not",
    { ...RULE, operations: ["create"] },
    ['operations[0]: Unsupported value: "create": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"'],
  ],
  [
    "a group beside all",
    { ...RULE, apiGroups: ["*", "a"] },
    ['apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups'],
  ],
  [
    "a version beside all, and an empty one",
    { ...RULE, apiVersions: ["*", ""] },
    ['apiVersions: Invalid value: ["*",""]: if \'*\' is present, must not specify other API versions', "apiVersions[1]: Required value"],
  ],
  ["an empty resource", { ...RULE, resources: [""] }, ["resources[0]: Required value"]],
  [
    "a subresource beside all of that resource",
    { ...RULE, resources: ["pods/*", "pods/status"] },
    ["resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status"],
  ],
  [
    "a subresource beside that of all resources",
    { ...RULE, resources: ["*/status", "pods/status"] },
    ["resources[1]: Invalid value: \"pods/status\": if '*/status' is present, must not specify pods/status"],
  ],
  [
    "a resource beside everything",
    { ...RULE, resources: ["*/*", "pods"] },
    ['resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources'],
  ],
  [
    "a resource beside all resources",
    { ...RULE, resources: ["*", "pods"] },
    ['resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources without subresources'],
  ],
  ["all resources after one, which upstream does not see", { ...RULE, resources: ["pods", "*"] }, []],
  [
    "a scope that there is not",
    { ...RULE, scope: "Galaxy" },
    ['scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"'],
  ],
  [
    "names that are none, or twice",
    { ...RULE, resourceNames: ["a/b", "x", "x"] },
    ["resourceNames[0]: Invalid value: \"a/b\": may not contain '/'", 'resourceNames[2]: Duplicate value: "x"'],
  ],
];

for (const [title, rule, problems] of ROWS) {
  test(`a rule with ${title} is ${problems.length === 0 ? "valid" : "rejected"}, also in excludeResourceRules`, () => {
    for (const list of ["resourceRules", "excludeResourceRules"]) {
      const spec = { policyName: "p", validationActions: ["Deny"], matchResources: { [list]: [rule] } };

      assert.deepEqual(
        problemsOfNew(validatingAdmissionPolicyBindings, { spec }),
        problems.map((problem) => `spec.matchResources.${list}[0].${problem}`),
      );
    }
  });
}

for (const [title, rule, problems] of ROWS.filter(([, { resourceNames }]) => resourceNames === undefined)) {
  test(`a webhook rule with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    const webhook = {
      name: "a.example.com",
      clientConfig: { url: "https://x" },
      rules: [RULE, rule],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    const expected = problems.map((problem) => `webhooks[0].rules[1].${problem}`);

    assert.deepEqual(problemsOfNew(validatingWebhookConfigurations, { webhooks: [webhook] }), expected);
    assert.deepEqual(problemsOfNew(mutatingWebhookConfigurations, { webhooks: [webhook] }), expected);
  });
}

test("selectors and match policy are validated as well", () => {
  const matchResources = {
    matchPolicy: "Roughly",
    namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
    objectSelector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] },
  };

  assert.deepEqual(
    problemsOfNew(validatingAdmissionPolicyBindings, { spec: { policyName: "p", validationActions: ["Deny"], matchResources } }),
    [
      'spec.matchResources.matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact"',
      "spec.matchResources.namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.matchResources.objectSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  );
});
