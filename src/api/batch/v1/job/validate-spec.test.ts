import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { problemsOfNew } from "../../../testing/kind.ts";
import { jobs } from "../job.ts";

const CONTAINERS: JsonObject = { containers: [{ name: "c", image: "i" }] };
const INDEXED: JsonObject = { completionMode: "Indexed", completions: 5 };

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["its defaults", {}, []],
  [
    "numbers below none",
    {
      ...INDEXED,
      parallelism: -1,
      completions: -1,
      activeDeadlineSeconds: -1,
      backoffLimit: -1,
      ttlSecondsAfterFinished: -1,
      backoffLimitPerIndex: -1,
      maxFailedIndexes: -2,
    },
    [
      "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
      "spec.completions: Invalid value: -1: must be greater than or equal to 0",
      "spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
      "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0",
      "spec.backoffLimitPerIndex: Invalid value: -1: must be greater than or equal to 0",
      "spec.maxFailedIndexes: Invalid value: -2: must be greater than or equal to 0",
    ],
  ],
  [
    "a limit of failed indexes without a limit for each",
    { ...INDEXED, maxFailedIndexes: 1 },
    ["spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"],
  ],
  ["an empty managedBy", { managedBy: "" }, ["spec.managedBy: Required value"]],
  [
    "a manager without a domain",
    { managedBy: "plain" },
    ['spec.managedBy: Invalid value: "plain": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    "a manager in a domain that is none",
    { managedBy: "A/b" },
    [
      "spec.managedBy: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "a manager with a path that is none",
    { managedBy: "a.b/c d" },
    ["spec.managedBy: Invalid value: \"c d\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"],
  ],
  ["a manager with too long a name", { managedBy: `a.b/${"c".repeat(60)}` }, ["spec.managedBy: Too long: may not be more than 63 bytes"]],
  ["a manager of its own", { managedBy: `a.b/${"c".repeat(59)}` }, []],
  [
    "an unknown mode",
    { completionMode: "Foo" },
    ['spec.completionMode: Unsupported value: "Foo": supported values: "NonIndexed", "Indexed"'],
  ],
  [
    "indexes without an end",
    { completionMode: "Indexed", parallelism: 1 },
    ["spec.completions: Required value: when completion mode is Indexed"],
  ],
  [
    "too many indexes at a time",
    { ...INDEXED, parallelism: 100_001 },
    ["spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed"],
  ],
  ["as many indexes at a time as can be", { ...INDEXED, parallelism: 100_000 }, []],
  [
    "more failed indexes than indexes",
    { ...INDEXED, backoffLimitPerIndex: 1, maxFailedIndexes: 6 },
    ["spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions"],
  ],
  [
    "too many failed indexes",
    { ...INDEXED, completions: 200_000, backoffLimitPerIndex: 1, maxFailedIndexes: 100_001 },
    [
      "spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000",
      "spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index",
    ],
  ],
  [
    "many indexes without a limit of failed ones",
    { ...INDEXED, completions: 100_001, backoffLimitPerIndex: 1 },
    ["spec.maxFailedIndexes: Required value: must be specified when completions is above 100000"],
  ],
  [
    "many indexes, too many of them at a time",
    { ...INDEXED, completions: 100_001, backoffLimitPerIndex: 1, maxFailedIndexes: 10_000, parallelism: 10_001 },
    [
      "spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index",
    ],
  ],
  ["many indexes without a limit for each", { ...INDEXED, completions: 100_001, parallelism: 10_001 }, []],
  [
    "limits for indexes that it has not",
    { backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
    [
      "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
      "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
    ],
  ],
  [
    "an unknown podReplacementPolicy",
    { podReplacementPolicy: "Foo" },
    ['spec.podReplacementPolicy: Unsupported value: "Foo": supported values: "Failed", "TerminatingOrFailed"'],
  ],
  [
    "Pods that are replaced before one knows how they failed",
    { podReplacementPolicy: "TerminatingOrFailed", podFailurePolicy: { rules: [{ action: "Count", onPodConditions: [{ type: "A" }] }] } },
    ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
  ],
  [
    "restart policy Always",
    { template: { spec: { ...CONTAINERS, restartPolicy: "Always" } } },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    "Pods of which it does not say whether they end",
    { template: { spec: CONTAINERS } },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    "Pods that do something unknown when they end",
    { template: { spec: { ...CONTAINERS, restartPolicy: "Foo" } } },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Foo": supported values: "Always", "OnFailure", "Never"',
      'spec.template.spec.restartPolicy: Unsupported value: "Foo": supported values: "OnFailure", "Never"',
    ],
  ],
  [
    "Pods that start again before one knows how they failed",
    {
      template: { spec: { ...CONTAINERS, restartPolicy: "OnFailure" } },
      podFailurePolicy: { rules: [{ action: "Count", onPodConditions: [{ type: "A" }] }] },
    },
    ['spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified'],
  ],
  ["no containers", { template: { spec: { restartPolicy: "Never" } } }, ["spec.template.spec.containers: Required value"]],
];

for (const [title, spec, problems] of ROWS) {
  test(`a Job with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    const template = { spec: { ...CONTAINERS, restartPolicy: "Never" } };

    assert.deepEqual(problemsOfNew(jobs, { metadata: { uid: "u" }, spec: { template, ...spec } }), problems);
  });
}
