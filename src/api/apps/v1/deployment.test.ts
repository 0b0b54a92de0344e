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
  problems,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
} from "../../testing/kind.ts";
import { deployments } from "./deployment.ts";

const TEMPLATE: JsonObject = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const SPEC: JsonObject = { selector: { matchLabels: { a: "b" } }, template: TEMPLATE };

test("a Deployment gets its defaults, idempotently, down to those of its containers", () => {
  const deployment = received(deployments, { spec: SPEC });

  const { replicas, strategy, revisionHistoryLimit, progressDeadlineSeconds, template } = deployment.spec ?? {};
  assert.deepEqual([replicas, revisionHistoryLimit, progressDeadlineSeconds], [1, 10, 600]);
  assert.deepEqual(strategy, { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } });
  assert.equal(template?.spec?.containers?.[0]?.terminationMessagePolicy, "File");
  assert.equal(deployments.served[0]?.defaults?.(deployment), deployment);
});

test("a Recreate strategy gets no rollingUpdate parameters", () => {
  assert.deepEqual(received(deployments, { spec: { ...SPEC, strategy: { type: "Recreate" } } }).spec?.strategy, { type: "Recreate" });
});

const NOT_NEGATIVE = "must be greater than or equal to 0";
const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
const ROLLING = "spec.strategy.rollingUpdate";

