import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { replicaSets } from "./replica-set.ts";

const TEMPLATE: JsonObject = {
  metadata: { labels: { a: "b" } },
  spec: {
    containers: [
      { name: "c", image: "i" },
      { name: "d", image: "j" },
    ],
  },
};
const SPEC: JsonObject = { selector: { matchLabels: { a: "b" } }, template: TEMPLATE };

test("a ReplicaSet defaults to one replica, and gets its defaults idempotently", () => {
  const replicaSet = received(replicaSets, { spec: SPEC });

  assert.equal(replicaSet.spec?.replicas, 1);
  assert.equal(replicaSet.spec?.template?.spec?.restartPolicy, "Always");
  assert.equal(replicaSets.served[0]?.defaults?.(replicaSet), replicaSet);
  assert.deepEqual(newObject(replicaSets, { spec: SPEC, status: { replicas: 9 } }).status, { replicas: 0 });
});

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["its defaults", SPEC, []],
  [
    "numbers below none",
    { ...SPEC, replicas: -1, minReadySeconds: -1 },
    [
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
    ],
  ],
  ["an empty selector", { ...SPEC, selector: {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]],
  [
    "nothing",
    {},
    [
      "spec.selector: Required value",
      "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
      "spec.template.spec.containers: Required value",
    ],
  ],
  [
    "a selector that selects in no way",
    { ...SPEC, selector: { matchLabels: { a: "b" }, matchExpressions: [{ key: "a", operator: "Odd" }] } },
    [
      'spec.selector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator',
      'spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Odd"}]}: invalid label selector',
    ],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a ReplicaSet with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(replicaSets, { spec }), problems);
  });
}

test("the selector of a ReplicaSet is immutable", () => {
  const next = { selector: { matchLabels: { a: "c" } }, template: { ...TEMPLATE, metadata: { labels: { a: "c" } } } };

  assert.deepEqual(problemsOfChange(replicaSets, newObject(replicaSets, { spec: SPEC }), { spec: next }), [
    'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
  ]);
});

test("only a change of the spec increments the generation of a ReplicaSet", () => {
  const previous = newObject(replicaSets, { spec: SPEC });
  const annotated = changedObject(replicaSets, previous, { metadata: { annotations: { x: "y" } }, spec: SPEC, status: { replicas: 9 } });
  const scaled = changedObject(replicaSets, previous, { spec: { ...SPEC, replicas: 2 } });

  assert.deepEqual(
    [annotated, scaled].map((next) => replicaSets.changesGeneration?.(next, previous)),
    [false, true],
  );
  assert.equal(annotated.status, previous.status);
});

test("the counts of a ReplicaSet status must be consistent", () => {
  const status = {
    replicas: 1,
    fullyLabeledReplicas: 2,
    readyReplicas: 3,
    availableReplicas: 4,
    observedGeneration: -1,
    terminatingReplicas: -1,
  };

  assert.deepEqual(problemsOfChange(replicaSets, newObject(replicaSets, { spec: SPEC }), { spec: SPEC, status }, "status"), [
    "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0",
    "status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas",
    "status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 4: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 4: cannot be greater than readyReplicas",
  ]);
});

test("the counts of a ReplicaSet status must not be negative", () => {
  const numbers = ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
  const status = Object.fromEntries(numbers.map((name) => [name, -1]));

  assert.deepEqual(
    problemsOfChange(replicaSets, newObject(replicaSets, { spec: SPEC }), { spec: SPEC, status }, "status"),
    numbers.map((name) => `status.${name}: Invalid value: -1: must be greater than or equal to 0`),
  );
});

test("the table of ReplicaSets shows the Pod counts and the selector", () => {
  const selector = {
    matchLabels: { a: "b" },
    matchExpressions: [
      { key: "c", operator: "NotIn", values: ["y", "x"] },
      { key: "d", operator: "DoesNotExist" },
    ],
  };
  const replicaSet = { ...newObject(replicaSets, { spec: { ...SPEC, selector } }), status: { replicas: 3, readyReplicas: 2 } };

  assert.deepEqual(columnNames(replicaSets), ["Name", "Desired", "Current", "Ready", "Age", "Containers*", "Images*", "Selector*"]);
  assert.deepEqual(Object.values(cellsOf(replicaSets, replicaSet)), ["x", 1, 3, 2, "<unknown>", "c,d", "i,j", "a=b,c notin (x,y),!d"]);
});

test("a ReplicaSet name that is no host name, and a suspicious template, produce warnings when they are new", () => {
  const odd = {
    ...SPEC,
    template: { ...TEMPLATE, spec: { containers: [{ name: "c", image: "i" }], nodeSelector: { "beta.kubernetes.io/os": "x" } } },
  };
  const replicaSet = newObject(replicaSets, { metadata: { name: "a.b" }, spec: odd });

  const warnings = [...(replicaSets.warnings?.(replicaSet) ?? [])];
  assert.match(warnings[0] ?? "", /^metadata\.name: this is used in Pod names and hostnames.*: \[must not contain dots\]$/);
  assert.match(warnings[1] ?? "", /^spec\.template\.spec\.nodeSelector/);
  assert.deepEqual([...(replicaSets.warnings?.(replicaSet, replicaSet) ?? [])], []);
});

test("a ReplicaSet has a Scale", () => {
  const { scale } = replicaSets.subresources;
  assert.equal(scale?.of, "scale");

  assert.deepEqual(scale.read(newObject(replicaSets, { spec: { ...SPEC, replicas: 4 } })), {
    specReplicas: 4,
    statusReplicas: 0,
    selector: "a=b",
  });
});
