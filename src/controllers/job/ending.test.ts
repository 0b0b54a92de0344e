import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { JobSpec, JobStatus } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { completionOf, deadlineRemainingMs, endingOf } from "./ending.ts";
import { stateOf } from "./job-state.ts";
import { jobWith, podWith } from "./testing/jobs.ts";

const NOW_MS = 100_000;
const failedPods = (count: number, facts = {}): Pod[] =>
  Array.from({ length: count }, (_, index) => podWith(`f${index}`, { phase: "Failed", exitCode: 1, ...facts }));
const ON_FAILURE = { template: { spec: { containers: [], restartPolicy: "OnFailure" as const } } };
const INDEXED = { completionMode: "Indexed" as const, completions: 3, backoffLimitPerIndex: 0 };
const index = (index: number, phase: "Succeeded" | "Failed") => podWith(`p${index}${phase}`, { index, phase });
const met = (type: string) => ({ conditions: [{ type, status: "True", reason: "R", message: "M" }] });

interface EndingCase {
  readonly spec: Partial<JobSpec>;
  readonly status?: JobStatus;
  readonly pods: readonly Pod[];
  /** "Failed: BackoffLimitExceeded". */
  readonly ending: string | undefined;
}

const CASES: Readonly<Record<string, EndingCase>> = {
  "with as many failures as allowed continues": { spec: { backoffLimit: 2 }, pods: failedPods(2), ending: undefined },
  "with one failure too many fails": { spec: { backoffLimit: 2 }, pods: failedPods(3), ending: "Failed: BackoffLimitExceeded" },
  "adds counted and uncounted failures": {
    spec: { backoffLimit: 2 },
    status: { failed: 1, uncountedTerminatedPods: { failed: ["gone"] } },
    pods: failedPods(1),
    ending: "Failed: BackoffLimitExceeded",
  },
  "does not count a listed Pod twice": {
    spec: { backoffLimit: 1 },
    status: { uncountedTerminatedPods: { failed: ["f0"] } },
    pods: failedPods(1),
    ending: undefined,
  },
  "counts a terminating Pod as failed": {
    spec: { backoffLimit: 0 },
    pods: [podWith("t", { isTerminating: true })],
    ending: "Failed: BackoffLimitExceeded",
  },
  "that replaces failed Pods only does not count a terminating Pod": {
    spec: { backoffLimit: 0, podReplacementPolicy: "Failed" },
    pods: [podWith("t", { isTerminating: true })],
    ending: undefined,
  },
  "with too many restarts in place fails": {
    spec: { ...ON_FAILURE, backoffLimit: 3 },
    pods: [podWith("a", { restarts: 2 }), podWith("b", { phase: "Pending", restarts: 1 })],
    ending: "Failed: BackoffLimitExceeded",
  },
  "with restarts and the restart policy Never continues": {
    spec: { backoffLimit: 3 },
    pods: [podWith("a", { restarts: 5 })],
    ending: undefined,
  },
  "with a back-off limit of 0 and one restart fails": {
    spec: { ...ON_FAILURE, backoffLimit: 0 },
    pods: [podWith("a", { restarts: 1 })],
    ending: "Failed: BackoffLimitExceeded",
  },
  "past its deadline fails": {
    spec: { activeDeadlineSeconds: 10 },
    status: { startTime: formatTime(NOW_MS - 10_000) },
    pods: [],
    ending: "Failed: DeadlineExceeded",
  },
  "before its deadline continues": {
    spec: { activeDeadlineSeconds: 11 },
    status: { startTime: formatTime(NOW_MS - 10_000) },
    pods: [],
    ending: undefined,
  },
  "whose policy says so fails at the first such Pod": {
    spec: { podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [1] } }] } },
    pods: failedPods(1),
    ending: "Failed: PodFailurePolicy",
  },
  "whose policy ignores failures continues": {
    spec: { backoffLimit: 0, podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }] } },
    pods: failedPods(5),
    ending: undefined,
  },
  "with more failed indexes than allowed fails": {
    spec: { ...INDEXED, maxFailedIndexes: 0, backoffLimit: 100 },
    pods: [index(1, "Failed")],
    ending: "Failed: MaxFailedIndexesExceeded",
  },
  "with a failed index and others pending continues": {
    spec: { ...INDEXED, backoffLimit: 100 },
    pods: [index(1, "Failed")],
    ending: undefined,
  },
  "with a failed index and all others succeeded fails": {
    spec: { ...INDEXED, backoffLimit: 100 },
    status: { completedIndexes: "0" },
    pods: [index(1, "Failed"), index(2, "Succeeded")],
    ending: "Failed: FailedIndexes",
  },
  "with FailIndex fails the index at once": {
    spec: {
      ...INDEXED,
      completions: 1,
      backoffLimit: 100,
      backoffLimitPerIndex: 5,
      podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [1] } }] },
    },
    pods: failedPods(1, { index: 0 }),
    ending: "Failed: FailedIndexes",
  },
  "that satisfies its success policy succeeds": {
    spec: { completionMode: "Indexed", completions: 5, successPolicy: { rules: [{ succeededCount: 1 }] } },
    pods: [index(4, "Succeeded")],
    ending: "Complete: SuccessPolicy",
  },
  "that was announced to fail fails, whatever its Pods do": { spec: {}, status: met("FailureTarget"), pods: [], ending: "Failed: R" },
  "that was announced to succeed succeeds, whatever its Pods do": {
    spec: { backoffLimit: 0 },
    status: met("SuccessCriteriaMet"),
    pods: failedPods(3),
    ending: "Complete: R",
  },
};

for (const [title, { spec, status = {}, pods, ending }] of Object.entries(CASES)) {
  test(`a Job ${title}`, () => {
    const found = endingOf(stateOf(jobWith(spec, status), pods), NOW_MS);

    equal(found === undefined ? undefined : `${found.outcome}: ${found.reason}`, ending);
  });
}

test("a Job with completions is complete when so many Pods have succeeded and none is active", () => {
  const state = stateOf(jobWith({ completions: 2 }, { succeeded: 1 }), [podWith("s", { phase: "Succeeded" })]);

  equal(completionOf(state, 1), undefined);
  equal(completionOf(state, 0)?.reason, "CompletionsReached");
});

test("a Job without completions is complete after one success, when no Pod is active", () => {
  equal(completionOf(stateOf(jobWith({ parallelism: 3 }), []), 0), undefined);
  equal(completionOf(stateOf(jobWith({ parallelism: 3 }, { succeeded: 1 }), []), 2), undefined);
  equal(completionOf(stateOf(jobWith({ parallelism: 3 }, { succeeded: 1 }), []), 0)?.outcome, "Complete");
});

test("a suspended Job has no deadline", () => {
  const status = { startTime: formatTime(0) };

  equal(deadlineRemainingMs({ spec: { template: {}, activeDeadlineSeconds: 1, suspend: true }, status }, NOW_MS), undefined);
  equal(deadlineRemainingMs({ spec: { template: {}, activeDeadlineSeconds: 160 }, status }, NOW_MS), 60_000);
});
