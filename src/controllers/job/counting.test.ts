import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { JobSpec, JobStatus } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { countPods, UNCOUNTED_MAX, withCounted } from "./counting.ts";
import type { Ending } from "./ending.ts";
import { stateOf } from "./job-state.ts";
import { jobWith, podWith } from "./testing/jobs.ts";

const INDEXED: Partial<JobSpec> = { completionMode: "Indexed", completions: 4, parallelism: 4 };
const FAILED: Ending = { outcome: "Failed", reason: "R", message: "M", isAnnounced: false };
const COMPLETE: Ending = { ...FAILED, outcome: "Complete" };

interface CountCase {
  readonly spec?: Partial<JobSpec>;
  readonly status?: JobStatus;
  readonly pods: readonly Pod[];
  readonly ending?: Ending;
  readonly counted: JobStatus;
  /** Names of Pods whose finalizer is removed. */
  readonly release: readonly string[];
}

const CASES: Readonly<Record<string, CountCase>> = {
  "lists finished Pods and leaves running ones alone": {
    pods: [podWith("s", { phase: "Succeeded" }), podWith("f", { phase: "Failed" }), podWith("r")],
    counted: { uncountedTerminatedPods: { succeeded: ["s"], failed: ["f"] } },
    release: ["s", "f"],
  },
  "does not list a Pod twice": {
    status: { uncountedTerminatedPods: { failed: ["f"] } },
    pods: [podWith("f", { phase: "Failed" })],
    counted: { uncountedTerminatedPods: { failed: ["f"] } },
    release: ["f"],
  },
  "counts a listed Pod whose finalizer is gone": {
    status: { failed: 1, uncountedTerminatedPods: { failed: ["f"], succeeded: ["gone"] } },
    pods: [podWith("f", { phase: "Failed", isTracked: false })],
    counted: { failed: 2, succeeded: 1, uncountedTerminatedPods: {} },
    release: [],
  },
  "ignores a finished Pod that is neither listed nor tracked": {
    status: { failed: 1 },
    pods: [podWith("f", { phase: "Failed", isTracked: false })],
    counted: { failed: 1, uncountedTerminatedPods: {} },
    release: [],
  },
  "does not count as succeeded what is listed as failed": {
    status: { uncountedTerminatedPods: { failed: ["p"] } },
    pods: [podWith("p", { phase: "Succeeded" })],
    counted: { uncountedTerminatedPods: { failed: ["p"] } },
    release: ["p"],
  },
  "releases an ignored failure without counting it": {
    spec: { podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [3] } }] } },
    pods: [podWith("f", { phase: "Failed", exitCode: 3 })],
    counted: { uncountedTerminatedPods: {} },
    release: ["f"],
  },
  "counts running Pods as failed when the Job fails": {
    pods: [podWith("r"), podWith("s", { phase: "Succeeded" })],
    ending: FAILED,
    counted: { uncountedTerminatedPods: { succeeded: ["s"], failed: ["r"] } },
    release: ["r", "s"],
  },
  "releases running Pods uncounted when the Job succeeds": {
    pods: [podWith("r")],
    ending: COMPLETE,
    counted: { uncountedTerminatedPods: {} },
    release: ["r"],
  },
  "writes succeeded indexes, and lists failures": {
    spec: INDEXED,
    status: { completedIndexes: "0", succeeded: 1 },
    pods: [
      podWith("c", { phase: "Succeeded", index: 2 }),
      podWith("b", { phase: "Succeeded", index: 1 }),
      podWith("f", { phase: "Failed", index: 3 }),
    ],
    counted: { completedIndexes: "0-2", succeeded: 3, uncountedTerminatedPods: { failed: ["f"] } },
    release: ["b", "c", "f"],
  },
  "counts an index once": {
    spec: INDEXED,
    status: { completedIndexes: "1", succeeded: 1 },
    pods: [podWith("b", { phase: "Succeeded", index: 1 })],
    counted: { completedIndexes: "1", succeeded: 1, uncountedTerminatedPods: {} },
    release: ["b"],
  },
  "drops indexes beyond the completions of a Job that shrinks": {
    spec: { ...INDEXED, completions: 2, parallelism: 2 },
    status: { completedIndexes: "0,3", succeeded: 2 },
    pods: [podWith("f", { phase: "Failed", index: 3 })],
    counted: { completedIndexes: "0", succeeded: 1, uncountedTerminatedPods: {} },
    release: ["f"],
  },
  "keeps the last failed Pod of an index until it is replaced": {
    spec: { ...INDEXED, backoffLimitPerIndex: 2, backoffLimit: 100 },
    pods: [
      podWith("old", { phase: "Failed", index: 0, failures: 0, finishedMs: 1_000 }),
      podWith("new", { phase: "Failed", index: 0, failures: 1, finishedMs: 2_000 }),
    ],
    counted: { failedIndexes: "", uncountedTerminatedPods: { failed: ["old"] } },
    release: ["old"],
  },
  "releases the last failed Pod of a failed index": {
    spec: { ...INDEXED, backoffLimitPerIndex: 1, backoffLimit: 100 },
    pods: [podWith("new", { phase: "Failed", index: 0, failures: 1 })],
    counted: { failedIndexes: "0", uncountedTerminatedPods: { failed: ["new"] } },
    release: ["new"],
  },
};

for (const [title, { spec = {}, status = {}, pods, ending, counted, release }] of Object.entries(CASES)) {
  test(`counting ${title}`, () => {
    const state = stateOf(jobWith(spec, status), pods);

    const counting = countPods(state, ending, status);

    deepEqual(counting.status, counted);
    deepEqual(
      counting.release.map(({ metadata }) => metadata.name),
      release,
    );
    equal(counting.isLimited, false);
  });
}

test("counting releases all Pods of a Job that is being deleted", () => {
  const job = jobWith({});
  const state = stateOf({ ...job, metadata: { ...job.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }, [podWith("r")]);

  const { release, status } = countPods(state, undefined, {});

  deepEqual([release.length, status], [1, { uncountedTerminatedPods: {} }]);
});

test("counting lists a limited number of Pods, and the rest in the next pass", () => {
  const pods = Array.from({ length: UNCOUNTED_MAX + 100 }, (_, index) => podWith(`s${index}`, { phase: "Succeeded" }));
  const first = countPods(stateOf(jobWith({ completions: 1_000 }), pods), undefined, {});
  deepEqual([first.release.length, first.isLimited], [UNCOUNTED_MAX, true]);

  const status = withCounted(first.status, new Set());
  const left = pods.slice(UNCOUNTED_MAX);
  const second = countPods(stateOf(jobWith({ completions: 1_000 }, status), left), undefined, status);

  deepEqual([second.release.length, second.isLimited, second.status.succeeded], [100, false, UNCOUNTED_MAX]);
});
