/** The Job of one run of a CronJob. Its name is derived from the scheduled time, so that no run is started twice. Pure. */
import type { CronJob, Job } from "../../api/generated/batch/v1.ts";
import type { Draft } from "../../client/client.ts";
import { controlledBy } from "../runtime/keys.ts";
import { formatLocalTime, type TimeZone } from "./time-zone.ts";

const SCHEDULED_TIME = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const MINUTE_MS = 60_000;

export function jobName({ metadata }: CronJob, runMs: number): string {
  return `${metadata.name}-${Math.floor(runMs / MINUTE_MS)}`;
}

/** `zone`: that of `spec.timeZone`, or UTC. */
export function jobDraft(cronJob: CronJob, runMs: number, zone: TimeZone): Draft<Job> {
  const { metadata = {}, spec } = cronJob.spec.jobTemplate;
  const { namespace } = cronJob.metadata;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: jobName(cronJob, runMs),
      ...(namespace === undefined ? {} : { namespace }),
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      annotations: { ...metadata.annotations, [SCHEDULED_TIME]: formatLocalTime(runMs, zone) },
      ownerReferences: [controlledBy(cronJob)],
    },
    ...(spec === undefined ? {} : { spec }),
  };
}
