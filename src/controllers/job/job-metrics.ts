/** Metrics of the Job controller, with upstream's names, labels and buckets. */
import type { Job, JobStatus } from "../../api/generated/batch/v1.ts";
import type { CounterDefinition, HistogramDefinition } from "../../base/metrics/metric-set.ts";
import { exponentialBounds } from "../../base/metrics/metric-series.ts";
import type { Pass } from "../runtime/controller.ts";
import type { Ending } from "./ending.ts";

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

/** `status`: the one that was written, with the Pods that `job` did not count yet. */
export function recordCounted(job: Job, status: JobStatus, { metrics }: Pass): void {
  for (const result of ["succeeded", "failed"] as const) {
    const counted = (status[result] ?? 0) - (job.status?.[result] ?? 0);
    if (counted > 0) metrics.count(PODS_FINISHED, { completion_mode: modeOf(job), result }, counted);
  }
}

function modeOf({ spec }: Job): string {
  return spec?.completionMode === "Indexed" ? "Indexed" : "NonIndexed";
}
