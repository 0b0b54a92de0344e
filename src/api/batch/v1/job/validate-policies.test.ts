import assert from "node:assert/strict";
import test from "node:test";
import type { JobSpec } from "../../../generated/batch/v1.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import { problems as textsOf, problemsOfNew } from "../../../testing/kind.ts";
import { jobs } from "../job.ts";
import { validatePodFailurePolicy } from "./validate-policies.ts";

const POD: JsonObject = {
  restartPolicy: "Never",
  containers: [{ name: "c", image: "i" }],
  initContainers: [{ name: "first", image: "i" }],
};

function problemsOf(spec: JsonObject): readonly string[] {
  return problemsOfNew(jobs, { metadata: { uid: "u" }, spec: { template: { spec: POD }, ...spec } });
}

const CODES: JsonObject = { operator: "In", values: [1, 2] };
const NUMBERS = (length: number): readonly number[] => Array.from({ length }, (_, index) => index + 1);

const FAILURE_RULES: readonly [title: string, rules: readonly JsonObject[], problems: readonly string[]][] = [
  ["none", [], []],
  [
    "exit codes and conditions",
    [
      { action: "FailJob", onExitCodes: { ...CODES, containerName: "first" } },
      { action: "Ignore", onPodConditions: [{ type: "A" }] },
    ],
    [],
  ],
  ["success among others", [{ action: "Count", onExitCodes: { operator: "NotIn", values: [0, 1] } }], []],
  [
    "nothing",
    [{}],
    [
      'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
      "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
    ],
  ],
  [
    "an unknown action",
    [{ action: "Foo", onExitCodes: CODES }],
    ['spec.podFailurePolicy.rules[0].action: Unsupported value: "Foo": supported values: "Count", "FailIndex", "FailJob", "Ignore"'],
  ],
  [
    "the end of an index that it has not",
    [{ action: "FailIndex", onExitCodes: CODES }],
    ['spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
  ],
  [
    "both exit codes and Pod conditions",
    [{ action: "Count", onExitCodes: CODES, onPodConditions: [{ type: "A" }] }],
    ["spec.podFailurePolicy.rules[0]: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"],
  ],
  [
    "no operator and no codes",
    [{ action: "Count", onExitCodes: {} }],
    [
      'spec.podFailurePolicy.rules[0].onExitCodes.operator: Required value: valid values: ["In" "NotIn"]',
      "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: null: at least one value is required",
    ],
  ],
  [
    "an unknown operator and no codes",
    [{ action: "Count", onExitCodes: { operator: "Foo", values: [] } }],
    [
      'spec.podFailurePolicy.rules[0].onExitCodes.operator: Unsupported value: "Foo": supported values: "In", "NotIn"',
      "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: []: at least one value is required",
    ],
  ],
  [
    "a container that is not there",
    [{ action: "Count", onExitCodes: { ...CODES, containerName: "d" } }],
    [
      'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "d": must be one of the container or initContainer names in the pod template',
    ],
  ],
  [
    "success as a failure",
    [{ action: "Count", onExitCodes: { operator: "In", values: [0] } }],
    ["spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator"],
  ],
  [
    "codes twice and in disorder",
    [{ action: "Count", onExitCodes: { operator: "In", values: [3, 1, 1] } }],
    [
      "spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 1",
      "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,1,1]: must be ordered",
    ],
  ],
  [
    "too many codes",
    [{ action: "Count", onExitCodes: { operator: "In", values: NUMBERS(256) } }],
    ["spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 256: must have at most 255 items"],
  ],
  [
    "conditions that are none",
    [{ action: "Count", onPodConditions: [{ type: "", status: "Foo" }] }],
    [
      'spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "": name part must be non-empty',
      "spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      'spec.podFailurePolicy.rules[0].onPodConditions[0].status: Unsupported value: "Foo": supported values: "False", "True", "Unknown"',
    ],
  ],
  [
    "too many conditions",
    [{ action: "Count", onPodConditions: NUMBERS(21).map((number) => ({ type: `A${number}` })) }],
    ["spec.podFailurePolicy.rules[0].onPodConditions: Too many: 21: must have at most 20 items"],
  ],
  [
    "too many rules",
    NUMBERS(21).map(() => ({ action: "Count", onExitCodes: CODES })),
    ["spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items"],
  ],
];

for (const [title, rules, problems] of FAILURE_RULES) {
  test(`a Pod failure policy with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOf({ podFailurePolicy: { rules } }), problems);
  });
}

test("FailIndex is allowed with backoffLimitPerIndex", () => {
  const podFailurePolicy = { rules: [{ action: "FailIndex", onExitCodes: CODES }] };

  assert.deepEqual(problemsOf({ completionMode: "Indexed", completions: 2, backoffLimitPerIndex: 1, podFailurePolicy }), []);
});

test("a Pod condition pattern requires a status", () => {
  const spec = { template: {} } as JobSpec;

  assert.deepEqual(textsOf(validatePodFailurePolicy({ rules: [{ action: "Count", onPodConditions: [{ type: "A" }] }] }, spec, "policy")), [
    'policy.rules[0].onPodConditions[0].status: Required value: valid values: ["False" "True" "Unknown"]',
  ]);
});

const SUCCESS_RULES: readonly [title: string, rules: readonly JsonObject[], problems: readonly string[]][] = [
  ["a number of some indexes", [{ succeededIndexes: "0-2,4", succeededCount: 4 }], []],
  ["none", [], ["spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified"]],
  ["nothing", [{}], ["spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified"]],
  [
    "fewer than none",
    [{ succeededCount: -1 }],
    ["spec.successPolicy.rules[0].succeededCount: Invalid value: -1: must be greater than or equal to 0"],
  ],
  [
    "more than there are",
    [{ succeededCount: 6 }],
    ["spec.successPolicy.rules[0].succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of specified completions)"],
  ],
  [
    "more than are named",
    [{ succeededIndexes: "0-1", succeededCount: 3 }],
    [
      "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)",
    ],
  ],
  [
    "indexes that cannot be read",
    [{ succeededIndexes: "1-", succeededCount: 1 }],
    [
      'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1-": error parsing succeededIndexes: cannot convert string to integer for index: ""',
      "spec.successPolicy.rules[0].succeededCount: Invalid value: 1: must be less than or equal to 0 (the number of indexes in the specified succeededIndexes field)",
    ],
  ],
  ["too many", NUMBERS(21).map(() => ({ succeededCount: 1 })), ["spec.successPolicy.rules: Too many: 21: must have at most 20 items"]],
];

for (const [title, rules, problems] of SUCCESS_RULES) {
  test(`a success policy with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOf({ completionMode: "Indexed", completions: 5, successPolicy: { rules } }), problems);
  });
}

test("succeededIndexes has a maximum length", () => {
  const succeededIndexes = `0,${"0".repeat(64 * 1024)}1`;
  const [first, second] = problemsOf({ completionMode: "Indexed", completions: 5, successPolicy: { rules: [{ succeededIndexes }] } });

  assert.equal(first, "spec.successPolicy.rules[0].succeededIndexes: Too long: may not be more than 65536 bytes");
  assert.equal(second, undefined);
});

test("a success policy requires an indexed Job with completions", () => {
  const successPolicy = { rules: [{ succeededCount: 1 }, { succeededIndexes: "0" }] };

  assert.deepEqual(problemsOf({ successPolicy }), [
    'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1},{"SucceededIndexes":"0","SucceededCount":null}]}: requires indexed completion mode',
  ]);
  assert.deepEqual(problemsOf({ completionMode: "Indexed", parallelism: 1, successPolicy }), [
    "spec.completions: Required value: when completion mode is Indexed",
  ]);
});
