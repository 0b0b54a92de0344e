import assert from "node:assert/strict";
import test from "node:test";
import type { JobCondition, JobStatus } from "../../../generated/batch/v1.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import { newObject, problemsOfChange } from "../../../testing/kind.ts";
import { jobs } from "../job.ts";

const METADATA: JsonObject = { name: "x", uid: "u" };
const TEMPLATE: JsonObject = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const START = "2026-01-01T00:00:00Z";
const END = "2026-01-01T00:01:00Z";

/** "Complete", "Suspended=False". */
function conditions(...texts: readonly string[]): JobCondition[] {
  return texts.map((text) => {
    const [type = "", status = "True"] = text.split("=");
    return { type, status };
  });
}

const COMPLETE: JobStatus = { startTime: START, completionTime: END, conditions: conditions("SuccessCriteriaMet", "Complete") };
const FAILED: JobStatus = { startTime: START, conditions: conditions("FailureTarget", "Failed") };
const INDEXED: JsonObject = { completionMode: "Indexed", completions: 5, parallelism: 5, backoffLimitPerIndex: 1 };

interface Row {
  readonly title: string;
  readonly spec?: JsonObject;
  readonly before?: JobStatus;
  readonly status: JobStatus;
  readonly problems: readonly string[];
}

const ROWS: readonly Row[] = [
  { title: "a start time", status: { startTime: START, active: 2, ready: 1, terminating: 1 }, problems: [] },
  { title: "the condition Complete", status: COMPLETE, problems: [] },
  { title: "the condition Failed", status: FAILED, problems: [] },
  {
    title: "negative counts",
    status: { active: -1, succeeded: -1, failed: -1, ready: -1, terminating: -1 },
    problems: [
      "status.active: Invalid value: -1: must be greater than or equal to 0",
      "status.succeeded: Invalid value: -1: must be greater than or equal to 0",
      "status.failed: Invalid value: -1: must be greater than or equal to 0",
      "status.ready: Invalid value: -1: must be greater than or equal to 0",
      "status.terminating: Invalid value: -1: must be greater than or equal to 0",
      "status.failed: Invalid value: -1: cannot decrease the failed counter",
      "status.succeeded: Invalid value: -1: cannot decrease the succeeded counter",
    ],
  },
  {
    title: "duplicate or empty UIDs among the uncounted Pods",
    status: { uncountedTerminatedPods: { succeeded: ["", "a", "a"], failed: ["a", "", "b"] } },
    problems: [
      'status.uncountedTerminatedPods.succeeded[0]: Invalid value: "": must not be empty',
      'status.uncountedTerminatedPods.succeeded[2]: Duplicate value: "a"',
      'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
      'status.uncountedTerminatedPods.failed[1]: Invalid value: "": must not be empty',
    ],
  },
  {
    title: "several finished conditions",
    status: { ...COMPLETE, conditions: conditions("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet") },
    problems: [
      "status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions",
      "status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions",
      "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions",
      "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
    ],
  },
  {
    title: "a completion time without the condition Complete",
    status: { startTime: START, completionTime: END },
    problems: [
      'status.completionTime: Invalid value: "2026-01-01T00:01:00Z": cannot set completionTime when there is no Complete=True condition',
    ],
  },
  {
    title: "the condition Complete and no completion time",
    status: { startTime: START, conditions: conditions("SuccessCriteriaMet", "Complete") },
    problems: ["status.completionTime: Required value: completionTime is required for Complete jobs"],
  },
  {
    title: "a completion time before the start time",
    status: { ...COMPLETE, startTime: END, completionTime: START },
    problems: ['status.completionTime: Invalid value: "2026-01-01T00:00:00Z": must be equal to or after `startTime`'],
  },
  {
    title: "Failed without FailureTarget",
    status: { startTime: START, conditions: conditions("Failed") },
    problems: ["status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition"],
  },
  {
    title: "Complete without SuccessCriteriaMet",
    status: { ...COMPLETE, conditions: conditions("Complete") },
    problems: ["status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition"],
  },
  {
    title: "a finished condition while Pods are active",
    status: { ...COMPLETE, active: 1, terminating: 2 },
    problems: [
      "status.active: Invalid value: 1: active>0 is invalid for finished job",
      "status.terminating: Invalid value: 2: terminating>0 is invalid for finished job",
    ],
  },
  {
    title: "a finished condition without a start time",
    status: { completionTime: END, conditions: conditions("SuccessCriteriaMet", "Complete") },
    problems: ["status.startTime: Required value: startTime is required for finished job"],
  },
  {
    title: "a finished condition without a start time, of a Job without completions",
    spec: { suspend: true, completions: 0 },
    status: { completionTime: END, conditions: conditions("SuccessCriteriaMet", "Complete") },
    problems: [],
  },
  {
    title: "a finished condition while Pods are uncounted",
    status: { ...COMPLETE, uncountedTerminatedPods: { failed: ["a"] } },
    problems: ['status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}: must be empty for finished job'],
  },
  {
    title: "a negative active count and no ready count",
    status: { active: -1 },
    problems: ["status.active: Invalid value: -1: must be greater than or equal to 0"],
  },
  {
    title: "more ready than active Pods",
    status: { active: 1, ready: 2 },
    problems: ["status.ready: Invalid value: 2: cannot set more ready pods than active"],
  },
  {
    title: "indexes of a Job that is not indexed",
    status: { completedIndexes: "0", failedIndexes: "" },
    problems: [
      'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
      'status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
    ],
  },
  { title: "completed and failed indexes", spec: INDEXED, status: { completedIndexes: "0-1,3", failedIndexes: "2,4" }, problems: [] },
  {
    title: "malformed indexes",
    spec: INDEXED,
    status: { completedIndexes: "0-5", failedIndexes: "a" },
    problems: [
      'status.completedIndexes: Invalid value: "0-5": error parsing completedIndexes: too large index: "5"',
      'status.failedIndexes: Invalid value: "a": error parsing failedIndexes: cannot convert string to integer for index: "a"',
    ],
  },
  {
    title: "indexes that are both completed and failed",
    spec: INDEXED,
    status: { completedIndexes: "0-2,4", failedIndexes: "3-4" },
    problems: ['status.failedIndexes: Invalid value: "3-4": failedIndexes and completedIndexes overlap at index: 4'],
  },
  {
    title: "both SuccessCriteriaMet and FailureTarget",
    status: { startTime: START, conditions: conditions("SuccessCriteriaMet", "FailureTarget") },
    problems: ["status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"],
  },
  {
    title: "Complete but not SuccessCriteriaMet, of a Job with a success policy",
    spec: { ...INDEXED, successPolicy: { rules: [{ succeededCount: 1 }] } },
    status: { ...COMPLETE, conditions: conditions("Complete") },
    problems: [
      "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
      "status.conditions: Invalid value: cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
    ],
  },
  {
    title: "a removed condition Complete",
    before: COMPLETE,
    status: { startTime: START },
    problems: [
      "status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
      "status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition",
    ],
  },
  {
    title: "a removed condition Failed",
    before: FAILED,
    status: { startTime: START },
    problems: [
      "status.conditions: Invalid value: cannot disable the terminal Failed=True condition",
      "status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition",
    ],
  },
  {
    title: "decreased counts",
    before: { failed: 3, succeeded: 3 },
    status: { failed: 2, succeeded: 2 },
    problems: [
      "status.failed: Invalid value: 2: cannot decrease the failed counter",
      "status.succeeded: Invalid value: 2: cannot decrease the succeeded counter",
    ],
  },
  {
    title: "a decreased succeeded count of a scaled-down Job",
    spec: INDEXED,
    before: { succeeded: 3 },
    status: { succeeded: 2 },
    problems: [],
  },
  {
    title: "a changed completion time",
    before: COMPLETE,
    status: { ...COMPLETE, completionTime: "2026-01-01T00:02:00Z" },
    problems: ['status.completionTime: Invalid value: "2026-01-01T00:02:00Z": field is immutable'],
  },
  {
    title: "a changed start time",
    before: { startTime: START },
    status: { startTime: END },
    problems: ['status.startTime: Invalid value: "2026-01-01T00:01:00Z": field is immutable for unsuspended job once set'],
  },
  {
    title: "a removed start time",
    before: { startTime: START },
    status: {},
    problems: ["status.startTime: Invalid value: null: field is immutable for unsuspended job once set"],
  },
  {
    title: "a changed start time of a suspended Job",
    spec: { suspend: true },
    before: { startTime: START },
    status: { startTime: END },
    problems: [],
  },
  {
    title: "another start time of a running Job",
    before: { startTime: START, conditions: conditions("Suspended") },
    status: { startTime: END, conditions: conditions("Suspended=False") },
    problems: [],
  },
  {
    title: "SuccessCriteriaMet added after Complete",
    before: { ...COMPLETE, conditions: conditions("Complete") },
    status: COMPLETE,
    problems: ["status.conditions: Invalid value: cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"],
  },
  {
    title: "an unrelated change of an already invalid status",
    before: { ...COMPLETE, active: 1, ready: 3, completionTime: START, startTime: END, conditions: conditions("Complete") },
    status: { ...COMPLETE, active: 1, ready: 3, completionTime: START, startTime: END, conditions: conditions("Complete"), failed: 1 },
    problems: [],
  },
];

for (const { title, spec = {}, before = {}, status, problems } of ROWS) {
  test(`a Job status with ${title} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    const sent = { template: TEMPLATE, ...spec };
    const previous = { ...newObject(jobs, { metadata: METADATA, spec: sent }), status: before };
    const next = { metadata: METADATA, spec: sent, status: status as JsonObject };

    assert.deepEqual(problemsOfChange(jobs, previous, next, "status"), problems);
  });
}
