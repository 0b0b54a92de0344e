import assert from "node:assert/strict";
import test from "node:test";
import type { DaemonSet } from "../../generated/apps/v1.ts";
import type { JsonObject } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problems as textsOf,
  problemsOfChange,
  problemsOfNew,
  received,
  testWrite,
  warningsOfNew,
} from "../../testing/kind.ts";
import { daemonSets } from "./daemon-set.ts";

const CONTAINERS: JsonObject = { containers: [{ name: "c", image: "i" }] };
const TEMPLATE: JsonObject = { metadata: { labels: { a: "b" } }, spec: CONTAINERS };
const SPEC: JsonObject = { selector: { matchLabels: { a: "b" } }, template: TEMPLATE };
const GENERATION = "deprecated.daemonset.template.generation";

test("a DaemonSet gets its defaults, idempotently, down to those of its containers", () => {
  const daemonSet = received(daemonSets, { spec: SPEC });

  const { updateStrategy, revisionHistoryLimit, template } = daemonSet.spec ?? {};
  assert.deepEqual(updateStrategy, { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
  assert.equal(revisionHistoryLimit, 10);
  assert.equal(template?.spec?.containers?.[0]?.terminationMessagePolicy, "File");
  assert.equal(daemonSets.served[0]?.defaults?.(daemonSet), daemonSet);
});

test("rollingUpdate parameters of OnDelete default to zero where omitted", () => {
  const strategy = (updateStrategy: JsonObject) => received(daemonSets, { spec: { ...SPEC, updateStrategy } }).spec?.updateStrategy;

  assert.deepEqual(strategy({ type: "OnDelete" }), { type: "OnDelete" });
  assert.deepEqual(strategy({ type: "OnDelete", rollingUpdate: { maxSurge: 2 } }), {
    type: "OnDelete",
    rollingUpdate: { maxSurge: 2, maxUnavailable: 0 },
  });
});

type Row = readonly [title: string, change: JsonObject, problems: readonly string[]];

const ROWS: readonly Row[] = [
  ["its defaults", {}, []],
  ["room above instead of below", { updateStrategy: { rollingUpdate: { maxSurge: "10%", maxUnavailable: 0 } } }, []],
  ["the update strategy OnDelete", { updateStrategy: { type: "OnDelete" } }, []],
  [
    "numbers below none",
    { minReadySeconds: -1, revisionHistoryLimit: -1 },
    [
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
    ],
  ],
  [
    "no selector",
    { selector: null },
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  ["an empty selector", { selector: {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"]],
  [
    "a selector that misses its template",
    { selector: { matchLabels: { a: "c" } } },
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  [
    "a selector that makes no sense",
    { selector: { matchExpressions: [{ key: "a", operator: "Foo" }] } },
    ['spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator'],
  ],
  [
    "no template",
    { template: null },
    [
      "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
      "spec.template.spec.containers: Required value",
    ],
  ],
  [
    "Pods that end",
    { template: { ...TEMPLATE, spec: { ...CONTAINERS, restartPolicy: "Never", activeDeadlineSeconds: 5 } } },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
    ],
  ],
  [
    "an unknown strategy",
    { updateStrategy: { type: "Foo" } },
    ['spec.updateStrategy: Unsupported value: {"Type":"Foo","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"'],
  ],
  [
    "steps below none",
    { updateStrategy: { rollingUpdate: { maxUnavailable: -1, maxSurge: -2 } } },
    [
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or equal to 0",
      "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -2: must be greater than or equal to 0",
      "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -2: may not be set when maxUnavailable is non-zero",
    ],
  ],
  [
    "steps that are neither numbers nor shares",
    { updateStrategy: { rollingUpdate: { maxUnavailable: "x", maxSurge: "5" } } },
    [
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: \"5\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [
    "steps of more than all",
    { updateStrategy: { rollingUpdate: { maxUnavailable: "101%", maxSurge: "102%" } } },
    [
      'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "102%": must not be greater than 100%',
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "102%": may not be set when maxUnavailable is non-zero',
    ],
  ],
  [
    "room both below and above",
    { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } },
    ["spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"],
  ],
  [
    "no room to step",
    { updateStrategy: { rollingUpdate: { maxUnavailable: "0%", maxSurge: 0 } } },
    ["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
  ],
];

for (const [title, change, problems] of ROWS) {
  test(`a DaemonSet with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(daemonSets, { spec: { ...SPEC, ...change } }), problems);
  });
}

test("a RollingUpdate strategy without its parameters is rejected", () => {
  const daemonSet = newObject(daemonSets, { spec: SPEC });
  const bare = { ...daemonSet, spec: { ...daemonSet.spec, updateStrategy: { type: "RollingUpdate" } } } as DaemonSet;

  assert.deepEqual(textsOf(daemonSets.validate?.(bare) ?? []), ["spec.updateStrategy.rollingUpdate: Required value"]);
});

test("the selector of a DaemonSet is immutable", () => {
  const next = { selector: { matchLabels: { b: "c", a: "c" } }, template: { ...TEMPLATE, metadata: { labels: { a: "c", b: "c" } } } };

  assert.deepEqual(problemsOfChange(daemonSets, newObject(daemonSets, { spec: SPEC }), { spec: next }), [
    'spec.selector: Invalid value: {"matchLabels":{"a":"c","b":"c"}}: field is immutable',
  ]);
});

const GENERATIONS: readonly [sent: string | undefined, kept: string][] = [
  [undefined, "1"],
  ["0", "1"],
  ["-3", "1"],
  ["+007", "7"],
];

for (const [sent, kept] of GENERATIONS) {
  test(`a new DaemonSet with the template generation ${sent ?? "nothing"} gets ${kept}`, () => {
    const annotations: JsonObject = sent === undefined ? {} : { [GENERATION]: sent };

    assert.equal(newObject(daemonSets, { metadata: { annotations }, spec: SPEC }).metadata.annotations?.[GENERATION], kept);
  });
}

test("a malformed template generation is rejected", () => {
  assert.throws(() => received(daemonSets, { metadata: { annotations: { [GENERATION]: "x" } }, spec: SPEC }), {
    reason: "BadRequest",
    message: 'DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "x": invalid syntax',
  });
});

test("the template generation increases with the template, whatever a client sends", () => {
  const previous = newObject(daemonSets, { spec: SPEC });
  const annotations = { [GENERATION]: "9" };

  const other = changedObject(daemonSets, previous, { metadata: { annotations }, spec: { ...SPEC, minReadySeconds: 5 } });
  const changed = changedObject(daemonSets, previous, {
    spec: { ...SPEC, template: { ...TEMPLATE, spec: { ...CONTAINERS, hostPID: true } } },
  });
  const status = changedObject(daemonSets, previous, { metadata: { annotations }, spec: {}, status: { numberReady: 1 } }, "status");

  assert.deepEqual(
    [other, changed, status].map(({ metadata }) => metadata.annotations?.[GENERATION]),
    ["1", "2", "1"],
  );
  assert.deepEqual(
    [other, changed, status].map((next) => daemonSets.changesGeneration?.(next, previous)),
    [true, true, false],
  );
});

test("a status write of a DaemonSet keeps the spec, and an update keeps the status", () => {
  const previous = newObject(daemonSets, { spec: SPEC });

  assert.deepEqual(previous.status, { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 });
  assert.equal(changedObject(daemonSets, previous, { spec: SPEC, status: { numberReady: 1 } }).status, previous.status);
  const written = changedObject(daemonSets, previous, { spec: {}, status: { numberReady: 1 } }, "status");
  assert.equal(written.spec, previous.spec);
  assert.equal(written.status?.numberReady, 1);
});

test("the counts of a DaemonSet status must not be negative, and collisionCount must not decrease", () => {
  const previous = {
    ...newObject(daemonSets, { spec: SPEC }),
    status: { ...newObject(daemonSets, {}).status, collisionCount: 3 },
  } as never;
  const names = ["currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration"];
  const more = ["updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"];
  const status = Object.fromEntries([...names, ...more].map((name) => [name, -1]));

  assert.deepEqual(problemsOfChange(daemonSets, previous, { spec: SPEC, status }, "status"), [
    "status.currentNumberScheduled: Invalid value: -1: must be greater than or equal to 0",
    "status.numberMisscheduled: Invalid value: -1: must be greater than or equal to 0",
    "status.desiredNumberScheduled: Invalid value: -1: must be greater than or equal to 0",
    "status.numberReady: Invalid value: -1: must be greater than or equal to 0",
    "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0",
    "status.updatedNumberScheduled: Invalid value: -1: must be greater than or equal to 0",
    "status.numberAvailable: Invalid value: -1: must be greater than or equal to 0",
    "status.numberUnavailable: Invalid value: -1: must be greater than or equal to 0",
    "status.collisionCount: Invalid value: -1: must be greater than or equal to 0",
    "status.collisionCount: Invalid value: -1: cannot be decremented",
  ]);
  assert.deepEqual(problemsOfChange(daemonSets, previous, { spec: SPEC, status: {} }, "status"), [
    "status.collisionCount: Invalid value: 0: cannot be decremented",
  ]);
});

test("warnings about the template of a DaemonSet are emitted only when it changes", () => {
  const odd = { ...SPEC, template: { ...TEMPLATE, spec: { ...CONTAINERS, nodeSelector: { "beta.kubernetes.io/os": "x" } } } };
  const previous = newObject(daemonSets, { spec: odd });
  const next = daemonSets.prepareForUpdate?.({ ...previous, metadata: { ...previous.metadata, labels: { x: "y" } } }, previous, testWrite);

  assert.deepEqual(warningsOfNew(daemonSets, { metadata: { name: "a.b" }, spec: odd }), [
    'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  assert.deepEqual([...(daemonSets.warnings?.(next ?? previous, previous) ?? [])], []);
});

test("the table of DaemonSets shows the node counts", () => {
  const status = {
    desiredNumberScheduled: 5,
    currentNumberScheduled: 4,
    numberReady: 3,
    updatedNumberScheduled: 2,
    numberAvailable: 1,
    numberMisscheduled: 0,
  };
  const daemonSet = { ...newObject(daemonSets, { spec: SPEC }), status };

  assert.deepEqual(columnNames(daemonSets), [
    "Name",
    "Desired",
    "Current",
    "Ready",
    "Up-to-date",
    "Available",
    "Node Selector",
    "Age",
    "Containers*",
    "Images*",
    "Selector*",
  ]);
  assert.deepEqual(Object.values(cellsOf(daemonSets, daemonSet)), ["x", 5, 4, 3, 2, 1, "<none>", "<unknown>", "c", "i", "a=b"]);
});
