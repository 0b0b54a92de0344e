/**
 * Creates the Jobs of a CronJob when they are due (due-run.ts), tracks the active ones in its status, and deletes old ones. The name of a Job
 * is that of its run, so a crash between the creation and the status starts nothing twice. Events are upstream's. Not here: running the Jobs
 * (controllers/job).
 */
import { cronJobs } from "../../api/batch/v1/cron-job.ts";
import { jobs } from "../../api/batch/v1/job.ts";
import type { CronJob, CronJobStatus, Job } from "../../api/generated/batch/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { conflict, isReason } from "../../api/machinery/status-error.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { deepEqual } from "../../base/deep.ts";
import { exponentialBounds } from "../../base/metrics/metric-series.ts";
import type { HistogramDefinition } from "../../base/metrics/metric-set.ts";
import { after, defineController, onChange, watch, type Controller, type Outcome, type Pass } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { controllerReference, itsController, itself, keyOf } from "../runtime/keys.ts";
import { messageOf } from "../shared/pod-control.ts";
import { observeJobs, outcomeOf, surplusHistory, withActive, withoutActive } from "./child-jobs.ts";
import { dueRun, nextRunInMs, type Timetable } from "./due-run.ts";
import { jobDraft, jobName } from "./job-draft.ts";
import { UTC, utcOnly, type TimeZones } from "./time-zone.ts";
import { hasTimeZone, timetableOf } from "./timetable-of.ts";

const SECOND_MS = 1_000;

export interface CronJobSettings {
  /** Default: UTC only. */
  readonly timeZones?: TimeZones;
}

