import assert from "node:assert/strict";
import test from "node:test";
import { validateQualifiedName } from "../../machinery/names.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfNew, received } from "../../testing/kind.ts";
import { mutatingAdmissionPolicies } from "./mutating-admission-policy.ts";

const [NOT_A_NAME = ""] = validateQualifiedName("a b");
const RULE: JsonObject = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const PATCH: JsonObject = { patchType: "JSONPatch", jsonPatch: { expression: '[JSONPatch{op: "add", path: "/a", value: "b"}]' } };
const SPEC: JsonObject = { matchConstraints: { resourceRules: [RULE] }, reinvocationPolicy: "Never", mutations: [PATCH] };

test("the failure policy of a MutatingAdmissionPolicy defaults to Fail, and defaults are idempotent", () => {
  const policy = received(mutatingAdmissionPolicies, { spec: SPEC });

  assert.equal(policy.spec?.failurePolicy, "Fail");
  assert.equal(policy.spec?.matchConstraints?.resourceRules?.[0]?.scope, "*");
  assert.equal(mutatingAdmissionPolicies.served[0]?.defaults?.(policy), policy);
});

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["all it needs", SPEC, []],
  [
    "too many conditions",
    { ...SPEC, matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `n${index}`, expression: "true" })) },
    ["spec.matchConditions: Too many: 65: must have at most 64 items"],
  ],
  [
    "constraints around its rules that are none",
    {
      ...SPEC,
      matchConstraints: { resourceRules: [RULE], matchPolicy: "Roughly", namespaceSelector: { matchLabels: { "A_/b": "b c" } } },
    },
    [
      'spec.matchConstraints.matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact"',
      "spec.matchConstraints.namespaceSelector.matchLabels: Invalid value: \"A_/b\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "spec.matchConstraints.namespaceSelector.matchLabels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  [
    "constraints around its rules whose labels are none",
    {
      ...SPEC,
      matchConstraints: {
        resourceRules: [RULE],
        namespaceSelector: { matchLabels: { "a b": "x" } },
        objectSelector: { matchLabels: { "": "x" } },
      },
    },
    [
      `spec.matchConstraints.namespaceSelector.matchLabels: Invalid value: "a b": ${NOT_A_NAME}`,
      'spec.matchConstraints.objectSelector.matchLabels: Invalid value: "": name part must be non-empty',
      `spec.matchConstraints.objectSelector.matchLabels: Invalid value: "": ${NOT_A_NAME}`,
    ],
  ],
  ["a change by apply", { ...SPEC, mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }] }, []],
  [
    "nothing",
    {},
    [
      "spec.matchConstraints: Required value",
      "spec.mutations: Required value: mutations must contain at least one item",
      "spec.reinvocationPolicy: Required value",
    ],
  ],
  [
    "wrong words",
    { ...SPEC, failurePolicy: "x", reinvocationPolicy: "y" },
    [
      'spec.failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"',
      'spec.reinvocationPolicy: Unsupported value: "y": supported values: "IfNeeded", "Never"',
    ],
  ],
  [
    "the deletion of objects, which cannot be changed",
    { ...SPEC, matchConstraints: { resourceRules: [{ ...RULE, operations: ["DELETE", "UPDATE"] }] } },
    ['spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"'],
  ],
  ["no rules", { ...SPEC, matchConstraints: {} }, ["spec.matchConstraints.resourceRules: Required value"]],
  [
    "a kind of parameters, a condition and a variable without names",
    { ...SPEC, paramKind: {}, matchConditions: [{ name: "", expression: "true" }], variables: [{ name: "", expression: "1" }] },
    [
      "spec.paramKind.apiVersion: Required value",
      "spec.paramKind.kind: Required value",
      "spec.matchConditions[0].name: Required value",
      "spec.variables[0].name: Required value: name is not specified",
    ],
  ],
  [
    "changes of no sort, or of one that there is not",
    { ...SPEC, mutations: [{}, { patchType: "x" }] },
    [
      "spec.mutations[0].patchType: Required value",
      'spec.mutations[1].patchType: Unsupported value: "x": supported values: "ApplyConfiguration", "JSONPatch"',
    ],
  ],
  [
    "changes of one sort that are there as the other",
    {
      ...SPEC,
      mutations: [
        { patchType: "JSONPatch", applyConfiguration: { expression: "x" } },
        { patchType: "ApplyConfiguration", jsonPatch: { expression: "x" } },
      ],
    },
    [
      "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
      'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      "spec.mutations[1].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
      'spec.mutations[1].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
    ],
  ],
  [
    "changes without an expression",
    {
      ...SPEC,
      mutations: [
        { patchType: "JSONPatch", jsonPatch: {} },
        { patchType: "ApplyConfiguration", applyConfiguration: { expression: " " } },
      ],
    },
    ["spec.mutations[0].jsonPatch.expression: Required value", "spec.mutations[1].applyConfiguration.expression: Required value"],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a MutatingAdmissionPolicy with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(mutatingAdmissionPolicies, { spec }), problems);
  });
}

test("the table of MutatingAdmissionPolicies shows the number of mutations, and a change of the spec increments the generation", () => {
  const policy = newObject(mutatingAdmissionPolicies, { spec: SPEC });
  const changed = changedObject(mutatingAdmissionPolicies, policy, { spec: { ...SPEC, reinvocationPolicy: "IfNeeded" } });

  assert.deepEqual(columnNames(mutatingAdmissionPolicies), ["Name", "Mutations", "ParamKind", "Age"]);
  assert.deepEqual(Object.values(cellsOf(mutatingAdmissionPolicies, policy)), ["x", 1, "<unset>", "<unknown>"]);
  assert.equal(mutatingAdmissionPolicies.changesGeneration?.(changed, policy), true);
});
