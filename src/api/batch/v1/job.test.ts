import assert from "node:assert/strict";
import test from "node:test";
import type { Job, JobStatus } from "../../generated/batch/v1.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfNew, received, warningsOfNew } from "../../testing/kind.ts";
import { jobs } from "./job.ts";

const POD: JsonObject = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };
const SPEC: JsonObject = { template: { spec: POD } };
const METADATA: JsonObject = { name: "x", uid: "u" };

const DEFAULTS: readonly [title: string, sent: JsonObject, kept: JsonObject][] = [
  ["nothing", {}, { completions: 1, parallelism: 1, backoffLimit: 6, podReplacementPolicy: "TerminatingOrFailed" }],
  ["how many run at a time", { parallelism: 3 }, { parallelism: 3, backoffLimit: 6, podReplacementPolicy: "TerminatingOrFailed" }],
  [
    "how many must succeed",
    { completions: 3 },
    { completions: 3, parallelism: 1, backoffLimit: 6, podReplacementPolicy: "TerminatingOrFailed" },
  ],
  [
    "how often each index may fail",
    { backoffLimitPerIndex: 1 },
    { completions: 1, parallelism: 1, backoffLimitPerIndex: 1, backoffLimit: 2_147_483_647, podReplacementPolicy: "TerminatingOrFailed" },
  ],
  [
    "what failures mean",
    { podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "A" }] }] } },
    {
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "A", status: "True" }] }] },
      podReplacementPolicy: "Failed",
    },
  ],
  [
    "nothing of what failures mean",
    { podFailurePolicy: {} },
    { completions: 1, parallelism: 1, backoffLimit: 6, podFailurePolicy: { rules: null }, podReplacementPolicy: "Failed" },
  ],
];

for (const [title, sent, kept] of DEFAULTS) {
  test(`a Job with ${title} gets its defaults, idempotently`, () => {
    const job = received(jobs, { spec: { ...SPEC, ...sent } });

    const { template, ...rest } = job.spec ?? {};
    assert.deepEqual(rest, { ...kept, completionMode: "NonIndexed", suspend: false, manualSelector: false });
    assert.equal(template?.spec?.dnsPolicy, "ClusterFirst");
    assert.equal(jobs.served[0]?.defaults?.(job), job);
  });
}

const GENERATED = {
  "job-name": "x",
  "batch.kubernetes.io/job-name": "x",
  "controller-uid": "u",
  "batch.kubernetes.io/controller-uid": "u",
};

test("a Job selects its Pods by its uid, and has their labels", () => {
  const { metadata, spec } = newObject(jobs, { metadata: METADATA, spec: SPEC });

  assert.deepEqual(spec?.selector, { matchLabels: { "batch.kubernetes.io/controller-uid": "u" } });
  assert.deepEqual(spec?.template.metadata?.labels, GENERATED);
  assert.deepEqual(metadata.labels, GENERATED);
});

test("Pod labels are copied to a Job without labels; existing labels are kept", () => {
  const template = { metadata: { labels: { a: "b" } }, spec: POD };
  const [bare, labelled] = [{}, { labels: { a: "b" } }].map((more) =>
    newObject(jobs, { metadata: { ...METADATA, ...more }, spec: { ...SPEC, template } }),
  );

  assert.deepEqual(bare?.metadata.labels, { ...GENERATED, a: "b" });
  assert.deepEqual(labelled?.metadata.labels, { a: "b" });
  assert.deepEqual(labelled?.spec?.template.metadata?.labels, { ...GENERATED, a: "b" });
});

test("a Job with manualSelector is left unchanged", () => {
  const template = { metadata: { labels: { a: "b" } }, spec: POD };
  const { spec } = newObject(jobs, { metadata: METADATA, spec: { manualSelector: true, selector: { matchLabels: { a: "b" } }, template } });

  assert.deepEqual([spec?.selector, spec?.template.metadata?.labels], [{ matchLabels: { a: "b" } }, { a: "b" }]);
});