export function cronJobController({ timeZones = utcOnly }: CronJobSettings = {}): Controller {
  return defineController({
    name: "cronjob-controller",
    aliases: ["cronjob"],
    account: "cronjob-controller",
    rules: [
      { apiGroups: ["batch"], resources: ["cronjobs"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["batch"], resources: ["cronjobs/status", "cronjobs/finalizers"], verbs: ["update"] },
      { apiGroups: ["batch"], resources: ["jobs"], verbs: ["get", "list", "watch", "create", "delete"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
    watches: [watch(cronJobs, itself), watch(jobs, itsController(cronJobs))],
    async reconcile(key, pass) {
      const cronJob = pass.read.get(cronJobs, key);
      return cronJob === undefined ? onChange : await keepCronJob(cronJob, timeZones, pass);
    },
  });
}

/** The result of a step: the next status, and when to reconcile again, or why it failed. The status is written in either case. */
interface Step {
  readonly status: CronJobStatus;
  readonly outcome: Outcome;
  readonly failure?: { readonly error: unknown };
}

async function keepCronJob(cronJob: CronJob, timeZones: TimeZones, pass: Pass): Promise<Outcome> {
  const children = pass.read.controlledBy(jobs, cronJob);
  const trimmed = await trimHistory(cronJob, children, pass);
  const status = await observeChildren({ ...cronJob, status: trimmed }, children, pass);
  const { outcome, failure, ...done } = await start({ ...cronJob, status }, timeZones, pass);
  if (!deepEqual(done.status, cronJob.status ?? {})) await pass.write.updateStatus(cronJobs, { ...cronJob, status: done.status });
  if (failure !== undefined) throw failure.error;
  return outcome;
}

/** A Job that cannot be deleted is tried again in the next pass, and does not delay the others. */
async function trimHistory(cronJob: CronJob, children: readonly Job[], pass: Pass): Promise<CronJobStatus> {
  const deleted: Job[] = [];
  for (const job of surplusHistory(children, cronJob.spec)) {
    try {
      await deleteJob(cronJob, job, pass);
      deleted.push(job);
    } catch (error) {
      if (pass.signal.aborted) throw error;
      pass.log.warn("Deleting a finished Job failed", { job: `${job.metadata.namespace}/${job.metadata.name}`, error });
    }
  }
  return withoutActive(cronJob.status ?? {}, deleted);
}

async function deleteJob(cronJob: CronJob, job: Job, { write, events }: Pass): Promise<void> {
  const { name, uid } = job.metadata;
  try {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await write.delete(jobs, keyOf(job), { propagationPolicy: "Background", ...preconditions });
  } catch (error) {
    events.record(cronJob, { type: "Warning", reason: "FailedDelete", message: `Deleted job: ${messageOf(error)}` });
    throw error;
  }
  events.record(cronJob, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted job ${name}` });
}

async function observeChildren(cronJob: CronJob, children: readonly Job[], pass: Pass): Promise<CronJobStatus> {
  const { events, write } = pass;
  const { status, completed, unexpected, missing } = observeJobs(children, cronJob.status ?? {});
  if (unexpected.length > 0) await mustBeCurrent(cronJob, pass);
  for (const { metadata } of unexpected) {
    const message = `Saw a job that the controller did not create or forgot: ${metadata.name}`;
    events.record(cronJob, { type: "Warning", reason: "UnexpectedJob", message });
  }
  for (const job of completed) {
    const message = `Saw completed job: ${job.metadata.name}, condition: ${outcomeOf(job)}`;
    events.record(cronJob, { type: "Normal", reason: "SawCompletedJob", message });
  }
  let left = status;
  for (const reference of missing) {
    const { namespace, name = "" } = reference;
    try {
      // A live read: the cache may not show a new Job yet.
      await write.get(jobs, { namespace, name });
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
      events.record(cronJob, { type: "Normal", reason: "MissingJob", message: `Active job went missing: ${name}` });
      left = withoutActive(left, [reference]);
    }
  }
  return left;
}

/** A live read: the cache may show a Job before the status that lists it. */
async function mustBeCurrent({ metadata }: CronJob, { write }: Pass): Promise<void> {
  const { namespace, name, resourceVersion = "0" } = metadata;
  const live = await write.get(cronJobs, { namespace, name });
  if (compareResourceVersions(live.metadata.resourceVersion ?? "0", resourceVersion) <= 0) return;
  throw conflict({ group: "batch", plural: "cronjobs" }, name, "the cache does not show its status yet");
}

/** Starts the Job that is due. `cronJob` has the status observed so far. */
async function start(cronJob: CronJob, timeZones: TimeZones, pass: Pass): Promise<Step> {
  const { metadata, spec, status = {} } = cronJob;
  const unchanged: Step = { status, outcome: onChange };
  if (metadata.deletionTimestamp !== undefined) return unchanged;
  const timetable = timetableOf(spec, timeZones);
  if ("reason" in timetable && timetable.reason === "UnknownTimeZone") return warn(cronJob, timetable, unchanged, pass);
  if (spec.suspend === true) return unchanged;
  if (hasTimeZone(spec.schedule)) warnOfTimeZone(cronJob, pass);
  if ("reason" in timetable) return warn(cronJob, timetable, unchanged, pass);

  const nowMs = pass.clock.now();
  const due = dueRun(cronJob, timetable, nowMs);
  if (due.is === "invalid") {
    return warn(cronJob, { reason: "InvalidSchedule", message: `invalid schedule: ${spec.schedule} : ${due.message}` }, unchanged, pass);
  }
  const later: Step = { status, outcome: after(Math.max(0, nextRunInMs(cronJob, timetable, nowMs))) };
  if (due.is === "none") return later;
  if (due.isTooManyMissed) {
    const message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    pass.events.record(cronJob, { type: "Warning", reason: "TooManyMissedTimes", message });
  }
  const refusal = refusalOf(cronJob, due.runMs, nowMs);
  if (refusal === undefined) return await startJob(cronJob, due.runMs, timetable, timeZones, pass);
  if (refusal.reason !== undefined) pass.events.record(cronJob, { type: refusal.type, reason: refusal.reason, message: refusal.message });
  return later;
}

function warn(cronJob: CronJob, { reason, message }: { reason: string; message: string }, step: Step, { events }: Pass): Step {
  events.record(cronJob, { type: "Warning", reason, message });
  return step;
}

function warnOfTimeZone(cronJob: CronJob, pass: Pass): void {
  const used = `CRON_TZ or TZ used in schedule ${quoteGo(cronJob.spec.schedule)} is not officially supported`;
  const message = `${used}, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`;
  pass.events.record(cronJob, { type: "Warning", reason: "UnsupportedSchedule", message });
}

type Refusal = { readonly reason: undefined } | { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string };

/** Why a due run is not started; undefined if it is. Without a reason: it was started before. */
function refusalOf(cronJob: CronJob, runMs: number, nowMs: number): Refusal | undefined {
  const { spec, status = {}, metadata } = cronJob;
  const { startingDeadlineSeconds, concurrencyPolicy } = spec;
  if (startingDeadlineSeconds !== undefined && runMs + startingDeadlineSeconds * SECOND_MS < nowMs) {
    const message = `Missed scheduled time to start a job: ${formatRfc1123(runMs)}`;
    return { type: "Warning", reason: "MissSchedule", message };
  }
  const name = jobName(cronJob, runMs);
  const isListed = status.active?.some((each) => each.name === name && each.namespace === metadata.namespace) === true;
  if (isListed || status.lastScheduleTime === formatTime(runMs)) return { reason: undefined };
  if (concurrencyPolicy === "Forbid" && (status.active?.length ?? 0) > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return { type: "Normal", reason: "JobAlreadyActive", message };
  }
  return undefined;
}

/** "Thu, 01 Jan 2026 00:00:00 +0000". */
function formatRfc1123(timeMs: number): string {
  return new Date(timeMs).toUTCString().replace("GMT", "+0000");
}

async function startJob(cronJob: CronJob, runMs: number, timetable: Timetable, timeZones: TimeZones, pass: Pass): Promise<Step> {
  let { status = {} } = cronJob;
  try {
    if (cronJob.spec.concurrencyPolicy === "Replace") status = await deleteActive({ ...cronJob, status }, pass);
    const { timeZone } = cronJob.spec;
    const zone = timeZone === undefined ? UTC : (timeZones(timeZone) ?? UTC);
    const job = await createJob(cronJob, runMs, zone, pass);
    // Another client's Job has the name.
    if (job === undefined) return { status, outcome: onChange };
    const started = { ...withActive(status, job), lastScheduleTime: formatTime(runMs) };
    const nextMs = nextRunInMs({ ...cronJob, status: started }, timetable, pass.clock.now());
    return { status: started, outcome: after(Math.max(0, nextMs)) };
  } catch (error) {
    return { status, outcome: onChange, failure: { error } };
  }
}

async function deleteActive(cronJob: CronJob, pass: Pass): Promise<CronJobStatus> {
  let { status = {} } = cronJob;
  for (const reference of status.active ?? []) {
    const { namespace, name = "" } = reference;
    const job = await liveJob(cronJob, { namespace, name }, pass);
    await deleteJob(cronJob, job, pass);
    status = withoutActive(status, [reference]);
  }
  return status;
}

async function liveJob(
  cronJob: CronJob,
  key: { readonly namespace?: string | undefined; readonly name: string },
  pass: Pass,
): Promise<Job> {
  try {
    return await pass.write.get(jobs, key);
  } catch (error) {
    pass.events.record(cronJob, { type: "Warning", reason: "FailedGet", message: `Get job: ${messageOf(error)}` });
    throw error;
  }
}

/** Upstream's. */
const CREATION_SKEW: HistogramDefinition = {
  type: "histogram",
  name: "cronjob_controller_job_creation_skew_duration_seconds",
  help: "Time between when a cronjob is scheduled to be run, and when the corresponding job is created",
  bounds: exponentialBounds(1, 2, 10),
};

/** A Job of this name that it controls was created by a process that died before it wrote the status. Undefined if it is of another client. */
async function createJob(cronJob: CronJob, runMs: number, zone: Parameters<typeof jobDraft>[2], pass: Pass): Promise<Job | undefined> {
  const { write, events, signal, metrics, clock } = pass;
  const draft = jobDraft(cronJob, runMs, zone);
  try {
    const job = await write.create(jobs, draft);
    metrics.observe(CREATION_SKEW, {}, (clock.now() - runMs) / SECOND_MS);
    events.record(cronJob, { type: "Normal", reason: "SuccessfulCreate", message: `Created job ${job.metadata.name}` });
    return job;
  } catch (error) {
    if (isReason(error, "AlreadyExists")) {
      const job = await write.get(jobs, { namespace: cronJob.metadata.namespace, name: jobName(cronJob, runMs) });
      return controllerReference(job)?.uid === cronJob.metadata.uid ? job : undefined;
    }
    if (!isNamespaceTerminating(error) && !signal.aborted) {
      events.record(cronJob, { type: "Warning", reason: "FailedCreate", message: `Error creating job: ${messageOf(error)}` });
    }
    throw error;
  }
}
