import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { HorizontalPodAutoscaler } from "../generated/autoscaling/v2.ts";
import { validateQualifiedName } from "../machinery/names.ts";
import type { Json, JsonObject } from "../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfChange, problemsOfNew, received } from "../testing/kind.ts";
import { toV1, toV2 } from "./horizontal-pod-autoscaler/convert.ts";
import { horizontalPodAutoscalers as autoscalers } from "./horizontal-pod-autoscaler.ts";
import { UNKNOWN_TIME } from "../machinery/time.ts";

const V1 = "autoscaling/v1";
const PREFIX = "autoscaling.alpha.kubernetes.io";
const TARGET = { kind: "Deployment", name: "d", apiVersion: "apps/v1" };
const SPEC: JsonObject = { scaleTargetRef: TARGET, maxReplicas: 3 };
const cpu = (percent: number): JsonObject => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
});
const UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const DOWN = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

test("a HorizontalPodAutoscaler defaults minReplicas and a CPU metric, idempotently", () => {
  const autoscaler = received(autoscalers, { spec: SPEC });

  assert.deepEqual(autoscaler.spec, { ...SPEC, minReplicas: 1, metrics: [cpu(80)] });
  assert.equal(autoscalers.served[0]?.defaults?.(autoscaler), autoscaler);
});

test("a behavior with one scaling direction gets the defaults of both", () => {
  const policies = [{ type: "Pods", value: 1, periodSeconds: 2 }];

  assert.deepEqual(received(autoscalers, { spec: { ...SPEC, behavior: { scaleDown: { policies, tolerance: "0.05" } } } }).spec.behavior, {
    scaleUp: UP,
    scaleDown: { selectPolicy: "Max", policies, tolerance: "50m" },
  });
  assert.deepEqual(received(autoscalers, { spec: { ...SPEC, behavior: {} } }).spec.behavior, { scaleUp: UP, scaleDown: DOWN });
});

