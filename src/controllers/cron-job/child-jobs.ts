/** What the Jobs of a CronJob mean for its status, and which finished ones its history limits remove. Pure. */
import { isFinished, isTrue } from "../../api/batch/v1/job/conditions.ts";
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import type { CronJobSpec, CronJobStatus, Job } from "../../api/generated/batch/v1.ts";
import type { ObjectReference } from "../../api/generated/core/v1.ts";

export interface ObservedJobs {
  /** Without finished Jobs in `active`, and with the latest success. */
  readonly status: CronJobStatus;
  /** Removed from `active`, since they have finished. */
  readonly completed: readonly Job[];
  /** Unfinished and not in `active`: created by another client, or by a process that died before it wrote the status. */
  readonly unexpected: readonly Job[];
  /** In `active`, but not among the Jobs. */
  readonly missing: readonly ObjectReference[];
}

export function observeJobs(children: readonly Job[], status: CronJobStatus): ObservedJobs {
  const active = status.active ?? [];
  const isActive = ({ metadata }: Job): boolean => active.some(({ uid }) => uid === metadata.uid);
  const finished = children.filter((job) => isFinished(job.status ?? {}));
  const completed = finished.filter(isActive);
  const known = new Set(children.map(({ metadata }) => metadata.uid));
  return {
    status: withLastSuccess(withoutActive(status, completed), finished),
    completed,
    unexpected: children.filter((job) => !isFinished(job.status ?? {}) && !isActive(job)),
    missing: active.filter(({ uid }) => !known.has(uid)),
  };
}

/** "Complete" or "Failed". */
export function outcomeOf({ status = {} }: Job): string {
  return (status.conditions ?? []).find(({ type, status: is }) => ["Complete", "Failed"].includes(type) && is === "True")?.type ?? "";
}

function withLastSuccess(status: CronJobStatus, finished: readonly Job[]): CronJobStatus {
  let { lastSuccessfulTime } = status;
  for (const job of finished) {
    const { completionTime } = job.status ?? {};
    if (!isTrue(job.status ?? {}, "Complete") || completionTime === undefined) continue;
    if ((timestampMs(completionTime) ?? 0) > (timestampMs(lastSuccessfulTime) ?? -Infinity)) lastSuccessfulTime = completionTime;
  }
  return lastSuccessfulTime === undefined ? status : { ...status, lastSuccessfulTime };
}

export function withoutActive(status: CronJobStatus, removed: readonly (Job | ObjectReference)[]): CronJobStatus {
  const uids = new Set(removed.map((each) => ("metadata" in each ? each.metadata.uid : each.uid)));
  const { active = [], ...others } = status;
  const left = active.filter(({ uid }) => !uids.has(uid));
  return left.length === 0 ? others : { ...others, active: left };
}

export function withActive(status: CronJobStatus, { metadata }: Job): CronJobStatus {
  const { name, namespace, uid, resourceVersion } = metadata;
  const reference: ObjectReference = {
    kind: "Job",
    name,
    apiVersion: "batch/v1",
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return { ...status, active: [...(status.active ?? []), reference] };
}

/** Finished Jobs beyond the history limits, the oldest first. */
export function surplusHistory(children: readonly Job[], spec: CronJobSpec): readonly Job[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = spec;
  return [...oldest(children, "Complete", successfulJobsHistoryLimit), ...oldest(children, "Failed", failedJobsHistoryLimit)];
}

function oldest(children: readonly Job[], outcome: string, limit = Infinity): readonly Job[] {
  const finished = children.filter((job) => outcomeOf(job) === outcome).toSorted(byStart);
  return finished.slice(0, Math.max(0, finished.length - limit));
}

/** One that never started is the newest. */
function byStart(a: Job, b: Job): number {
  const [aMs, bMs] = [timestampMs(a.status?.startTime) ?? Infinity, timestampMs(b.status?.startTime) ?? Infinity];
  if (aMs !== bMs) return aMs - bMs;
  return a.metadata.name < b.metadata.name ? -1 : Number(a.metadata.name > b.metadata.name);
}
