/**
 * batch/v1 CronJob: creates Jobs of a template on a schedule. Its Jobs are named after it and the minute, so its name must be shorter than
 * theirs. Not here: the controller (controllers/cron-job).
 */
import { deepEqual } from "../../../base/deep.ts";
import { containerColumns, nameWarnings, selectorColumn, shownSelector, statusSubresource } from "../../apps/v1/workload.ts";
import { changed, withChanges, withMembersOf } from "../../changes.ts";
import type { CronJob, CronJobSpec, JobSpec, JobTemplateSpec } from "../../generated/batch/v1.ts";
import { ageColumn, nameColumn, NONE, textColumn, UNSET } from "../../machinery/columns.ts";
import { ageOf } from "../../machinery/duration.ts";
import { invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { formatLabelSelector } from "../../machinery/selectors/label-selector.ts";
import { DNS_LABEL_LENGTH_MAX } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { nonNegative } from "../../number-validation.ts";
import { CronError, parseCronSchedule } from "./cron-schedule.ts";
import { defaultJobParts } from "./job/defaults.ts";
import { validateJobParts } from "./job/validate-spec.ts";
import { jobSpecWarnings } from "./job/warnings.ts";
import { timeZoneProblem } from "./time-zones.ts";

const CONCURRENCY_POLICIES = ["Allow", "Forbid", "Replace"];
const SUCCESSFUL_JOBS_LIMIT = 3;
const FAILED_JOBS_LIMIT = 1;
/** Length of the suffix of a Job's name: a dash and the minute, as ten digits. */
const SUFFIX_LENGTH = 11;
const NAME_LENGTH_MAX = DNS_LABEL_LENGTH_MAX - SUFFIX_LENGTH;
const JOB_SPEC = "spec.jobTemplate.spec";

export const cronJobs = defineResource<CronJob>({
  kind: "CronJob",
  plural: "cronjobs",
  singular: "cronjob",
  shortNames: ["cj"],
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "batch", version: "v1", schema: "io.k8s.api.batch.v1.CronJob", defaults: defaultCronJob }],

  prepareForCreate: (cronJob) => ({ ...cronJob, status: {} }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),
  changesGeneration,

  *validate({ metadata, spec }, previous) {
    yield* validateSpec(spec, previous?.spec);
    if (previous === undefined && metadata.name.length > NAME_LENGTH_MAX) {
      yield invalid("metadata.name", metadata.name, `must be no more than ${NAME_LENGTH_MAX} characters`);
    }
  },
  warnings: cronJobWarnings,

  // Upstream does not validate the status.
  subresources: { status: statusSubresource(() => []) },

  columns: [
    nameColumn,
    textColumn("Schedule", "Schedule in cron format", ({ spec }) => spec.schedule ?? ""),
    textColumn("Timezone", "Time zone of the schedule", ({ spec }) => spec.timeZone ?? NONE),
    textColumn("Suspend", "Whether scheduling is suspended", ({ spec }) => suspendText(spec.suspend), { type: "boolean" }),
    textColumn("Active", "Number of active Jobs", ({ status }) => status?.active?.length ?? 0, { type: "integer" }),
    textColumn("Last Schedule", "Time since the last Job was scheduled", ({ status }, { nowMs }) =>
      status?.lastScheduleTime === undefined ? NONE : ageOf(status.lastScheduleTime, nowMs),
    ),
    ageColumn,
    ...containerColumns<CronJob>(({ spec }) => spec.jobTemplate?.spec?.template),
    selectorColumn<CronJob>(({ spec }) => formatLabelSelector(spec.jobTemplate?.spec?.selector)),
  ],
});

function suspendText(suspend: boolean | undefined): string {
  return suspend === undefined ? UNSET : suspend ? "True" : "False";
}

function defaultCronJob(cronJob: CronJob): CronJob {
  return withChanges(cronJob, { spec: changed(cronJob.spec, defaultSpec) });
}