const MUST_BE_POSITIVE = "must be greater than zero";

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["its defaults", SPEC, []],
  ["a target of the core group", { ...SPEC, scaleTargetRef: { kind: "ReplicationController", name: "x" } }, []],
  [
    "names that cannot be",
    { scaleTargetRef: { kind: "a/b", name: "..", apiVersion: "a/b/c" }, minReplicas: 0 },
    [
      "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
      "spec.maxReplicas: Required value: must be set and greater than 0",
      "spec.scaleTargetRef.kind: Invalid value: \"a/b\": may not contain '/'",
      "spec.scaleTargetRef.name: Invalid value: \"..\": may not be '..'",
      'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
    ],
  ],
  [
    "bounds the wrong way round",
    { scaleTargetRef: { apiVersion: "v1" }, minReplicas: 5, maxReplicas: -1 },
    [
      "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
      "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
      "spec.scaleTargetRef.kind: Required value",
      "spec.scaleTargetRef.name: Required value",
      'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
    ],
  ],
  [
    "rules that cannot be kept",
    {
      ...SPEC,
      behavior: {
        scaleUp: { stabilizationWindowSeconds: -1, selectPolicy: "x", tolerance: "-1" },
        scaleDown: {
          stabilizationWindowSeconds: 3601,
          policies: [
            { type: "x", value: 0, periodSeconds: 0 },
            { type: "Pods", value: 1, periodSeconds: 1801 },
          ],
        },
      },
    },
    [
      "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero",
      'spec.behavior.scaleUp.selectPolicy: Unsupported value: "x": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0',
      "spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
      'spec.behavior.scaleDown.policies[0].type: Unsupported value: "x": supported values: "Percent", "Pods"',
      `spec.behavior.scaleDown.policies[0].value: Invalid value: 0: ${MUST_BE_POSITIVE}`,
      `spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 0: ${MUST_BE_POSITIVE}`,
      "spec.behavior.scaleDown.policies[1].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
    ],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`an autoscaler with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(autoscalers, { spec }), problems);
  });
}

const TYPES = '"ContainerResource", "External", "Object", "Pods", "Resource"';
const NO_TARGET = [
  "target.type: Required value: must specify a metric target type",
  'target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
];

const METRICS: readonly [title: string, metric: Json, problems: readonly string[]][] = [
  [
    "a type that is a word of the language",
    { type: "constructor" },
    [
      `type: Unsupported value: "constructor": supported values: ${TYPES}`,
      `type: Unsupported value: "constructor": supported values: ${TYPES}`,
    ],
  ],
  [
    "no target outside",
    { type: "External", external: { metric: { name: "m" }, target: { type: "Value" } } },
    ["external.target.averageValue: Required value: must set either a target value for metric or a per-pod target"],
  ],
  [
    "no name and a target below none for Pods",
    { type: "Pods", pods: { target: { type: "AverageValue", averageValue: "-1" } } },
    ["pods.metric.name: Required value: must specify a metric name", 'pods.target.averageValue: Invalid value: "-1": must be positive'],
  ],
  [
    "nothing of a container",
    { type: "ContainerResource", containerResource: { target: { type: "Utilization" } } },
    [
      "containerResource.name: Required value: must specify a resource name",
      "containerResource.container: Required value: must specify a container",
      "containerResource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
    ],
  ],
  [
    "a name that no container can have",
    {
      type: "ContainerResource",
      containerResource: { name: "cpu", container: "a.b", target: { type: "Utilization", averageUtilization: 5 } },
    },
    ['containerResource.container: Invalid value: "a.b": must not contain dots'],
  ],
  [
    "nothing",
    {},
    [
      "type: Required value: must specify a metric source type",
      `type: Unsupported value: "": supported values: ${TYPES}`,
      `type: Unsupported value: "": supported values: ${TYPES}`,
    ],
  ],
  ["a type alone", { type: "Pods" }, ["pods: Required value: must populate information for the given metric source"]],
  [
    "the source of another type",
    { type: "Pods", resource: { name: "x", target: { type: "AverageValue", averageValue: "1" } } },
    ["pods: Required value: must populate information for the given metric source"],
  ],
  [
    "two sources",
    { type: "Object", object: {}, pods: {} },
    [
      "object.describedObject.kind: Required value",
      "object.describedObject.name: Required value",
      "object.metric.name: Required value: must specify a metric name",
      ...NO_TARGET.map((problem) => `object.${problem}`),
      "object.target.averageValue: Required value: must set either a target value or averageValue",
      "pods: Forbidden: must populate the given metric source only",
    ],
  ],
  [
    "targets that cannot be met",
    { type: "External", external: { metric: { name: "a/b" }, target: { type: "x", value: "0", averageValue: "-1" } } },
    [
      "external.metric.name: Invalid value: \"a/b\": may not contain '/'",
      'external.target.type: Invalid value: "x": must be either Utilization, Value, or AverageValue',
      'external.target.value: Invalid value: "0": must be positive',
      'external.target.averageValue: Invalid value: "-1": must be positive',
      "external.target.value: Forbidden: may not set both a target value for metric and a per-pod target",
    ],
  ],
  [
    "no average over Pods",
    { type: "Pods", pods: { metric: { name: "m" }, target: { type: "Value", value: "1" } } },
    ["pods.target.averageValue: Required value: must specify a positive target averageValue"],
  ],
  [
    "a resource that containers do not have",
    { type: "ContainerResource", containerResource: { name: "pods", container: "c", target: { type: "AverageValue", averageValue: "1" } } },
    ['containerResource.name: Invalid value: "pods": must be a standard resource for containers'],
  ],
  [
    "a share and an amount of a resource",
    { type: "Resource", resource: { name: "", target: { type: "Utilization", averageUtilization: 0, averageValue: "1" } } },
    [
      "resource.name: Required value: must specify a resource name",
      "resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
      "resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization",
    ],
  ],
  ...["ContainerResource", "External", "Object", "Resource"].map((type): [string, Json, readonly string[]] => [
    `the type ${type} and nothing of it`,
    { type },
    [`${type.charAt(0).toLowerCase()}${type.slice(1)}: Required value: must populate information for the given metric source`],
  ]),
  ...[
    { name: "-", problem: validateQualifiedName("-").join("") },
    { name: "requests.example.com/x", problem: "doesn't follow extended resource name standard" },
    { name: "disk", problem: "must be a standard resource type or fully qualified" },
  ].map(({ name, problem }): [string, Json, readonly string[]] => [
    `a resource of a container that is called ${name}`,
    { type: "ContainerResource", containerResource: { name, container: "c", target: { type: "Utilization", averageUtilization: 1 } } },
    [
      `containerResource.name: Invalid value: "${name}": ${problem}`,
      ...(name.includes("/") ? [] : [`containerResource.name: Invalid value: "${name}": must be a standard resource for containers`]),
    ],
  ]),
];

for (const [title, metric, problems] of METRICS) {
  test(`a metric with ${title} is rejected`, () => {
    assert.deepEqual(
      problemsOfNew(autoscalers, { spec: { ...SPEC, metrics: [metric] } }),
      problems.map((problem) => `spec.metrics[0].${problem}`),
    );
  });
}

test("stored values that are no longer allowed remain valid", () => {
  const old: HorizontalPodAutoscaler = {
    ...newObject(autoscalers, { spec: SPEC }),
    spec: {
      scaleTargetRef: { kind: "X", name: "x", apiVersion: "v1" },
      minReplicas: 0,
      maxReplicas: 3,
      metrics: [{ type: "External", external: { metric: { name: "m" }, target: { type: "Value", value: "1" } } }],
    },
  };

  assert.deepEqual(problemsOfChange(autoscalers, old, { spec: { ...(old.spec as JsonObject), maxReplicas: 4 } }), []);
});

test("an update keeps the status, and a status write keeps the spec", () => {
  const previous = newObject(autoscalers, { spec: SPEC, status: { desiredReplicas: 9 } });
  const sent = { spec: { ...SPEC, maxReplicas: 9 }, status: { currentReplicas: -1, desiredReplicas: -2 } };

  assert.deepEqual(previous.status, { desiredReplicas: 0, currentMetrics: null });
  assert.equal(changedObject(autoscalers, previous, sent).status, previous.status);
  assert.equal(changedObject(autoscalers, previous, sent, "status").spec, previous.spec);
  const empty = { ...sent, status: { desiredReplicas: 1, currentMetrics: [] } };
  assert.deepEqual(changedObject(autoscalers, previous, empty, "status").status, { desiredReplicas: 1, currentMetrics: null });
  assert.deepEqual(problemsOfChange(autoscalers, previous, sent, "status"), [
    "status.currentReplicas: Invalid value: -1: must be greater than or equal to 0",
    "status.desiredReplicas: Invalid value: -2: must be greater than or equal to 0",
  ]);
});

// ── autoscaling/v1 ──

const MEMORY: JsonObject = { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } };

test("an autoscaling/v1 object without a target defaults to the CPU metric too", () => {
  assert.deepEqual(received(autoscalers, { spec: SPEC }, V1).spec, { ...SPEC, minReplicas: 1, metrics: [cpu(80)] });
  assert.deepEqual(toV1(received(autoscalers, { spec: SPEC }, V1)), {
    apiVersion: V1,
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "x", namespace: "default" },
    spec: { ...SPEC, minReplicas: 1, targetCPUUtilizationPercentage: 80 },
    status: { currentReplicas: 0, desiredReplicas: 0 },
  });
});

test("autoscaling/v1 keeps fields that it lacks in annotations, in upstream's format", () => {
  const selector = { matchLabels: { b: "c", a: "b" } };
  const object = { describedObject: { kind: "S", name: "s" }, metric: { name: "m", selector }, target: { type: "Value", value: "2k" } };
  const stored = newObject(autoscalers, { spec: { ...SPEC, metrics: [{ type: "Object", object }, cpu(50), MEMORY], behavior: {} } });
  const status = {
    desiredReplicas: 1,
    currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 7, averageValue: "10m" } } }],
    conditions: [{ type: "A", status: "True", lastTransitionTime: "2024-01-01T00:00:00Z", message: "<&>" }],
  };

  const { metadata, spec, status: shown } = toV1({ ...stored, status });

  assert.deepEqual(metadata.annotations, {
    [`${PREFIX}/metrics`]:
      '[{"type":"Object","object":{"target":{"kind":"S","name":"s"},"metricName":"m","targetValue":"2k","selector":{"matchLabels":{"a":"b","b":"c"}}}},{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
    [`${PREFIX}/current-metrics`]:
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":7,"currentAverageValue":"10m"}}]',
    [`${PREFIX}/behavior`]:
      '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15},{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}}',
    [`${PREFIX}/conditions`]:
      '[{"type":"A","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z","message":"\\u003c\\u0026\\u003e"}]',
  });
  assert.equal(spec.targetCPUUtilizationPercentage, 50);
  assert.deepEqual(shown, { currentReplicas: 0, desiredReplicas: 1, currentCPUUtilizationPercentage: 7 });
});

const ANNOTATIONS: readonly [title: string, annotations: Record<string, string>, metrics: Json, behavior: Json | undefined][] = [
  [
    "a metric",
    { metrics: '[{"type":"Pods","pods":{"metricName":"x","targetAverageValue":"3"}}]' },
    [{ type: "Pods", pods: { metric: { name: "x" }, target: { type: "AverageValue", averageValue: "3" } } }, cpu(7)],
    undefined,
  ],
  [
    "names in other cases, numbers for texts, and unknown members",
    { metrics: '[{"TYPE":"External","External":{"metricName":"x","targetValue":5,"unknown":{}}}]' },
    [{ type: "External", external: { metric: { name: "x" }, target: { type: "Value", value: "5" } } }, cpu(7)],
    undefined,
  ],
  ["something else than JSON", { metrics: "bad", behavior: "{" }, [cpu(7)], undefined],
  ["a member of another type", { metrics: '[{"type":5}]', behavior: '{"ScaleUp":{"Policies":{}}}' }, [cpu(7)], undefined],
  ["nothing", { metrics: "null", behavior: "{}" }, [cpu(7)], undefined],
  [
    "rules for one direction",
    { behavior: '{"scaledown":{"selectpolicy":"Min","policies":[{"type":"Pods","value":1,"periodseconds":5}],"tolerance":0.1}}' },
    [cpu(7)],
    { scaleUp: UP, scaleDown: { selectPolicy: "Min", policies: [{ type: "Pods", value: 1, periodSeconds: 5 }], tolerance: "100m" } },
  ],
];

for (const [title, named, metrics, behavior] of ANNOTATIONS) {
  test(`autoscaling/v1 annotations with ${title} are parsed as upstream does, and not stored`, () => {
    const annotations = Object.fromEntries([
      ...Object.entries(named).map(([name, text]) => [`${PREFIX}/${name}`, text] as const),
      ["a", "b"],
    ]);

    const { metadata, spec } = received(
      autoscalers,
      { metadata: { annotations }, spec: { ...SPEC, targetCPUUtilizationPercentage: 7 } },
      V1,
    );

    assert.deepEqual(metadata.annotations, { a: "b" });
    assert.deepEqual([spec.metrics, spec.behavior], [metrics, behavior]);
  });
}

test("a behavior in an autoscaling/v1 annotation must name its policies", () => {
  const annotations = { [`${PREFIX}/behavior`]: '{"ScaleUp":{"StabilizationWindowSeconds":5}}' };

  assert.deepEqual(problemsOfNew(autoscalers, { metadata: { annotations }, spec: SPEC }, V1), [
    "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy",
  ]);
});

test("autoscaling/v1 annotations have no meaning in v2, and are dropped", () => {
  const annotations = { [`${PREFIX}/metrics`]: "[]", [`${PREFIX}/scale-up-tolerance`]: "x" };

  assert.equal("annotations" in received(autoscalers, { metadata: { annotations }, spec: SPEC }).metadata, false);
});

const amount = fc.constantFrom("1", "250m", "2k", "1Gi");
const percent = fc.integer({ min: 1, max: 200 });
const selector = fc.constantFrom(
  undefined,
  { matchLabels: { a: "b" } },
  { matchExpressions: [{ key: "k", operator: "In", values: ["v"] }] },
);
const metric = fc
  .tuple(fc.constantFrom("m", "n"), selector)
  .map(([name, chosen]) => (chosen === undefined ? { name } : { name, selector: chosen }));
const describedObject = fc.constantFrom({ kind: "S", name: "s" }, { kind: "S", name: "s", apiVersion: "v1" });
const value = amount.map((text) => ({ type: "Value", value: text }));
const average = amount.map((text) => ({ type: "AverageValue", averageValue: text }));
const share = percent.map((number) => ({ type: "Utilization", averageUtilization: number }));

const otherMetric = fc.oneof(
  fc
    .record({ describedObject, target: fc.oneof(value, average), metric }, { noNullPrototype: true })
    .map((object) => ({ type: "Object", object })),
  fc.record({ metric, target: average }, { noNullPrototype: true }).map((pods) => ({ type: "Pods", pods })),
  fc.record({ metric, target: fc.oneof(value, average) }, { noNullPrototype: true }).map((external) => ({ type: "External", external })),
  fc.oneof(share, average).map((target) => ({ type: "Resource", resource: { name: "memory", target } })),
  fc.oneof(share, average).map((target) => ({ type: "ContainerResource", containerResource: { name: "cpu", target, container: "c" } })),
);

const currentMetric = fc.oneof(
  fc
    .record({ metric, current: amount.map((text) => ({ value: text })), describedObject }, { noNullPrototype: true })
    .map((object) => ({ type: "Object", object })),
  fc
    .record({ metric, current: amount.map((text) => ({ averageValue: text })) }, { noNullPrototype: true })
    .map((pods) => ({ type: "Pods", pods })),
  fc
    .record(
      { metric, current: fc.tuple(amount, amount).map(([total, each]) => ({ value: total, averageValue: each })) },
      { noNullPrototype: true },
    )
    .map((external) => ({ type: "External", external })),
  fc.tuple(amount, percent).map(([averageValue, averageUtilization]) => ({
    type: "Resource",
    resource: { name: "cpu", current: { averageValue, averageUtilization } },
  })),
);

test("a round trip through autoscaling/v1 loses nothing", () => {
  const spec = fc.tuple(fc.array(otherMetric, { maxLength: 3 }), percent, fc.boolean()).map(([others, number, isLimited]) => ({
    ...SPEC,
    minReplicas: 2,
    // The CPU metric is restored as the last.
    metrics: [...others, cpu(number)],
    ...(isLimited ? { behavior: { scaleUp: { tolerance: "0.1" } } } : {}),
  }));
  const status = fc.record(
    {
      desiredReplicas: fc.nat(9),
      currentReplicas: fc.integer({ min: 1, max: 9 }),
      currentMetrics: fc.array(currentMetric, { minLength: 1, maxLength: 3 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(spec, status, (wanted, found) => {
      const stored: HorizontalPodAutoscaler = { ...newObject(autoscalers, { spec: wanted }), status: found };
      assert.deepEqual(toV2(toV1(stored)), stored);
    }),
  );
});

test("conditions survive a round trip through autoscaling/v1, also without a time", () => {
  const conditions = [
    { type: "A", status: "True", lastTransitionTime: "2024-01-01T00:00:00Z", reason: "r", message: "m<>&\u2028" },
    { type: "B", status: "False", lastTransitionTime: UNKNOWN_TIME },
  ];
  const stored = { ...newObject(autoscalers, { spec: SPEC }), status: { desiredReplicas: 0, conditions } };

  assert.deepEqual(toV2(toV1(stored)), stored);
});

// ── tables ──

const CELLS: readonly [title: string, metrics: readonly JsonObject[], current: readonly JsonObject[], shown: string][] = [
  ["nothing measured yet", [cpu(50), MEMORY], [], "cpu: <unknown>/50%, memory: <unknown>/1Gi"],
  [
    "a share",
    [cpu(50)],
    [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 40, averageValue: "1" } } }],
    "cpu: 40%/50%",
  ],
  [
    "values and averages",
    [
      { type: "External", external: { metric: { name: "m" }, target: { type: "Value", value: "2k" } } },
      {
        type: "Object",
        object: { describedObject: { kind: "S", name: "s" }, metric: { name: "m" }, target: { type: "AverageValue", averageValue: "2" } },
      },
    ],
    [{ type: "External", external: { metric: { name: "m" }, current: { value: "1" } } }],
    "1/2k, <unknown>/2 (avg)",
  ],
  ["more than fits", [cpu(50), cpu(60), cpu(70)], [], "cpu: <unknown>/50%, cpu: <unknown>/60% + 1 more..."],
];

for (const [title, metrics, currentMetrics, shown] of CELLS) {
  test(`the table of HorizontalPodAutoscalers shows ${title} as ${shown}`, () => {
    const stored = newObject(autoscalers, { spec: { ...SPEC, metrics } });
    const autoscaler = {
      ...stored,
      status: { desiredReplicas: 0, currentReplicas: 2, currentMetrics },
    } as HorizontalPodAutoscaler;

    assert.deepEqual(Object.values(cellsOf(autoscalers, autoscaler)), ["x", "Deployment/d", shown, "1", 3, 2, "<unknown>"]);
  });
}

test("HorizontalPodAutoscalers have the columns that kubectl expects", () => {
  assert.deepEqual(columnNames(autoscalers), ["Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"]);
});
