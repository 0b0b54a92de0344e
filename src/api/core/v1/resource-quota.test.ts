import assert from "node:assert/strict";
import test from "node:test";
import { validateQualifiedName } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import { cellsOf, changedObject, newObject, problemsOfChange, problemsOfNew, warningsOfNew } from "../../testing/kind.ts";
import { resourceQuotas } from "./resource-quota.ts";

const [LABEL_KEY = ""] = validateQualifiedName("a/b/c");

const MUST_EXIST =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

test("a new ResourceQuota has amounts rounded to thousandths, and an empty status", () => {
  const quota = newObject(resourceQuotas, { spec: { hard: { cpu: "0.0001" } }, status: { used: { cpu: "1" } } });

  assert.deepEqual([quota.spec, quota.status], [{ hard: { cpu: "1m" } }, {}]);
  assert.equal(resourceQuotas.served[0]?.defaults?.(quota), quota);
});

const ROWS: readonly [title: string, spec: Json, problems: readonly string[]][] = [
  ["nothing", {}, []],
  [
    "everything that can be counted",
    {
      hard: {
        cpu: "1",
        "limits.memory": "1Gi",
        "services.nodeports": "1",
        "requests.hugepages-2Mi": "2Mi",
        "requests.a.b/c": "500m",
        "count/jobs.batch": "1",
      },
    },
    [],
  ],
  [
    "an unknown resource",
    { hard: { books: "1" } },
    [
      'spec.hard[books]: Invalid value: "books": must be a standard resource type or fully qualified',
      'spec.hard[books]: Invalid value: "books": must be a standard resource for quota',
    ],
  ],
  ["a name that is none", { hard: { "a/b/c": "1" } }, [`spec.hard[a/b/c]: Invalid value: "a/b/c": ${LABEL_KEY}`]],
  [
    "storage that is neither asked for nor allowed",
    { hard: { storage: "1" } },
    ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota'],
  ],
  ["less than nothing", { hard: { cpu: "-1" } }, ['spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0']],
  [
    "half a Pod, and half a device",
    { hard: { pods: "500m", "a.b/c": "500m" } },
    ['spec.hard[pods]: Invalid value: "500m": must be an integer', 'spec.hard[a.b/c]: Invalid value: "500m": must be an integer'],
  ],
  ["an unknown scope", { scopes: ["Quick"] }, ['spec.scopes: Invalid value: ["Quick"]: unsupported scope']],
  [
    "resources that are not of its scope",
    { scopes: ["BestEffort"], hard: { pods: "1", cpu: "1", "a.b/c": "1" } },
    ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
  ],
  [
    "scopes of claims",
    { scopes: ["VolumeAttributesClass"], hard: { "requests.storage": "1", pods: "1" } },
    ['spec.scopes: Invalid value: ["VolumeAttributesClass"]: unsupported scope applied to resource'],
  ],
  [
    "scopes that exclude each other",
    { scopes: ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating"] },
    [
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Terminating","NotTerminating"]: conflicting scopes',
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Terminating","NotTerminating"]: conflicting scopes',
    ],
  ],
  [
    "a selection of priorities",
    { hard: { pods: "1" }, scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["a"] }] } },
    [],
  ],
  [
    "an unknown scope in the selector",
    { hard: {}, scopeSelector: { matchExpressions: [{ scopeName: "Quick", operator: "Exists" }] } },
    ['spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Quick": unsupported scope'],
  ],
  [
    "resources that are not of the selected scope",
    { hard: { services: "1" }, scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists" }] } },
    [
      'spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"Exists","Values":null}]}: unsupported scope applied to resource',
    ],
  ],
  [
    "values of a scope that has none",
    { hard: {}, scopeSelector: { matchExpressions: [{ scopeName: "CrossNamespacePodAffinity", operator: "NotIn", values: ["a"] }] } },
    [`spec.scopeSelector.matchExpressions.operator: Invalid value: "NotIn": ${MUST_EXIST}`],
  ],
  [
    "no values to select",
    { hard: {}, scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }] } },
    [
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
  ],
  [
    "values where none count",
    { hard: {}, scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "DoesNotExist", values: ["a"] }] } },
    [
      "spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
    ],
  ],
  [
    "an unknown operator",
    { hard: {}, scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Like", values: ["a"] }] } },
    ['spec.scopeSelector.matchExpressions.operator: Invalid value: "Like": not a valid selector operator'],
  ],
  [
    "a selection of scopes that exclude each other",
    {
      hard: {},
      scopeSelector: {
        matchExpressions: [
          { scopeName: "Terminating", operator: "Exists" },
          { scopeName: "NotTerminating", operator: "Exists" },
        ],
      },
    },
    ["spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes"],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a ResourceQuota with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(resourceQuotas, { spec }), problems);
  });
}