function defaultSpec(spec: CronJobSpec): CronJobSpec {
  return withChanges(spec, {
    concurrencyPolicy: spec.concurrencyPolicy || "Allow",
    suspend: spec.suspend ?? false,
    successfulJobsHistoryLimit: spec.successfulJobsHistoryLimit ?? SUCCESSFUL_JOBS_LIMIT,
    failedJobsHistoryLimit: spec.failedJobsHistoryLimit ?? FAILED_JOBS_LIMIT,
    jobTemplate: changed(spec.jobTemplate, (template) => withChanges(template, { spec: changed(template.spec, defaultJobParts) })),
  });
}

function changesGeneration(next: CronJob, previous: CronJob): boolean {
  return !deepEqual(next.spec, previous.spec);
}

function* validateSpec(spec: CronJobSpec, previous?: CronJobSpec): Iterable<FieldError> {
  const { timeZone } = spec;
  yield* validateSchedule(spec, previous);
  yield* nonNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds");
  if (timeZone !== undefined && (previous === undefined || timeZone !== previous.timeZone)) yield* validateTimeZone(timeZone);
  yield* validateConcurrencyPolicy(spec.concurrencyPolicy ?? "");
  yield* validateJobTemplate(spec.jobTemplate.spec, previous?.jobTemplate.spec);
  yield* nonNegative(spec.successfulJobsHistoryLimit, "spec.successfulJobsHistoryLimit");
  yield* nonNegative(spec.failedJobsHistoryLimit, "spec.failedJobsHistoryLimit");
}

/** A client may omit any member. */
function* validateSchedule({ schedule, timeZone }: Partial<CronJobSpec>, previous?: CronJobSpec): Iterable<FieldError> {
  const at = "spec.schedule";
  if (!schedule) return yield required(at);
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) yield invalid(at, schedule, problem);
  if (!schedule.includes("TZ")) return;
  // A stored schedule with a time zone, from before there was a field, remains valid.
  if (previous?.schedule.includes("TZ") !== true) {
    yield invalid(at, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (timeZone !== undefined) {
    yield invalid(at, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

function scheduleProblem(schedule: string): string | undefined {
  try {
    parseCronSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}

/** One part of a name of the IANA database, and of a few older names. */
const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

function* validateTimeZone(timeZone: string): Iterable<FieldError> {
  const at = "spec.timeZone";
  if (timeZone === "") return yield invalid(at, timeZone, "timeZone must be nil or non-empty string");
  const isPart = (part: string) => part !== "." && part !== ".." && !part.startsWith("-") && ZONE_PART.test(part);
  if (!timeZone.split("/").every(isPart)) return yield invalid(at, timeZone, `unknown time zone ${timeZone}`);
  if (timeZone.toLowerCase() === "local") {
    yield invalid(at, timeZone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
  const problem = timeZoneProblem(timeZone);
  if (problem !== undefined) yield invalid(at, timeZone, problem);
}

function* validateConcurrencyPolicy(policy: string): Iterable<FieldError> {
  const at = "spec.concurrencyPolicy";
  if (policy === "") yield required(at);
  else if (!CONCURRENCY_POLICIES.includes(policy)) yield notSupported(at, policy, CONCURRENCY_POLICIES);
}

/** The selector is derived from each Job's uid, so the template cannot have one. */
function* validateJobTemplate(spec: JobTemplateSpec["spec"], previous?: JobSpec): Iterable<FieldError> {
  if (spec === undefined) return;
  yield* validateJobParts(spec, JOB_SPEC, previous);
  if (spec.selector !== undefined) yield invalid(`${JOB_SPEC}.selector`, shownSelector(spec.selector), "`selector` will be auto-generated");
  if (spec.manualSelector === true) yield notSupported(`${JOB_SPEC}.manualSelector`, true, ["nil", "false"]);
}

function* cronJobWarnings(cronJob: CronJob, previous?: CronJob): Iterable<string> {
  const { spec, metadata } = cronJob;
  if (previous === undefined) yield* nameWarnings(metadata.name);
  if ((previous === undefined || changesGeneration(cronJob, previous)) && spec.jobTemplate.spec !== undefined) {
    yield* jobSpecWarnings(spec.jobTemplate.spec, JOB_SPEC);
  }
  if (previous !== undefined && spec.schedule.includes("TZ")) {
    const advice = "use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
    yield `cannot use TZ or CRON_TZ in spec.spec.schedule, ${advice}`;
  }
}
