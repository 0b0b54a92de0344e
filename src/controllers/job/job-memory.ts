/**
 * What the controller knows about Jobs between passes. All of it can be lost: after a restart, and after a failed pass, the Job is confirmed
 * against the server and its back-off restored from its Pods. One entry per unfinished Job.
 *
 * Why confirm: Pods are created under generated names and counted once. A process that starts from a stale list would create Pods again, or
 * count Pods that its predecessor has counted; so would one that does not know whether its last request was executed. While nothing fails, its
 * own writes are visible at once, and no other process writes.
 */
import { jobs } from "../../api/batch/v1/job.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import type { Job } from "../../api/generated/batch/v1.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { conflict } from "../../api/machinery/status-error.ts";
import type { Pass, WorkKey } from "../runtime/controller.ts";
import { keyOf, keyText } from "../runtime/keys.ts";
import type { Backoff } from "./backoff.ts";

/**
 * By how much the API server's clock may be ahead of this process's. A Job is trusted unconfirmed only if the server dates it later than the
 * start plus this: one that was created just before the start may be dated after it. More than machines differ whose leases and tokens
 * still work; and confirming costs only the Jobs of the first minute after a start.
 */
export const CLOCK_SKEW_MAX_MS = 60_000;

interface JobRecord {
  readonly uid: string;
  /** Whether the caches are known to show everything that was done for the Job. */
  isConfirmed: boolean;
  backoff?: Backoff | undefined;
  /** Monotonic time of its last pass. */
  lastPassMs: number;
}

export class JobMemory {
  readonly #jobs = new Map<string, JobRecord>();
  /** Jobs that the server dates later have no history that another process has written. */
  readonly #trustedSinceMs: number;

  constructor(startedMs: number) {
    this.#trustedSinceMs = startedMs + CLOCK_SKEW_MAX_MS;
  }

  lastPassMs(key: WorkKey): number | undefined {
    return this.#jobs.get(keyText(key))?.lastPassMs;
  }

  forget(key: WorkKey): void {
    this.#jobs.delete(keyText(key));
  }

  /** Begins a pass. */
  of(job: Job, nowMs: number): JobRecord {
    const key = keyText(keyOf(job));
    const { uid = "", creationTimestamp } = job.metadata;
    let found = this.#jobs.get(key);
    if (found?.uid !== uid) {
      found = { uid, isConfirmed: (timestampMs(creationTimestamp) ?? 0) > this.#trustedSinceMs, lastPassMs: nowMs };
      this.#jobs.set(key, found);
    }
    found.lastPassMs = nowMs;
    return found;
  }

  /** Its last pass failed: some of its requests may have been executed. */
  doubt(key: WorkKey): void {
    const found = this.#jobs.get(keyText(key));
    if (found === undefined) return;
    found.isConfirmed = false;
    found.backoff = undefined;
  }
}

/** Rejects with Conflict if the caches lag behind the Job or its Pods. Live reads: two requests. */
export async function confirm(job: Job, selector: LabelSelector, { read, write }: Pass): Promise<void> {
  const { namespace = "", name, uid } = job.metadata;
  const live = await write.get(jobs, { namespace, name });
  const { items } = await write.list(pods, { namespace, labelSelector: selector.toString() });
  const known = read.controlledBy(pods, job).filter(({ metadata }) => selector.matches(metadata.labels));
  const liveNames = new Set(items.map(({ metadata }) => metadata.name));
  const isCurrent =
    isShown(live, read.get(jobs, { namespace, name })) &&
    live.metadata.uid === uid &&
    items.every((pod) => isShown(pod, read.get(pods, keyOf(pod)))) &&
    known.every(({ metadata }) => liveNames.has(metadata.name));
  if (!isCurrent) throw conflict({ group: "batch", plural: "jobs" }, name, "the cache does not show it and its Pods yet");
}

function isShown(live: KubeObject, cached: KubeObject | undefined): boolean {
  const { resourceVersion = "0" } = cached?.metadata ?? {};
  return cached !== undefined && compareResourceVersions(resourceVersion, live.metadata.resourceVersion ?? "0") >= 0;
}
