import assert from "node:assert/strict";
import test from "node:test";
import { validateQualifiedName } from "../../machinery/names.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { podDisruptionBudgets } from "./pod-disruption-budget.ts";

const [NAME_PART = ""] = validateQualifiedName("-");
const SELECTOR: JsonObject = { matchLabels: { a: "b" } };

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["nothing", {}, []],
  ["a number that must stay", { minAvailable: 1, selector: SELECTOR }, []],
  ["a share that may be missing", { maxUnavailable: "100%", unhealthyPodEvictionPolicy: "AlwaysAllow" }, []],
  [
    "both",
    { minAvailable: 1, maxUnavailable: "5%", selector: SELECTOR, unhealthyPodEvictionPolicy: "IfHealthyBudget" },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"a":"b"}},"MaxUnavailable":"5%","UnhealthyPodEvictionPolicy":"IfHealthyBudget"}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  [
    "both, and nothing else",
    { minAvailable: "1%", maxUnavailable: 5 },
    [
      'spec: Invalid value: {"MinAvailable":"1%","Selector":null,"MaxUnavailable":5,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  ["fewer than none that must stay", { minAvailable: -1 }, ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"]],
  [
    "fewer than none that may be missing",
    { maxUnavailable: -1 },
    ["spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"],
  ],
  ["more than all that must stay", { minAvailable: "101%" }, ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%']],
  [
    "more than all that may be missing",
    { maxUnavailable: "101%" },
    ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  ],
  [
    "a text that is no share that must stay",
    { minAvailable: "1" },
    [
      "spec.minAvailable: Invalid value: \"1\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [
    "a text that is no share that may be missing",
    { maxUnavailable: "x" },
    [
      "spec.maxUnavailable: Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [
    "a selector that makes no sense",
    { selector: { matchExpressions: [{ key: "a", operator: "In" }] } },
    ["spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
  ],
  [
    "an unknown policy",
    { unhealthyPodEvictionPolicy: "Foo" },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Foo": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a PodDisruptionBudget with ${title} is ${problems.length === 0 ? "valid" : "rejected"} on create and update`, () => {
    assert.deepEqual(problemsOfNew(podDisruptionBudgets, { spec }), problems);
    assert.deepEqual(problemsOfChange(podDisruptionBudgets, newObject(podDisruptionBudgets, {}), { spec }), problems);
  });
}

const OLD_LABEL = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

const SELECTORS: readonly [title: string, sent: JsonObject, kept: JsonObject][] = [
  [
    "alone, as what selects nothing",
    { matchExpressions: [{ key: OLD_LABEL, operator: "Exists" }] },
    { matchExpressions: [{ key: OLD_LABEL, operator: "Exists" }] },
  ],
  ["alone, as anything else", { matchExpressions: [{ key: OLD_LABEL, operator: "DoesNotExist" }] }, {}],
  [
    "beside others",
    {
      matchExpressions: [
        { key: OLD_LABEL, operator: "Exists" },
        { key: "a", operator: "Exists" },
      ],
    },
    { matchExpressions: [{ key: "a", operator: "Exists" }] },
  ],
  ["not at all", SELECTOR, SELECTOR],
];

for (const [title, sent, kept] of SELECTORS) {
  test(`the legacy label, ${title}, keeps its meaning`, () => {
    assert.deepEqual(received(podDisruptionBudgets, { spec: { selector: sent } }).spec?.selector, kept);
  });
}

test("a PodDisruptionBudget status has non-negative counts, and complete conditions", () => {
  const previous = newObject(podDisruptionBudgets, {});
  const names = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
  const negative: JsonObject = Object.fromEntries(names.map((name) => [name, -1]));
  const status = { ...negative, conditions: [{ type: "A" }] };

  assert.deepEqual(problemsOfChange(podDisruptionBudgets, previous, { status }, "status"), [
    'status.conditions[0].status: Unsupported value: "": supported values: "False", "True", "Unknown"',
    "status.conditions[0].lastTransitionTime: Required value",
    "status.conditions[0].reason: Required value",
    "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0",
    "status.currentHealthy: Invalid value: -1: must be greater than or equal to 0",
    "status.desiredHealthy: Invalid value: -1: must be greater than or equal to 0",
    "status.expectedPods: Invalid value: -1: must be greater than or equal to 0",
  ]);
});

const CONDITION: JsonObject = { type: "A", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", reason: "R", message: "" };

const CONDITIONS: readonly [title: string, conditions: readonly JsonObject[], problems: readonly string[]][] = [
  ["complete", [CONDITION], []],
  ["there twice", [CONDITION, CONDITION], ['status.conditions[1].type: Duplicate value: "A"']],
  [
    "of no type",
    [{ ...CONDITION, type: "A/b" }],
    [
      "status.conditions[0].type: Invalid value: \"A/b\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "for a reason that is none",
    [{ ...CONDITION, reason: "a b" }],
    [
      "status.conditions[0].reason: Invalid value: \"a b\": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
    ],
  ],
  [
    "of an age below none",
    [{ ...CONDITION, observedGeneration: -1 }],
    ["status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero"],
  ],
  [
    "too long",
    [{ ...CONDITION, reason: "a".repeat(1025), message: "a".repeat(32_769) }],
    [
      "status.conditions[0].reason: Too long: may not be more than 1024 bytes",
      "status.conditions[0].message: Too long: may not be more than 32768 bytes",
    ],
  ],
  ["of a type that is no name", [{ ...CONDITION, type: "-" }], [`status.conditions[0].type: Invalid value: "-": ${NAME_PART}`]],
];

for (const [title, conditions, problems] of CONDITIONS) {
  test(`a condition that is ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfChange(podDisruptionBudgets, newObject(podDisruptionBudgets, {}), { status: { conditions } }, "status"),
      problems,
    );
  });
}

test("a status write of a PodDisruptionBudget keeps the spec, and an update keeps the status", () => {
  const previous = newObject(podDisruptionBudgets, { spec: { minAvailable: 1 } });
  const next = changedObject(podDisruptionBudgets, previous, { spec: { minAvailable: 2 }, status: { expectedPods: 2 } });

  assert.deepEqual(previous.status, { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 });
  assert.equal(next.status, previous.status);
  assert.equal(podDisruptionBudgets.changesGeneration?.(next, previous), true);
  assert.equal(changedObject(podDisruptionBudgets, previous, { spec: {}, status: { expectedPods: 2 } }, "status").spec, previous.spec);
});

test("an update of a PodDisruptionBudget requires a resourceVersion", () => {
  assert.equal(podDisruptionBudgets.unconditionalUpdate, false);
});

test("the table of PodDisruptionBudgets shows the allowed disruptions", () => {
  const budget = { ...newObject(podDisruptionBudgets, { spec: { minAvailable: "30%" } }), status: { disruptionsAllowed: 2 } };

  assert.deepEqual(columnNames(podDisruptionBudgets), ["Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"]);
  assert.deepEqual(Object.values(cellsOf(podDisruptionBudgets, budget)), ["x", "30%", "N/A", 2, "<unknown>"]);
});