test("the scopes of a ResourceQuota are immutable, in any order", () => {
  const previous = newObject(resourceQuotas, { spec: { scopes: ["BestEffort", "PriorityClass"] } });
  const problemsOf = (spec: Json): readonly string[] => problemsOfChange(resourceQuotas, previous, { spec });

  assert.deepEqual(problemsOf({ scopes: ["PriorityClass", "BestEffort", "BestEffort"], hard: { pods: "1" } }), []);
  assert.deepEqual(problemsOf({ scopes: ["BestEffort"] }), ['spec.scopes: Invalid value: ["BestEffort"]: field is immutable']);
  assert.deepEqual(problemsOf({ scopes: ["BestEffort", "Terminating"] }), [
    'spec.scopes: Invalid value: ["BestEffort","Terminating"]: field is immutable',
  ]);
});

test("an update keeps the status, and a status write keeps the spec", () => {
  const previous = newObject(resourceQuotas, { spec: { hard: { pods: "1" } } });
  const sent = { spec: { hard: { pods: "2" } }, status: { used: { pods: "1" } } };

  assert.equal(changedObject(resourceQuotas, previous, sent).status, previous.status);
  const reported = changedObject(resourceQuotas, previous, sent, "status");
  assert.deepEqual([reported.spec, reported.status], [{ hard: { pods: "1" } }, { used: { pods: "1" } }]);
});

test("a status must have countable resources and valid amounts", () => {
  const status = { hard: { books: "1" }, used: { pods: "500m", storage: "-1" } };

  assert.deepEqual(problemsOfChange(resourceQuotas, newObject(resourceQuotas, {}), { status }, "status"), [
    'status.hard[books]: Invalid value: "books": must be a standard resource type or fully qualified',
    'status.hard[books]: Invalid value: "books": must be a standard resource for quota',
    'status.used[pods]: Invalid value: "500m": must be an integer',
    'status.used[storage]: Invalid value: "storage": must be a standard resource for quota',
    'status.used[storage]: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

test("hard and used have the same validation", () => {
  const amounts = { "-": "1", disk: "1", pods: "500m", cpu: "-1" };
  const [namePart = ""] = validateQualifiedName("-");

  assert.deepEqual(
    problemsOfChange(resourceQuotas, newObject(resourceQuotas, {}), { status: { hard: amounts, used: amounts } }, "status"),
    ["status.hard", "status.used"].flatMap((at) => [
      `${at}[-]: Invalid value: "-": ${namePart}`,
      `${at}[-]: Invalid value: "-": must be a standard resource for quota`,
      `${at}[disk]: Invalid value: "disk": must be a standard resource type or fully qualified`,
      `${at}[disk]: Invalid value: "disk": must be a standard resource for quota`,
      `${at}[pods]: Invalid value: "500m": must be an integer`,
      `${at}[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
    ]),
  );
});

const WARNINGS: readonly [hard: Json, warnings: readonly string[]][] = [
  [{ "requests.cpu": "1", "limits.cpu": "1000m" }, []],
  [{ "requests.cpu": "2", "limits.cpu": "1" }, ["ResourceQuota requests.cpu (2) should be less than limits.cpu (1)"]],
  [{ cpu: "2", "limits.cpu": "1" }, ["ResourceQuota cpu (2) should be less than limits.cpu (1)"]],
  [{ "requests.cpu": "1" }, []],
  [{ "limits.cpu": "1" }, []],
  [{ memory: "2Gi", "limits.memory": "1Gi" }, ["ResourceQuota memory (2Gi) should be less than limits.memory (1Gi)"]],
  [{ cpu: "2", "requests.cpu": "500m", "limits.cpu": "1" }, []],
  [
    { "requests.ephemeral-storage": "2", "limits.ephemeral-storage": "1" },
    ["ResourceQuota requests.ephemeral-storage (2) should be less than limits.ephemeral-storage (1)"],
  ],
];

for (const [hard, warnings] of WARNINGS) {
  test(`a ResourceQuota of ${JSON.stringify(hard)} is stored ${warnings.length === 0 ? "without" : "with"} a warning`, () => {
    assert.deepEqual(warningsOfNew(resourceQuotas, { spec: { hard } }), warnings);
  });
}

test("an update of a ResourceQuota produces no warning", () => {
  const quota = newObject(resourceQuotas, { spec: { hard: { cpu: "2", "limits.cpu": "1" } } });

  assert.deepEqual([...(resourceQuotas.warnings?.(quota, quota) ?? [])], []);
});

test("the table of ResourceQuotas shows used and hard amounts, requests and limits separately", () => {
  const quota = newObject(resourceQuotas, {});
  const status = { hard: { pods: "10", cpu: "2", "limits.cpu": "4", "limits.memory": "1Gi" }, used: { cpu: "500m", "limits.cpu": "1" } };

  assert.deepEqual(cellsOf(resourceQuotas, { ...quota, status }), {
    Name: "x",
    Request: "cpu: 500m/2, pods: 0/10",
    Limit: "limits.cpu: 1/4, limits.memory: 0/1Gi",
    Age: "<unknown>",
  });
  assert.equal(cellsOf(resourceQuotas, quota)["Request"], "");
});
