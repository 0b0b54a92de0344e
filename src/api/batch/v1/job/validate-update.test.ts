import assert from "node:assert/strict";
import test from "node:test";
import type { Job } from "../../../generated/batch/v1.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import { newObject, problemsOfChange } from "../../../testing/kind.ts";
import { jobs } from "../job.ts";

const METADATA: JsonObject = { name: "x", uid: "u" };
const CONTAINER: JsonObject = { name: "c", image: "i" };
const POD: JsonObject = { restartPolicy: "Never", containers: [CONTAINER] };

/** As a client sends it back: with the generated fields. */
function jobWith(spec: JsonObject, status: Job["status"] = {}): Job {
  return { ...newObject(jobs, { metadata: METADATA, spec: { template: { spec: POD }, ...spec } }), status };
}

function problemsOf(previous: Job, change: JsonObject): readonly string[] {
  const spec = { ...(previous.spec as JsonObject), ...change };
  return problemsOfChange(jobs, previous, { metadata: METADATA, spec });
}

const INDEXED: JsonObject = { completionMode: "Indexed", completions: 3, parallelism: 3 };

const ROWS: readonly [title: string, before: JsonObject, change: JsonObject, problems: readonly string[]][] = [
  [
    "what may change",
    {},
    {
      parallelism: 3,
      suspend: true,
      backoffLimit: 1,
      activeDeadlineSeconds: 5,
      ttlSecondsAfterFinished: 5,
      podReplacementPolicy: "Failed",
    },
    [],
  ],
  ["how many must succeed", {}, { completions: 2 }, ["spec.completions: Invalid value: 2: field is immutable"]],
  ["that so many must succeed", {}, { completions: null }, ["spec.completions: Invalid value: null: field is immutable"]],
  [
    "the number of indexes alone",
    INDEXED,
    { completions: 4 },
    ["spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism"],
  ],
  ["the number of indexes, all at a time", INDEXED, { completions: 4, parallelism: 4 }, []],
  [
    "the selector",
    { manualSelector: true, selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b", c: "d" } }, spec: POD } },
    { selector: { matchLabels: { c: "d" } } },
    ['spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable'],
  ],
  ["whether Pods have indexes", {}, { completionMode: "Indexed" }, ['spec.completionMode: Invalid value: "Indexed": field is immutable']],
  [
    "how failures are taken",
    {},
    { podFailurePolicy: { rules: [{ action: "Count", onExitCodes: { operator: "In", values: [1] } }] }, podReplacementPolicy: "Failed" },
    [
      'spec.podFailurePolicy: Invalid value: {"Rules":[{"Action":"Count","OnExitCodes":{"ContainerName":null,"Operator":"In","Values":[1]},"OnPodConditions":null}]}: field is immutable',
    ],
  ],
  [
    "that conditions are taken",
    { podFailurePolicy: { rules: [{ action: "Count", onPodConditions: [{ type: "A" }] }] } },
    { podFailurePolicy: null },
    ["spec.podFailurePolicy: Invalid value: null: field is immutable"],
  ],
  [
    "the limit of each index, and who runs it",
    INDEXED,
    { backoffLimitPerIndex: 1, managedBy: "a.b/c" },
    ["spec.backoffLimitPerIndex: Invalid value: 1: field is immutable", 'spec.managedBy: Invalid value: "a.b/c": field is immutable'],
  ],
  [
    "what success is",
    INDEXED,
    { successPolicy: { rules: [{ succeededIndexes: "0" }] } },
    ['spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":"0","SucceededCount":null}]}: field is immutable'],
  ],
  [
    "to what is wrong, which is said twice",
    {},
    { backoffLimit: -1 },
    [
      "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
      "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
    ],
  ],
];

for (const [title, before, change, problems] of ROWS) {
  test(`a change of a Job's ${title} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    assert.deepEqual(problemsOf(jobWith(before), change), problems);
  });
}

const AT_REST: Job["status"] = { conditions: [{ type: "Suspended", status: "True" }] };
const NODES: JsonObject = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }] },
  },
};
const PODS: JsonObject = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "k", labelSelector: {} }] } };

/** The template with another Pod, and its errors as fields only: the values are whole templates. */
function fieldsOf(previous: Job, pod: JsonObject, metadata: JsonObject = {}): readonly string[] {
  const template = previous.spec?.template as JsonObject & { readonly metadata: JsonObject };
  const next = { ...template, metadata: { ...template.metadata, ...metadata }, spec: pod };
  return problemsOf(previous, { template: next }).map((text) => text.replace(/Invalid value: \{.*\}: /, ""));
}

const TEMPLATES: readonly [title: string, before: JsonObject, pod: JsonObject, problems: readonly string[]][] = [
  ["the nodes of its Pods", {}, { nodeSelector: { a: "b" }, tolerations: [{ operator: "Exists" }], schedulingGates: [{ name: "g" }] }, []],
  ["nodes that are liked", {}, { affinity: NODES }, []],
  ["nodes that were liked, to none", { affinity: NODES }, {}, []],
  ["nodes that are liked, beside Pods that are not", { affinity: PODS }, { affinity: { ...PODS, ...NODES } }, []],
  ["Pods that are not liked", {}, { affinity: PODS }, ["spec.template.spec: field is immutable"]],
  ["Pods that were not liked, to none", { affinity: { ...PODS, ...NODES } }, {}, ["spec.template.spec: field is immutable"]],
  ["amounts", {}, { containers: [{ ...CONTAINER, resources: { requests: { cpu: "1" } } }] }, []],
  ["the image", {}, { containers: [{ ...CONTAINER, image: "j" }] }, ["spec.template.spec: field is immutable"]],
  ["the name of a container", {}, { containers: [{ ...CONTAINER, name: "d" }] }, ["spec.template.spec: field is immutable"]],
  ["the number of containers", {}, { containers: [CONTAINER, { ...CONTAINER, name: "d" }] }, ["spec.template.spec: field is immutable"]],
];

for (const [title, before, pod, problems] of TEMPLATES) {
  test(`while a Job is suspended, a change of ${title} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    const previous = jobWith({ suspend: true, template: { spec: { ...POD, ...before } } }, AT_REST);

    assert.deepEqual(fieldsOf(previous, { ...POD, ...pod }), problems);
  });
}

