import assert from "node:assert/strict";
import test from "node:test";
import { validateQualifiedName } from "../../machinery/names.ts";
import type { JsonObject, KubeObject } from "../../machinery/object.ts";
import type { Resource } from "../../machinery/resource.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfNew, received, warningsOfNew } from "../../testing/kind.ts";
import { mutatingAdmissionPolicyBindings } from "./mutating-admission-policy-binding.ts";
import type { BindingSpec } from "./policy-binding.ts";
import { validatingAdmissionPolicyBindings } from "./validating-admission-policy-binding.ts";

const [NOT_A_NAME = ""] = validateQualifiedName("a b");
const SPEC: JsonObject = { policyName: "p", validationActions: ["Deny"] };
const KINDS: readonly Resource[] = [validatingAdmissionPolicyBindings, mutatingAdmissionPolicyBindings];
const RULE: JsonObject = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };

test("the matchResources of a binding get their defaults, idempotently", () => {
  for (const resource of KINDS) {
    const binding = received(resource, { spec: { ...SPEC, matchResources: { resourceRules: [RULE], excludeResourceRules: [RULE] } } });
    const rules = [{ ...RULE, scope: "*" }];

    assert.deepEqual((binding as KubeObject & { readonly spec: BindingSpec }).spec.matchResources, {
      resourceRules: rules,
      excludeResourceRules: rules,
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
    });
    assert.equal(resource.served[0]?.defaults?.(binding), binding);
  }
});

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["a policy", SPEC, []],
  ["no policy", { ...SPEC, policyName: "" }, ["spec.policyName: Required value"]],
  [
    "a policy that cannot exist",
    { ...SPEC, policyName: "A b" },
    [
      "spec.policyName: Invalid value: \"A b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "empty parameters",
    { ...SPEC, paramRef: {} },
    ["spec.paramRef: Required value: one of name or selector must be specified", "spec.paramRef.parameterNotFoundAction: Required value"],
  ],
  [
    "parameters by name and selector, neither of which is one",
    { ...SPEC, paramRef: { name: "a%", selector: { matchExpressions: [{ key: "a", operator: "In" }] }, parameterNotFoundAction: "x" } },
    [
      "spec.paramRef.name: Invalid value: \"a%\": may not contain '%'",
      "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
      "spec.paramRef.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
      'spec.paramRef.parameterNotFoundAction: Unsupported value: "x": supported values: "Deny", "Allow"',
    ],
  ],
  [
    "parameters by labels that are none",
    { ...SPEC, paramRef: { selector: { matchLabels: { "A_/b": "b c" } }, parameterNotFoundAction: "Allow" } },
    [
      "spec.paramRef.selector.matchLabels: Invalid value: \"A_/b\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "spec.paramRef.selector.matchLabels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  [
    "labels whose names are none",
    {
      ...SPEC,
      paramRef: { selector: { matchLabels: { "a b": "c" } }, parameterNotFoundAction: "Allow" },
      matchResources: { resourceRules: [RULE], namespaceSelector: { matchLabels: { "a b": "c" } } },
    },
    [
      `spec.paramRef.selector.matchLabels: Invalid value: "a b": ${NOT_A_NAME}`,
      `spec.matchResources.namespaceSelector.matchLabels: Invalid value: "a b": ${NOT_A_NAME}`,
    ],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a policy binding with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    for (const resource of KINDS) assert.deepEqual(problemsOfNew(resource, { spec }), problems);
  });
}

const ACTIONS: readonly [actions: readonly string[], problems: readonly string[]][] = [
  [["Deny", "Audit"], []],
  [[], ["spec.validationActions: Required value: at least one validation action is required"]],
  [
    ["x", "Deny", "Deny"],
    [
      'spec.validationActions[0]: Unsupported value: "x": supported values: "Audit", "Deny", "Warn"',
      'spec.validationActions[2]: Duplicate value: "Deny"',
    ],
  ],
  [
    ["Deny", "Warn"],
    [
      'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    ],
  ],
];

for (const [validationActions, problems] of ACTIONS) {
  test(`the validationActions [${validationActions.join(", ")}] are valid: ${problems.length === 0}`, () => {
    assert.deepEqual(problemsOfNew(validatingAdmissionPolicyBindings, { spec: { ...SPEC, validationActions } }), problems);
  });
}

test("a mutating policy cannot match DELETE", () => {
  const matchResources = { resourceRules: [{ ...RULE, operations: ["DELETE", "CONNECT"] }] };

  assert.deepEqual(problemsOfNew(mutatingAdmissionPolicyBindings, { spec: { ...SPEC, matchResources } }), [
    'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
  ]);
});

const CELLS: readonly [paramRef: JsonObject | undefined, cell: string][] = [
  [undefined, "<unset>"],
  [{ name: "a", namespace: "b" }, "b/a"],
  [{ name: "a" }, "*/a"],
  [{}, "<unset>"],
  [
    { selector: { matchLabels: { b: "c", "a-b": "d", a: "x" }, matchExpressions: [{ key: "k", operator: "In", values: ["x", "y"] }] } },
    "&LabelSelector{MatchLabels:map[string]string{a: x,a-b: d,b: c,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}",
  ],
];

for (const [paramRef, cell] of CELLS) {
  test(`the table of policy bindings shows parameters as ${cell}`, () => {
    for (const resource of KINDS) {
      const binding = newObject(resource, { spec: { ...SPEC, ...(paramRef === undefined ? {} : { paramRef }) } });

      assert.deepEqual(columnNames(resource), ["Name", "PolicyName", "ParamRef", "Age"]);
      assert.deepEqual(Object.values(cellsOf(resource, binding)), ["x", "p", cell, "<unknown>"]);
    }
  });
}

test("a change of the spec of a binding increments the generation, and a reserved name produces a warning", () => {
  for (const resource of KINDS) {
    const previous = newObject(resource, { spec: SPEC });
    const labelled = changedObject(resource, previous, { spec: SPEC, metadata: { labels: { a: "b" } } });
    const changed = changedObject(resource, previous, { spec: { ...SPEC, policyName: "q" } });

    assert.equal(resource.changesGeneration?.(labelled, previous), false);
    assert.equal(resource.changesGeneration?.(changed, previous), true);
    assert.equal(warningsOfNew(resource, { spec: SPEC, metadata: { name: "a.static.k8s.io" } }).length, 1);
  }
});
