import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { JobSpec, JobStatus } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { NO_BACKOFF, type Backoff } from "./backoff.ts";
import { stateOf } from "./job-state.ts";
import { planPods, PODS_PER_PASS_MAX, type PodPlan } from "./pod-plan.ts";
import { jobWith, podWith } from "./testing/jobs.ts";

const NOW_MS = 100_000;
const INDEXED = { completionMode: "Indexed" as const, completions: 4, parallelism: 4 };
const PER_INDEX = { ...INDEXED, backoffLimitPerIndex: 3 };
const running = (...names: string[]): Pod[] => names.map((name) => podWith(name));
const atIndex = (name: string, index: number, facts = {}): Pod => podWith(name, { index, ...facts });

interface PlanCase {
  readonly spec: Partial<JobSpec>;
  readonly status?: JobStatus;
  readonly pods?: readonly Pod[];
  readonly backoff?: Backoff;
  /** Pods to delete by name. */
  readonly plan: Exclude<PodPlan, { does: "delete" }> | { readonly does: "delete"; readonly names: readonly string[] };
}

const CASES: Readonly<Record<string, PlanCase>> = {
  "starts as many Pods as may run in parallel": { spec: { completions: 5, parallelism: 3 }, plan: { does: "create", count: 3 } },
  "starts no more Pods than completions are missing": {
    spec: { completions: 5, parallelism: 3 },
    status: { succeeded: 3 },
    pods: running("a"),
    plan: { does: "create", count: 1 },
  },
  "waits while enough Pods run": { spec: { completions: 5, parallelism: 2 }, pods: running("a", "b"), plan: { does: "nothing" } },
  "without completions starts none after the first success": {
    spec: { parallelism: 3 },
    status: { succeeded: 1 },
    pods: running("a"),
    plan: { does: "nothing" },
  },
  "without completions keeps its parallelism until then": {
    spec: { parallelism: 3 },
    pods: running("a"),
    plan: { does: "create", count: 2 },
  },
  "with less parallelism deletes Pods that are not ready": {
    spec: { completions: 5, parallelism: 1 },
    pods: [podWith("ready", { isReady: true }), podWith("starting", { phase: "Pending" })],
    plan: { does: "delete", names: ["starting"] },
  },
  "without parallelism deletes all Pods": {
    spec: { completions: 5, parallelism: 0 },
    pods: running("a"),
    plan: { does: "delete", names: ["a"] },
  },
  "that is suspended deletes all Pods": {
    spec: { completions: 5, parallelism: 5, suspend: true },
    pods: running("a", "b"),
    plan: { does: "delete", names: ["a", "b"] },
  },
  "that is suspended starts none": { spec: { completions: 5, suspend: true }, plan: { does: "nothing" } },
  "starts a limited number of Pods in one pass": {
    spec: { completions: 5_000, parallelism: 5_000 },
    plan: { does: "create", count: PODS_PER_PASS_MAX },
  },
  "replaces a terminating Pod at once": {
    spec: { completions: 1 },
    pods: [podWith("t", { isTerminating: true })],
    plan: { does: "create", count: 1 },
  },
  "that replaces failed Pods only waits for a terminating Pod": {
    spec: { completions: 1, podReplacementPolicy: "Failed" },
    pods: [podWith("t", { isTerminating: true })],
    plan: { does: "nothing" },
  },
  "waits for its back-off": {
    spec: { completions: 1 },
    backoff: { failures: 1, lastFailureMs: NOW_MS - 4_000 },
    plan: { does: "wait", delayMs: 6_000 },
  },
  "deletes surplus Pods during its back-off": {
    spec: { completions: 1, parallelism: 1 },
    pods: running("a", "a2"),
    backoff: { failures: 1, lastFailureMs: NOW_MS },
    plan: { does: "delete", names: ["a"] },
  },
  "with indexes starts the first ones that are missing": {
    spec: { ...INDEXED, parallelism: 2 },
    status: { completedIndexes: "0" },
    pods: [atIndex("a", 1)],
    plan: { does: "create", count: 1, indexes: [2] },
  },
  "with indexes deletes repeated and invalid ones": {
    spec: INDEXED,
    pods: [atIndex("a", 1), atIndex("a-pending", 1, { phase: "Pending" }), atIndex("beyond", 7), podWith("none")],
    plan: { does: "delete", names: ["beyond", "none", "a-pending"] },
  },
  "with indexes that replaces failed Pods only leaves the index of a terminating Pod": {
    spec: { ...INDEXED, podReplacementPolicy: "Failed" },
    pods: [atIndex("t", 0, { isTerminating: true })],
    plan: { does: "create", count: 3, indexes: [1, 2, 3] },
  },
  "with a limit per index starts those whose back-off is over": {
    spec: PER_INDEX,
    pods: [
      atIndex("a", 0, { phase: "Failed", finishedMs: NOW_MS - 4_000 }),
      atIndex("b", 1, { phase: "Failed", finishedMs: NOW_MS - 15_000 }),
    ],
    plan: { does: "create", count: 3, indexes: [1, 2, 3], delayMs: 6_000 },
  },
  "with a limit per index waits for the first back-off": {
    spec: { ...PER_INDEX, completions: 2, parallelism: 2 },
    pods: [
      atIndex("a", 0, { phase: "Failed", finishedMs: NOW_MS, failures: 1 }),
      atIndex("b", 1, { phase: "Failed", finishedMs: NOW_MS - 4_000 }),
    ],
    plan: { does: "wait", delayMs: 6_000 },
  },
  "with a limit per index skips failed indexes": {
    spec: PER_INDEX,
    status: { failedIndexes: "0,1" },
    pods: [],
    plan: { does: "create", count: 2, indexes: [2, 3] },
  },
};

for (const [title, { spec, status = {}, pods = [], backoff = NO_BACKOFF, plan }] of Object.entries(CASES)) {
  test(`a Job ${title}`, () => {
    const planned = planPods(stateOf(jobWith(spec, status), pods), backoff, NOW_MS);

    deepEqual(planned.does === "delete" ? { does: "delete", names: planned.pods.map(({ metadata }) => metadata.name) } : planned, plan);
  });
}
