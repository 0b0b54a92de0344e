import assert from "node:assert/strict";
import test from "node:test";
import { validateObjectMeta } from "../../machinery/metadata-validation.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { validateDnsSubdomain } from "../../machinery/names.ts";
import type { JsonObject } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problems as textsOf,
  problems,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
} from "../../testing/kind.ts";
import { replicationControllers } from "./replication-controller.ts";

const CONTAINERS: JsonObject = { containers: [{ name: "c", image: "i" }] };
const TEMPLATE: JsonObject = { metadata: { labels: { a: "b" } }, spec: CONTAINERS };
const SPEC: JsonObject = { template: TEMPLATE };

test("a ReplicationController defaults to one replica, and to the selector and labels of its template, idempotently", () => {
  const controller = received(replicationControllers, { spec: SPEC });

  assert.deepEqual([controller.spec?.replicas, controller.spec?.selector, controller.metadata.labels], [1, { a: "b" }, { a: "b" }]);
  assert.equal(controller.spec?.template?.spec?.restartPolicy, "Always");
  assert.equal(replicationControllers.served[0]?.defaults?.(controller), controller);
});

test("an existing selector and labels are kept", () => {
  const controller = received(replicationControllers, { metadata: { labels: { x: "y" } }, spec: { ...SPEC, selector: { q: "r" } } });

  assert.deepEqual([controller.spec?.selector, controller.metadata.labels], [{ q: "r" }, { x: "y" }]);
});

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["a template", SPEC, []],
  ["nothing", {}, ["spec.selector: Required value", "spec.template: Required value"]],
  [
    "numbers below none",
    { ...SPEC, replicas: -1, minReadySeconds: -1 },
    [
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
    ],
  ],
  ["no labels to select by", { template: { spec: CONTAINERS } }, ["spec.selector: Required value"]],
  [
    "a selector that misses its template",
    { ...SPEC, selector: { a: "c" } },
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  ["Pods of nothing", { template: { ...TEMPLATE, spec: {} } }, ["spec.template.spec.containers: Required value"]],
  [
    "Pods that end",
    { template: { ...TEMPLATE, spec: { ...CONTAINERS, restartPolicy: "Never", activeDeadlineSeconds: 5 } } },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported",
    ],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a ReplicationController with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(replicationControllers, { spec }), problems);
  });
}

test("replicas and selector are required", () => {
  const controller = newObject(replicationControllers, { spec: SPEC });
  const { replicas: _, ...spec } = controller.spec ?? {};

  assert.deepEqual(textsOf(replicationControllers.validate?.({ ...controller, spec }) ?? []), ["spec.replicas: Required value"]);
});

const ANNOTATIONS: readonly [key: string, problems: readonly string[]][] = [
  ["non-convertible.kubernetes.io/selector", ['spec.selector: Invalid value: {"q":"r"}: cannot update non-convertible selector']],
  ["non-convertible.kubernetes.io/foo", ['foo: Not found: "v": unknown non-convertible field']],
  ["non-convertible.kubernetes.io", []],
  ["convertible.kubernetes.io/selector", []],
];

for (const [key, problems] of ANNOTATIONS) {
  test(`a new selector with the annotation ${key} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    const previous = newObject(replicationControllers, { metadata: { annotations: { [key]: "v" } }, spec: SPEC });
    const next = { spec: { template: { ...TEMPLATE, metadata: { labels: { q: "r" } } } } };

    assert.deepEqual(problemsOfChange(replicationControllers, previous, next), problems);
  });
}

test("the counts of a status must be consistent", () => {
  const previous = newObject(replicationControllers, { spec: SPEC });
  const names = ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"];
  const negative = Object.fromEntries(names.map((name) => [name, -1]));
  const many = { replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 3, availableReplicas: 4 };

  assert.deepEqual(problemsOfChange(replicationControllers, previous, { spec: SPEC, status: negative }, "status"), [
    "status.replicas: Invalid value: -1: must be greater than or equal to 0",
    "status.fullyLabeledReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.readyReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.availableReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0",
  ]);
  assert.deepEqual(problemsOfChange(replicationControllers, previous, { spec: SPEC, status: many }, "status"), [
    "status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas",
    "status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 4: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 4: cannot be greater than readyReplicas",
  ]);
});

test("a status write keeps the spec, and an update keeps the status", () => {
  const previous = newObject(replicationControllers, { spec: SPEC, status: { replicas: 9 } });
  const next = changedObject(replicationControllers, previous, { spec: { ...SPEC, replicas: 3 }, status: { replicas: 2 } });

  assert.deepEqual(previous.status, { replicas: 0 });
  assert.equal(changedObject(replicationControllers, previous, { spec: {}, status: { replicas: 2 } }, "status").spec, previous.spec);
  assert.equal(next.status, previous.status);
  assert.equal(replicationControllers.changesGeneration?.(next, previous), true);
});

test("warnings about a template are emitted when it is new, and on an update those of the previous one", () => {
  const odd = { template: { ...TEMPLATE, spec: { ...CONTAINERS, nodeSelector: { "beta.kubernetes.io/os": "x" } } } };
  const [plain, previous] = [newObject(replicationControllers, { spec: SPEC }), newObject(replicationControllers, { spec: odd })];

  assert.deepEqual(warningsOfNew(replicationControllers, { metadata: { name: "a.b" }, spec: odd }), [
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  assert.deepEqual(
    [...(replicationControllers.warnings?.(plain, previous) ?? [])],
    ['spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  );
  assert.deepEqual([...(replicationControllers.warnings?.(previous, plain) ?? [])], []);
  assert.deepEqual([...(replicationControllers.warnings?.(previous, previous) ?? [])], []);
});

test("a ReplicationController has a Scale, and is selected by its number of Pods", () => {
  const { scale } = replicationControllers.subresources;
  assert.equal(scale?.of, "scale");
  const controller = { ...newObject(replicationControllers, { spec: SPEC }), status: { replicas: 4 } };

  assert.deepEqual(scale.read(controller), { specReplicas: 1, statusReplicas: 4, selector: "a=b" });
  assert.equal(scale.write(controller, 5).spec?.replicas, 5);
  assert.equal(scale.write(controller, 1), controller);
  assert.equal(replicationControllers.selectableFields["status.replicas"]?.(controller), "4");
});

test("the maximum name length is reported in bytes", () => {
  const { kind, validateName } = replicationControllers;
  const name = `a${"_".repeat(253)}b`;

  assert.deepEqual(
    problems(
      errorsOf((errors) => validateObjectMeta(errors, { name }, { namespaced: false, validateName })),
      kind,
    ),
    [
      `metadata.name: Invalid value: "${name}": must be no more than 253 bytes`,
      `metadata.name: Invalid value: "${name}": ${validateDnsSubdomain("_").join("")}`,
    ],
  );
});

test("deleting a ReplicationController orphans its Pods by default", () => {
  assert.equal(replicationControllers.defaultPropagation, "Orphan");
});

test("the table of ReplicationControllers shows the Pod counts", () => {
  const controller = { ...newObject(replicationControllers, { spec: SPEC }), status: { replicas: 3, readyReplicas: 2 } };

  assert.deepEqual(columnNames(replicationControllers), [
    "Name",
    "Desired",
    "Current",
    "Ready",
    "Age",
    "Containers*",
    "Images*",
    "Selector*",
  ]);
  assert.deepEqual(Object.values(cellsOf(replicationControllers, controller)), ["x", 1, 3, 2, "<unknown>", "c", "i", "a=b"]);
});