const SELECTORS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["none", {}, []],
  [
    "its own, by hand",
    { manualSelector: true, selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: POD } },
    [],
  ],
  [
    "none, by hand",
    { manualSelector: true },
    ["spec.selector: Required value", "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"],
  ],
  [
    "one that misses its template, by hand",
    { manualSelector: true, selector: { matchLabels: { a: "b" } } },
    ["spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"],
  ],
  [
    "one that makes no sense, by hand",
    { manualSelector: true, selector: { matchExpressions: [{ key: "a", operator: "Foo" }] } },
    ['spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator'],
  ],
  [
    "its own, though it is generated",
    { selector: { matchLabels: { a: "b" } } },
    [
      'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"u"}}: `selector` not auto-generated',
      'spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"x","controller-uid":"u","job-name":"x"}: `selector` does not match template `labels`',
    ],
  ],
  [
    "another Job's uid",
    { selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "v" } } },
    [
      'spec.selector: Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"v"}}: `selector` not auto-generated',
      'spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"x","controller-uid":"u","job-name":"x"}: `selector` does not match template `labels`',
    ],
  ],
  [
    "labels of another Job's Pods",
    {
      template: {
        metadata: {
          labels: {
            "job-name": "y",
            "batch.kubernetes.io/job-name": "y",
            "controller-uid": "v",
            "batch.kubernetes.io/controller-uid": "v",
          },
        },
        spec: POD,
      },
    },
    [
      'spec.template.metadata.labels[controller-uid]: Invalid value: {"batch.kubernetes.io/controller-uid":"v","batch.kubernetes.io/job-name":"y","controller-uid":"v","job-name":"y"}: must be \'u\'',
      'spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"v","batch.kubernetes.io/job-name":"y","controller-uid":"v","job-name":"y"}: must be \'x\'',
      'spec.template.metadata.labels[batch.kubernetes.io/controller-uid]: Invalid value: {"batch.kubernetes.io/controller-uid":"v","batch.kubernetes.io/job-name":"y","controller-uid":"v","job-name":"y"}: must be \'u\'',
      'spec.template.metadata.labels[batch.kubernetes.io/job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"v","batch.kubernetes.io/job-name":"y","controller-uid":"v","job-name":"y"}: must be \'x\'',
      'spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"v","batch.kubernetes.io/job-name":"y","controller-uid":"v","job-name":"y"}: `selector` does not match template `labels`',
    ],
  ],
];

