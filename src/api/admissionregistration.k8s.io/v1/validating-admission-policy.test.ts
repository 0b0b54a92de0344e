import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, problems, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { validatingAdmissionPolicies } from "./validating-admission-policy.ts";

const RULE: JsonObject = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const SPEC: JsonObject = { matchConstraints: { resourceRules: [RULE] }, validations: [{ expression: "true" }] };
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

test("the failure policy of a ValidatingAdmissionPolicy defaults to Fail, and defaults are idempotent", () => {
  const policy = received(validatingAdmissionPolicies, { spec: SPEC });

  assert.equal(policy.spec?.failurePolicy, "Fail");
  assert.deepEqual(policy.spec?.matchConstraints, {
    resourceRules: [{ ...RULE, scope: "*" }],
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
  });
  assert.equal(validatingAdmissionPolicies.served[0]?.defaults?.(policy), policy);
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
    "nothing",
    {},
    [
      "spec.matchConstraints: Required value",
      "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
      "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
    ],
  ],
  [
    "a wrong word and no rules",
    { ...SPEC, failurePolicy: "x", matchConstraints: {} },
    [
      'spec.failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"',
      "spec.matchConstraints.resourceRules: Required value",
    ],
  ],
  [
    "no kind of parameters",
    { ...SPEC, paramKind: {} },
    ["spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value"],
  ],
  [
    "a version of too many parts",
    { ...SPEC, paramKind: { apiVersion: "a/b/c", kind: "K" } },
    ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  ],
  [
    "a group, a version and a kind that are none",
    { ...SPEC, paramKind: { apiVersion: "A_/V1", kind: "Foo_" } },
    [
      `spec.paramKind.apiVersion: Invalid value: "A_": ${SUBDOMAIN}`,
      `spec.paramKind.apiVersion: Invalid value: "V1": ${LABEL}`,
      `spec.paramKind.kind: Invalid value: "Foo_": may have mixed case, but should otherwise match: ${LABEL}`,
    ],
  ],
  [
    "a group without a version",
    { ...SPEC, paramKind: { apiVersion: "a/", kind: "K" } },
    ['spec.paramKind.apiVersion: Invalid value: "a/": version must be specified'],
  ],
  [
    "conditions without names",
    { ...SPEC, matchConditions: [{ name: "", expression: "" }] },
    ["spec.matchConditions[0].expression: Required value", "spec.matchConditions[0].name: Required value"],
  ],
  [
    "variables that cannot be called so",
    {
      ...SPEC,
      variables: [
        { name: " ", expression: " " },
        { name: "1a", expression: "1" },
        { name: "while", expression: "1" },
        { name: "ok_1", expression: "1" },
      ],
    },
    [
      "spec.variables[0].name: Required value: name is not specified",
      "spec.variables[0].expression: Required value: expression is not specified",
      'spec.variables[1].name: Invalid value: "1a": must be a valid CEL identifier',
      'spec.variables[2].name: Invalid value: "while": must be a valid CEL identifier',
    ],
  ],
  [
    "validations that say nothing",
    { ...SPEC, validations: [{ expression: " ", message: " ", messageExpression: " ", reason: "Bored" }] },
    [
      "spec.validations[0].expression: Required value: expression is not specified",
      'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
      'spec.validations[0].message: Invalid value: " ": must be non-empty if specified',
      'spec.validations[0].reason: Unsupported value: "Bored": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    ],
  ],
  [
    "a message of two lines",
    { ...SPEC, validations: [{ expression: "true", message: "a\nb", messageExpression: "'x'" }] },
    ['spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks'],
  ],
  [
    "annotations that are none",
    {
      ...SPEC,
      auditAnnotations: [
        { key: "a", valueExpression: "'x'" },
        { key: "a", valueExpression: " " },
        { key: "b!", valueExpression: `'${"x".repeat(5 * 1024)}'` },
      ],
    },
    [
      "spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified",
      'spec.auditAnnotations[1].key: Duplicate value: "a"',
      `spec.auditAnnotations[2].key: Invalid value: "x/b!": ${NAME_PART}`,
      "spec.auditAnnotations[2].valueExpression: Required value: must not exceed 5120 bytes in length",
    ],
  ],
];

for (const [title, spec, expected] of ROWS) {
  test(`a ValidatingAdmissionPolicy with ${title} is ${expected.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(validatingAdmissionPolicies, { spec }), expected);
  });
}

test("a policy has at most twenty audit annotations, whose keys are prefixed with its name", () => {
  const annotations = (count: number) => Array.from({ length: count }, (_, index) => ({ key: `k${index}`, valueExpression: "'v'" }));
  const shown = annotations(21).map(({ key, valueExpression }) => ({ Key: key, ValueExpression: valueExpression }));
  const nameless = newObject(validatingAdmissionPolicies, { metadata: { name: "" }, spec: { ...SPEC, auditAnnotations: annotations(1) } });

  assert.deepEqual(problemsOfNew(validatingAdmissionPolicies, { spec: { ...SPEC, auditAnnotations: annotations(20) } }), []);
  assert.deepEqual(problemsOfNew(validatingAdmissionPolicies, { spec: { ...SPEC, auditAnnotations: annotations(21) } }), [
    `spec.auditAnnotations: Invalid value: ${JSON.stringify(shown)}: must not have more than 20 auditAnnotations`,
  ]);
  assert.deepEqual(problems(validatingAdmissionPolicies.validate?.(nameless) ?? []), [
    'spec.auditAnnotations[0].key: Invalid value: "k0": requires metadata.name be non-empty',
  ]);
});

test("unchanged match conditions are not validated again, unless the parameter kind changes", () => {
  const spec = { ...SPEC, matchConditions: [{ name: "", expression: "" }] };
  const stored = received(validatingAdmissionPolicies, { spec });

  assert.deepEqual(problemsOfChange(validatingAdmissionPolicies, stored, { spec: { ...spec, failurePolicy: "Ignore" } }), []);
  assert.deepEqual(
    problemsOfChange(validatingAdmissionPolicies, stored, { spec: { ...spec, paramKind: { apiVersion: "v1", kind: "K" } } }).length,
    2,
  );
});

test("an update keeps the status, and a status write keeps the spec", () => {
  const policy = newObject(validatingAdmissionPolicies, { spec: SPEC, status: { observedGeneration: 9 } });
  const written = changedObject(
    validatingAdmissionPolicies,
    policy,
    { metadata: { labels: { a: "b" } }, spec: {}, status: { observedGeneration: 1 } },
    "status",
  );
  const changed = changedObject(validatingAdmissionPolicies, written, { spec: { ...SPEC, failurePolicy: "Ignore" }, status: {} });

  assert.deepEqual(policy.status, {});
  assert.deepEqual([written.spec, written.status, written.metadata.labels], [policy.spec, { observedGeneration: 1 }, undefined]);
  assert.deepEqual(changed.status, { observedGeneration: 1 });
  assert.deepEqual(
    [changed, written].map((next) => validatingAdmissionPolicies.changesGeneration?.(next, policy)),
    [true, false],
  );
});

test("a policy status has valid field references and conditions", () => {
  const policy = newObject(validatingAdmissionPolicies, { spec: SPEC });
  const status = {
    typeChecking: {
      expressionWarnings: [
        { fieldRef: "spec.validations[0].expression", warning: "w" },
        { fieldRef: " ", warning: "" },
        { fieldRef: "spec[", warning: "w" },
      ],
    },
    conditions: [{ type: "A", status: "x", reason: "R", message: "", lastTransitionTime: "2024-01-01T00:00:00Z" }],
  };

  assert.deepEqual(problemsOfChange(validatingAdmissionPolicies, policy, { status }, "status"), [
    "status.typeChecking.expressionWarnings[1].warning: Required value",
    "status.typeChecking.expressionWarnings[1].fieldRef: Required value",
    'status.typeChecking.expressionWarnings[2].fieldRef: Invalid value: "spec[": invalid JSONPath: unterminated array',
    'status.conditions[0].status: Unsupported value: "x": supported values: "False", "True", "Unknown"',
  ]);
  assert.deepEqual(problemsOfChange(validatingAdmissionPolicies, policy, { status: {} }, "status"), []);
});

test("the table of ValidatingAdmissionPolicies shows the number of validations and the parameter kind", () => {
  const policy = newObject(validatingAdmissionPolicies, { spec: { ...SPEC, paramKind: { apiVersion: "a/v1", kind: "K" } } });

  assert.deepEqual(columnNames(validatingAdmissionPolicies), ["Name", "Validations", "ParamKind", "Age"]);
  assert.deepEqual(Object.values(cellsOf(validatingAdmissionPolicies, policy)), ["x", 1, "a/v1/K", "<unknown>"]);
  assert.equal(cellsOf(validatingAdmissionPolicies, newObject(validatingAdmissionPolicies, {}))["ParamKind"], "<unset>");
});