const ROWS: readonly [title: string, change: JsonObject, problems: readonly string[]][] = [
  [
    "steps below none",
    { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: -1 } } },
    [`${ROLLING}.maxUnavailable: Invalid value: -1: ${NOT_NEGATIVE}`],
  ],
  ["its defaults", {}, []],
  ["no Pods", { replicas: 0 }, []],
  [
    "fewer than none",
    { replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: -2 },
    [
      `spec.replicas: Invalid value: -1: ${NOT_NEGATIVE}`,
      `spec.minReadySeconds: Invalid value: -1: ${NOT_NEGATIVE}`,
      `spec.revisionHistoryLimit: Invalid value: -1: ${NOT_NEGATIVE}`,
      `spec.progressDeadlineSeconds: Invalid value: -2: ${NOT_NEGATIVE}`,
      "spec.progressDeadlineSeconds: Invalid value: -2: must be greater than minReadySeconds",
    ],
  ],
  ["an empty selector", { selector: {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]],
  [
    "a selector that misses its template",
    { selector: { matchLabels: { a: "c" } } },
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  [
    "a selector that makes no sense",
    { selector: { matchExpressions: [{ key: "a", operator: "Foo" }] } },
    [
      'spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Foo"}]}: invalid label selector',
    ],
  ],
  [
    "Pods that end",
    { template: { ...TEMPLATE, spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never", activeDeadlineSeconds: 5 } } },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
    ],
  ],
  [
    "an unknown strategy",
    { strategy: { type: "Foo", rollingUpdate: { maxSurge: 1 } } },
    [
      'spec.strategy: Unsupported value: {"Type":"Foo","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":1}}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    "steps that its strategy does not take",
    { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
    [`${ROLLING}: Forbidden: may not be specified when strategy \`type\` is 'Recreate'`],
  ],
  [
    "no room to step",
    { strategy: { rollingUpdate: { maxSurge: "0%", maxUnavailable: 0 } } },
    [`${ROLLING}.maxUnavailable: Invalid value: 0: may not be 0 when \`maxSurge\` is 0`],
  ],
  [
    "steps that are neither numbers nor shares",
    { strategy: { rollingUpdate: { maxSurge: "5", maxUnavailable: "101%" } } },
    [
      `${ROLLING}.maxSurge: Invalid value: "5": ${PERCENT}`,
      `${ROLLING}.maxUnavailable: Invalid value: "101%": must not be greater than 100%`,
    ],
  ],
  [
    "a deadline that no Pod can meet",
    { minReadySeconds: 600 },
    ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"],
  ],
  [
    "steps that are no steps",
    { strategy: { rollingUpdate: { maxSurge: -1, maxUnavailable: "x" } } },
    [`${ROLLING}.maxUnavailable: Invalid value: "x": ${PERCENT}`, `${ROLLING}.maxSurge: Invalid value: -1: ${NOT_NEGATIVE}`],
  ],
];

for (const [title, change, problems] of ROWS) {
  test(`a Deployment with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(deployments, { spec: { ...SPEC, ...change } }), problems);
  });
}

test("a Deployment without a selector is rejected", () => {
  assert.deepEqual(problemsOfNew(deployments, { spec: { template: TEMPLATE } }), [
    "spec.selector: Required value",
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
  ]);
});

test("the name of a Deployment is a DNS subdomain", () => {
  const { validateName = validateDnsSubdomain } = deployments;

  assert.deepEqual(
    problems(
      errorsOf((errors) => validateObjectMeta(errors, { name: "a_b" }, { namespaced: false, validateName })),
      "Deployment",
    ),
    [`metadata.name: Invalid value: "a_b": ${validateDnsSubdomain("a_b").join("")}`],
  );
});

test("the selector of a Deployment is immutable", () => {
  const next = { selector: { matchLabels: { a: "c" } }, template: { ...TEMPLATE, metadata: { labels: { a: "c" } } } };

  assert.deepEqual(problemsOfChange(deployments, newObject(deployments, { spec: SPEC }), { spec: next }), [
    'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
  ]);
});

const GENERATIONS: readonly [title: string, sent: JsonObject, grows: boolean][] = [
  ["its labels", { metadata: { labels: { x: "y" } }, spec: SPEC }, false],
  ["its annotations", { metadata: { annotations: { x: "y" } }, spec: SPEC }, true],
  ["its number", { spec: { ...SPEC, replicas: 3 } }, true],
  ["its status", { spec: SPEC, status: { replicas: 3 } }, false],
];

for (const [title, sent, grows] of GENERATIONS) {
  test(`a change of ${title} ${grows ? "increments" : "does not increment"} the generation of a Deployment`, () => {
    const previous = newObject(deployments, { spec: SPEC });
    const next = changedObject(deployments, previous, sent as { metadata?: JsonObject });

    assert.equal(deployments.changesGeneration?.(next, previous), grows);
    assert.equal(next.status, previous.status);
  });
}

test("a status write of a Deployment keeps the spec and the labels", () => {
  const previous = newObject(deployments, { metadata: { labels: { a: "b" } }, spec: SPEC });

  const next = changedObject(
    deployments,
    previous,
    { metadata: { labels: { x: "y" } }, spec: { ...SPEC, replicas: 9 }, status: { replicas: 2 } },
    "status",
  );

  assert.equal(next.spec, previous.spec);
  assert.deepEqual([next.metadata.labels, next.status], [{ a: "b" }, { replicas: 2 }]);
});

test("the counts of a Deployment status must be consistent, and collisionCount must not decrease", () => {
  const previous = { ...newObject(deployments, { spec: SPEC }), status: { collisionCount: 3 } };
  const status = { replicas: 1, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 4, observedGeneration: -1, collisionCount: 2 };

  assert.deepEqual(problemsOfChange(deployments, previous, { spec: SPEC, status }, "status"), [
    `status.observedGeneration: Invalid value: -1: ${NOT_NEGATIVE}`,
    "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas",
    "status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 4: cannot be greater than status.replicas",
    "status.availableReplicas: Invalid value: 4: cannot be greater than readyReplicas",
    "status.collisionCount: Invalid value: 2: cannot be decremented",
  ]);
  assert.deepEqual(problemsOfChange(deployments, previous, { spec: SPEC, status: {} }, "status"), [
    "status.collisionCount: Invalid value: 0: cannot be decremented",
  ]);
});

test("the counts of a Deployment status must not be negative", () => {
  const numbers = [
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
  ];
  const status = Object.fromEntries(numbers.map((name) => [name, -1]));

  assert.deepEqual(
    problemsOfChange(deployments, newObject(deployments, { spec: SPEC }), { spec: SPEC, status }, "status"),
    numbers.map((name) => `status.${name}: Invalid value: -1: ${NOT_NEGATIVE}`),
  );
});

const ROLLBACK = "deprecated.deployment.rollback.to";

const ROLLBACKS: readonly [text: string, kept: string | undefined][] = [
  ["12", "12"],
  ["+007", "7"],
  ["", undefined],
];

for (const [text, kept] of ROLLBACKS) {
  test(`a rollback revision "${text}" is stored as ${kept === undefined ? "none" : `"${kept}"`}`, () => {
    const { metadata } = received(deployments, { metadata: { annotations: { [ROLLBACK]: text, k: "v" } }, spec: SPEC });

    assert.deepEqual(metadata.annotations, kept === undefined ? { k: "v" } : { k: "v", [ROLLBACK]: kept });
  });
}

test("a malformed or negative rollback revision is rejected", () => {
  const sent = (text: string) => ({ metadata: { annotations: { [ROLLBACK]: text } }, spec: SPEC });

  assert.throws(() => received(deployments, sent("x")), {
    reason: "BadRequest",
    message:
      /failed to parse annotation\[deprecated\.deployment\.rollback\.to\]=x as int64: strconv\.ParseInt: parsing "x": invalid syntax$/,
  });
  assert.throws(() => received(deployments, sent("99999999999999999999")), { message: /value out of range$/ });
  assert.deepEqual(problemsOfNew(deployments, sent("-007")), [`spec.rollback.version: Invalid value: -7: ${NOT_NEGATIVE}`]);
});

test("a Deployment name that is no host name produces a warning", () => {
  assert.deepEqual(warningsOfNew(deployments, { metadata: { name: "a.b" }, spec: SPEC }), [
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
  ]);
});

test("warnings about the template of a Deployment are emitted only when it changes", () => {
  const odd = {
    ...SPEC,
    template: { ...TEMPLATE, spec: { containers: [{ name: "c", image: "i" }], nodeSelector: { "beta.kubernetes.io/os": "x" } } },
  };
  const previous = newObject(deployments, { spec: odd });

  assert.match(warningsOfNew(deployments, { spec: odd })[0] ?? "", /^spec\.template\.spec\.nodeSelector\[beta\.kubernetes\.io\/os\]/);
  assert.deepEqual([...(deployments.warnings?.(previous, previous) ?? [])], []);
});

test("a Deployment has a Scale", () => {
  const { scale } = deployments.subresources;
  assert.equal(scale?.of, "scale");
  const deployment = newObject(deployments, { spec: SPEC });

  assert.deepEqual(scale.read(deployment), { specReplicas: 1, statusReplicas: 0, selector: "a=b" });
  assert.equal(scale.write(deployment, 5).spec?.replicas, 5);
  assert.equal(scale.write(deployment, 1), deployment);
});

test("the table of Deployments shows the rollout progress", () => {
  const deployment = { ...newObject(deployments, { spec: SPEC }), status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 } };

  assert.deepEqual(columnNames(deployments), ["Name", "Ready", "Up-to-date", "Available", "Age", "Containers*", "Images*", "Selector*"]);
  assert.deepEqual(Object.values(cellsOf(deployments, deployment)), ["x", "2/1", 3, 1, "<unknown>", "c", "i", "a=b"]);
});