for (const [title, spec, problems] of SELECTORS) {
  test(`a Job with a selector that is ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(jobs, { metadata: METADATA, spec: { ...SPEC, ...spec } }), problems);
  });
}

test("a Job without a uid is rejected, since others would select its Pods", () => {
  assert.deepEqual(problemsOfNew(jobs, { spec: SPEC }), ["metadata.uid: Required value"]);
});

test("a Job name that is no label value is reported for the labels of its Pods only", () => {
  const name = "a".repeat(64);

  assert.deepEqual(problemsOfNew(jobs, { metadata: { name, uid: "u" }, spec: SPEC }), [
    `spec.template.labels: Invalid value: "${name}": must be no more than 63 bytes`,
    `spec.template.labels: Invalid value: "${name}": must be no more than 63 bytes`,
  ]);
  assert.equal(newObject(jobs, { metadata: { name, uid: "u" }, spec: SPEC }).metadata.labels, undefined);
});

test("the name of an indexed Job must leave room for its last index", () => {
  const name = "a".repeat(61);
  const problems = (completions: number) =>
    problemsOfNew(jobs, { metadata: { name, uid: "u" }, spec: { ...SPEC, completionMode: "Indexed", completions } });

  assert.deepEqual(problems(10), []);
  assert.deepEqual(problems(11), [
    `metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-10`,
  ]);
});

test("a status write of a Job keeps the spec, and an update keeps the status", () => {
  const previous = newObject(jobs, { metadata: METADATA, spec: SPEC, status: { succeeded: 9 } });
  const next = changedObject(jobs, previous, { spec: { ...SPEC, parallelism: 3 }, status: { succeeded: 2 } });

  assert.deepEqual(previous.status, {});
  assert.equal(next.status, previous.status);
  assert.equal(jobs.changesGeneration?.(next, previous), true);
  assert.equal(changedObject(jobs, previous, { spec: {}, status: { succeeded: 2 } }, "status").spec, previous.spec);
});

test("warnings about a Job are emitted only when it is new", () => {
  const many = { completionMode: "Indexed", completions: 100_001, parallelism: 10_001 };
  const odd = { ...many, template: { spec: { ...POD, nodeSelector: { "beta.kubernetes.io/os": "x" } } } };
  const previous = newObject(jobs, { metadata: METADATA, spec: odd });

  assert.deepEqual(warningsOfNew(jobs, { metadata: { name: "a.b", uid: "u" }, spec: odd }), [
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
    'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  assert.deepEqual([...(jobs.warnings?.(previous, previous) ?? [])], []);
});

test("deleting a Job orphans its Pods by default", () => {
  assert.equal(jobs.defaultPropagation, "Orphan");
});

test("Jobs are selected by status.successful", () => {
  const job = newObject(jobs, { metadata: METADATA, spec: SPEC });

  assert.equal(jobs.selectableFields["status.successful"]?.(job), "0");
  assert.equal(jobs.selectableFields["status.successful"]?.({ ...job, status: { succeeded: 2 } }), "2");
});

const NOW_MS = Date.parse("2026-01-01T01:00:00Z");

const CELLS: readonly [status: JobStatus, spec: JsonObject, cells: Readonly<Record<string, string>>][] = [
  [{}, {}, { Status: "Running", Completions: "0/1", Duration: "" }],
  [{ succeeded: 1 }, { parallelism: 1 }, { Status: "Running", Completions: "1/1", Duration: "" }],
  [{ succeeded: 1 }, { parallelism: 4 }, { Status: "Running", Completions: "1/1 of 4", Duration: "" }],
  [{ startTime: "2026-01-01T00:00:00Z", succeeded: 2 }, { completions: 3 }, { Status: "Running", Completions: "2/3", Duration: "60m" }],
  [
    { startTime: "2026-01-01T00:00:00Z", completionTime: "2026-01-01T00:00:09Z", conditions: [{ type: "Complete", status: "True" }] },
    {},
    { Status: "Complete", Completions: "0/1", Duration: "9s" },
  ],
];

for (const [status, spec, expected] of CELLS) {
  test(`the table of Jobs shows ${Object.values(expected).join(" ")}`, () => {
    const job = { ...newObject(jobs, { metadata: METADATA, spec: { ...SPEC, ...spec } }), status };

    const { Status, Completions, Duration } = cellsOf(jobs, job, NOW_MS);
    assert.deepEqual({ Status, Completions, Duration }, expected);
  });
}

const STATUSES: readonly [conditions: readonly string[], deletionTimestamp: string | undefined, shown: string][] = [
  [["SuccessCriteriaMet"], undefined, "SuccessCriteriaMet"],
  [["FailureTarget", "SuccessCriteriaMet"], undefined, "FailureTarget"],
  [["Suspended", "FailureTarget"], undefined, "Suspended"],
  [["Suspended"], "2026-01-01T00:00:00Z", "Terminating"],
  [["Failed"], "2026-01-01T00:00:00Z", "Failed"],
  [["Failed", "Complete"], undefined, "Complete"],
];

for (const [conditions, deletionTimestamp, shown] of STATUSES) {
  test(`a Job with ${conditions.join(" and ")}${deletionTimestamp === undefined ? "" : " that is terminating"} has the status cell ${shown}`, () => {
    const job = newObject(jobs, { metadata: METADATA, spec: SPEC });
    const metadata: Job["metadata"] = { ...job.metadata, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) };
    const status = { conditions: conditions.map((type) => ({ type, status: "True" })) };

    assert.equal(cellsOf(jobs, { ...job, metadata, status })["Status"], shown);
  });
}

test("the columns of Jobs show the progress, and with -o wide the containers", () => {
  assert.deepEqual(columnNames(jobs), ["Name", "Status", "Completions", "Duration", "Age", "Containers*", "Images*", "Selector*"]);
});