test("while a Job is suspended, labels and annotations of its Pods may change, except generated ones", () => {
  const previous = jobWith({ suspend: true }, AT_REST);
  const labels = previous.spec?.template.metadata?.labels;

  assert.deepEqual(fieldsOf(previous, POD, { annotations: { a: "b" }, labels: { ...labels, a: "b" } }), []);
  assert.deepEqual(problemsOf(previous, { template: { metadata: {}, spec: POD } }), [
    "spec.template.metadata.labels[controller-uid]: Required value: must be 'u'",
    "spec.template.metadata.labels[job-name]: Required value: must be 'x'",
    "spec.template.metadata.labels[batch.kubernetes.io/controller-uid]: Required value: must be 'u'",
    "spec.template.metadata.labels[batch.kubernetes.io/job-name]: Required value: must be 'x'",
    "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
    "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
  ]);
});

const NOT_AT_REST: readonly [title: string, suspend: boolean, status: Job["status"]][] = [
  ["runs", false, AT_REST],
  ["is not yet known to be suspended", true, {}],
  ["still has Pods", true, { ...AT_REST, active: 1 }],
];

for (const [title, suspend, status] of NOT_AT_REST) {
  test(`the template of a Job that ${title} is immutable`, () => {
    assert.deepEqual(fieldsOf(jobWith({ suspend }, status), { ...POD, nodeSelector: { a: "b" } }), ["spec.template: field is immutable"]);
  });
}

test("an equal quantity in another spelling is no change", () => {
  const pod = (cpu: string): JsonObject => ({ ...POD, containers: [{ ...CONTAINER, resources: { limits: { cpu } } }] });

  assert.deepEqual(fieldsOf(jobWith({ template: { spec: pod("1000m") } }), pod("1")), []);
});

test("a Job older than the prefixed labels may remain without them", () => {
  const job = jobWith({});
  const labels = { "job-name": "x", "controller-uid": "u" };
  const selector = { matchLabels: { "controller-uid": "u" } };
  const previous = { ...job, spec: { ...job.spec, selector, template: { ...job.spec?.template, metadata: { labels } } } } as Job;

  assert.deepEqual(problemsOf(previous, { parallelism: 2 }), []);
});
