/** Metrics of the Job controller, with upstream's names, labels and buckets. */
import type { Job, JobStatus } from "../../api/generated/batch/v1.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { CounterDefinition, HistogramDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import { exponentialBounds } from "../../base/metrics/metric-series.ts";
import type { Labels } from "../../base/metrics/prometheus-text.ts";
import type { Change, Pass } from "../runtime/controller.ts";
import type { Ending } from "./ending.ts";
import { IndexSet } from "./index-set.ts";
import { isTracked } from "./job-pods.ts";
import { isIndexedJob, type JobState } from "./job-state.ts";
import { isManagedElsewhere } from "./managed-by.ts";

const SYNCS: CounterDefinition = { type: "counter", name: "job_controller_job_syncs_total", help: "The number of job syncs" };
const SYNC_DURATION: HistogramDefinition = {
  type: "histogram",
  name: "job_controller_job_sync_duration_seconds",
  help: "The time it took to sync a job",
  bounds: exponentialBounds(0.004, 2, 15),
};
const FINISHED: CounterDefinition = { type: "counter", name: "job_controller_jobs_finished_total", help: "The number of finished jobs" };
const PODS_FINISHED: CounterDefinition = {
  type: "counter",
  name: "job_controller_job_pods_finished_total",
  help: "The number of finished Pods that are fully tracked",
};

const FINISHED_INDEXES: CounterDefinition = {
  type: "counter",
  name: "job_controller_job_finished_indexes_total",
  help: "The number of finished indexes, by status (succeeded, failed) and back-off limit (perIndex, global)",
};
const PODS_CREATED: CounterDefinition = {
  type: "counter",
  name: "job_controller_job_pods_creation_total",
  help: "The number of Pods created by the Job controller, by reason (new, recreate_terminating_or_failed, recreate_failed) and status (succeeded, failed)",
};
const HANDLED_BY_POLICY: CounterDefinition = {
  type: "counter",
  name: "job_controller_pod_failures_handled_by_failure_policy_total",
  help: "The number of failed Pods handled by failure policy, by the action of the rule that matched (FailJob, FailIndex, Ignore, Count)",
};
const TERMINATED_TRACKED: CounterDefinition = {
  type: "counter",
  name: "job_controller_terminated_pods_tracking_finalizer_total",
  help: "The number of terminated pods (phase=Failed|Succeeded) that have the finalizer batch.kubernetes.io/job-tracking, by event (add, delete)",
};
const EXTERNAL: CounterDefinition = {
  type: "counter",
  name: "job_controller_jobs_by_external_controller_total",
  help: "The number of Jobs managed by an external controller",
};

/** What a reconciliation did: waited for caches, only counted, or changed the number of Pods. */
export type SyncAction = "reconciling" | "tracking" | "pods_created" | "pods_deleted";

export interface JobSync {
  readonly action: SyncAction;
  readonly result: "success" | "error";
  readonly durationMs: number;
}

export function recordSync(job: Job, { action, result, durationMs }: JobSync, { metrics }: Pass): void {
  const labels = { completion_mode: modeOf(job), result, action };
  metrics.count(SYNCS, labels);
  metrics.observe(SYNC_DURATION, labels, durationMs / 1_000);
}

export function recordFinished(job: Job, { outcome, reason }: Ending, { metrics }: Pass): void {
  metrics.count(FINISHED, { completion_mode: modeOf(job), result: outcome === "Failed" ? "failed" : "succeeded", reason });
}

/** `status`: the one that was written after that of `job`. An index that is out of range after `completions` was lowered is not subtracted. */
export function recordCounted(job: Job, status: JobStatus, { metrics }: Pass): void {
  const { spec, status: before = {} } = job;
  const add = (definition: CounterDefinition, labels: Labels, counted: number): void => {
    if (counted > 0) metrics.count(definition, labels, counted);
  };
  const isIndexed = spec !== undefined && isIndexedJob(spec);
  const newIndexes = (of: "completedIndexes" | "failedIndexes"): number => sizeOf(status[of], job) - sizeOf(before[of], job);
  const succeeded = isIndexed ? newIndexes("completedIndexes") : (status.succeeded ?? 0) - (before.succeeded ?? 0);
  add(PODS_FINISHED, { completion_mode: modeOf(job), result: "succeeded" }, succeeded);
  add(PODS_FINISHED, { completion_mode: modeOf(job), result: "failed" }, (status.failed ?? 0) - (before.failed ?? 0));
  if (!isIndexed) return;
  const backoffLimit = spec.backoffLimitPerIndex === undefined ? "global" : "perIndex";
  add(FINISHED_INDEXES, { status: "succeeded", backoffLimit }, succeeded);
  add(FINISHED_INDEXES, { status: "failed", backoffLimit }, newIndexes("failedIndexes"));
}

function sizeOf(indexes: string | undefined, { spec }: Job): number {
  return IndexSet.parse(indexes, spec?.completions ?? 0).size;
}

export interface PodsCreated {
  readonly succeeded: number;
  readonly failed: number;
}

export function recordCreations(state: JobState, { succeeded, failed }: PodsCreated, { metrics }: Pass): void {
  const reason = creationReason(state);
  if (succeeded > 0) metrics.count(PODS_CREATED, { reason, status: "succeeded" }, succeeded);
  if (failed > 0) metrics.count(PODS_CREATED, { reason, status: "failed" }, failed);
}

function creationReason({ spec, failed, terminating }: JobState): string {
  if (failed > 0 && spec.podReplacementPolicy === "Failed") return "recreate_failed";
  return failed > 0 || terminating > 0 ? "recreate_terminating_or_failed" : "new";
}

/** One action per failed Pod that a rule matched. */
export function recordPolicyActions(actions: readonly string[], { metrics }: Pass): void {
  for (const action of actions) metrics.count(HANDLED_BY_POLICY, { action });
}

/** As upstream, a Job is counted again when the controller starts. */
export function countExternalJob({ is, object }: Change<Job>, metrics: MetricSet): void {
  if (is === "added" && isManagedElsewhere(object)) metrics.count(EXTERNAL, { controller_name: object.spec?.managedBy ?? "" });
}

/** Of every Pod: one that comes to be, or ceases to be, both terminated and tracked. */
export function countTerminatedTracked({ is, object, previous }: Change<Pod>, metrics: MetricSet): void {
  const before = is === "deleted" ? object : previous;
  const was = before !== undefined && isTerminatedTracked(before);
  const isNow = is !== "deleted" && isTerminatedTracked(object);
  if (was !== isNow) metrics.count(TERMINATED_TRACKED, { event: isNow ? "add" : "delete" });
}

function isTerminatedTracked(pod: Pod): boolean {
  return isTracked(pod) && isTerminal(pod);
}

function modeOf({ spec }: Job): string {
  return spec?.completionMode === "Indexed" ? "Indexed" : "NonIndexed";
}
