import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { cronJobs } from "../../api/batch/v1/cron-job.ts";
import { jobs } from "../../api/batch/v1/job.ts";
import type { CronJobSpec, CronJobStatus, JobStatus } from "../../api/generated/batch/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { after, defineController, onChange, watch } from "../runtime/controller.ts";
import { itself } from "../runtime/keys.ts";
import { cronJobController } from "./cron-job-controller.ts";
import { BERLIN } from "./testing/zones.ts";
import { utcOnly } from "./time-zone.ts";

const TICK = { namespace: "default", name: "tick" };
const MINUTE_MS = 60_000;
const controller = cronJobController({ timeZones: (name) => (name === "Europe/Berlin" ? BERLIN : utcOnly(name)) });

function aCronJob(spec: Partial<CronJobSpec> = {}) {
  const template = { spec: { restartPolicy: "OnFailure" as const, containers: [{ name: "c", image: "i" }] } };
  const jobTemplate = { metadata: { labels: { app: "tick" }, annotations: { note: "x" } }, spec: { template } };
  return { apiVersion: "batch/v1", kind: "CronJob", metadata: TICK, spec: { schedule: "*/10 * * * *", jobTemplate, ...spec } };
}

function pass(cluster: Given) {
  return cluster.reconcile(controller, "default/tick");
}

/** Ten minutes and a bit: the next run is due. */
async function passNextRun(cluster: Given) {
  await cluster.clock.advance(10 * MINUTE_MS);
  return await pass(cluster);
}

async function statusOf(cluster: Given): Promise<CronJobStatus> {
  return (await cluster.client.get(cronJobs, TICK)).status ?? {};
}

function finishedStatus(outcome: "Complete" | "Failed", time: string): JobStatus {
  const types = outcome === "Complete" ? ["SuccessCriteriaMet", "Complete"] : ["FailureTarget", "Failed"];
  const conditions = types.map((type) => ({ type, status: "True", lastTransitionTime: time, lastProbeTime: time }));
  return { startTime: time, conditions, ...(outcome === "Complete" ? { completionTime: time } : {}) };
}

async function finish(cluster: Given, name: string, outcome: "Complete" | "Failed" = "Complete"): Promise<void> {
  const job = await cluster.client.get(jobs, { namespace: "default", name });
  await cluster.client.updateStatus(jobs, { ...job, status: finishedStatus(outcome, formatTime(cluster.clock.now())) });
}

const jobNames = async (cluster: Given) => (await cluster.list(jobs, "default")).map(({ metadata }) => metadata.name);
/** 2026-01-01T00:00:00Z in minutes. */
const START = Date.UTC(2026, 0, 1) / MINUTE_MS;

test("a CronJob waits for its first run", async () => {
  await using cluster = await given(aCronJob());

  deepEqual(await pass(cluster), after(10 * MINUTE_MS + 100));

  deepEqual(cluster.actions, []);
});

test("a due run creates a Job named after its minute, with the scheduled time, and lists it as active", async () => {
  await using cluster = await given(aCronJob());

  deepEqual(await passNextRun(cluster), after(10 * MINUTE_MS + 100));

  const [job] = await cluster.list(jobs, "default");
  const { name, labels, annotations, ownerReferences, uid, resourceVersion } = job?.metadata ?? {};
  equal(name, `tick-${START + 10}`);
  equal(labels?.["app"], "tick");
  deepEqual(annotations, { note: "x", "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:10:00Z" });
  deepEqual([ownerReferences?.[0]?.kind, ownerReferences?.[0]?.controller], ["CronJob", true]);
  deepEqual(await statusOf(cluster), {
    active: [{ kind: "Job", namespace: "default", name, uid, apiVersion: "batch/v1", resourceVersion }],
    lastScheduleTime: "2026-01-01T00:10:00Z",
  });
  deepEqual(cluster.events, [`Normal SuccessfulCreate CronJob/tick Created job tick-${START + 10}`]);

  cluster.actions.length = 0;
  deepEqual(await pass(cluster), after(10 * MINUTE_MS + 100));
  deepEqual(cluster.actions, []);
});

test("a CronJob sees a completed Job, and keeps the time of its success", async () => {
  await using cluster = await given(aCronJob());
  await passNextRun(cluster);
  await cluster.clock.advance(MINUTE_MS);
  await finish(cluster, `tick-${START + 10}`);

  await pass(cluster);

  deepEqual(await statusOf(cluster), { lastScheduleTime: "2026-01-01T00:10:00Z", lastSuccessfulTime: "2026-01-01T00:11:00Z" });
  equal(cluster.events.at(-1), `Normal SawCompletedJob CronJob/tick Saw completed job: tick-${START + 10}, condition: Complete`);
});

test("the concurrency policy Allow starts a Job beside a running one", async () => {
  await using cluster = await given(aCronJob());

  await passNextRun(cluster);
  await passNextRun(cluster);

  deepEqual([(await jobNames(cluster)).length, (await statusOf(cluster)).active?.length], [2, 2]);
});

test("the concurrency policy Forbid skips a run while a Job runs, and starts the latest one afterwards", async () => {
  await using cluster = await given(aCronJob({ concurrencyPolicy: "Forbid" }));
  await passNextRun(cluster);

  deepEqual(await passNextRun(cluster), after(10 * MINUTE_MS + 100));
  deepEqual(await jobNames(cluster), [`tick-${START + 10}`]);
  const refused = "Not starting job because prior execution is running and concurrency policy is Forbid";
  equal(cluster.events.at(-1), `Normal JobAlreadyActive CronJob/tick ${refused}`);

  await finish(cluster, `tick-${START + 10}`);
  await pass(cluster);
  deepEqual(await jobNames(cluster), [`tick-${START + 10}`, `tick-${START + 20}`]);
});

test("the concurrency policy Replace deletes the running Job", async () => {
  await using cluster = await given(aCronJob({ concurrencyPolicy: "Replace" }));
  await passNextRun(cluster);

  await passNextRun(cluster);

  deepEqual(await jobNames(cluster), [`tick-${START + 20}`]);
  deepEqual(
    (await statusOf(cluster)).active?.map(({ name }) => name),
    [`tick-${START + 20}`],
  );
  deepEqual(cluster.events.slice(1), [
    `Normal SuccessfulDelete CronJob/tick Deleted job tick-${START + 10}`,
    `Normal SuccessfulCreate CronJob/tick Created job tick-${START + 20}`,
  ]);
});

test("a suspended CronJob starts nothing", async () => {
  await using cluster = await given(aCronJob({ suspend: true }));

  deepEqual(await passNextRun(cluster), onChange);

  deepEqual(await jobNames(cluster), []);
});

test("a run beyond the starting deadline is not started", async () => {
  await using cluster = await given(aCronJob({ startingDeadlineSeconds: 30 }));
  await cluster.clock.advance(10 * MINUTE_MS + 40_000);

  deepEqual(await pass(cluster), after(10 * MINUTE_MS - 40_000 + 100));

  deepEqual(await jobNames(cluster), []);
});

test("many missed runs are reported, and the latest one is started", async () => {
  await using cluster = await given(aCronJob());
  await cluster.clock.advance(1_500 * MINUTE_MS);

  await pass(cluster);

  deepEqual(await jobNames(cluster), [`tick-${START + 1_500}`]);
  const message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
  equal(cluster.events[0], `Warning TooManyMissedTimes CronJob/tick ${message}`);
});

test("history limits delete old finished Jobs", async () => {
  await using cluster = await given(aCronJob({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 }));
  for (const outcome of ["Complete", "Failed", "Complete"] as const) {
    await passNextRun(cluster);
    const names = await jobNames(cluster);
    await finish(cluster, names.at(-1) ?? "", outcome);
  }
  cluster.events.length = 0;

  await pass(cluster);

  deepEqual(await jobNames(cluster), [`tick-${START + 20}`, `tick-${START + 30}`]);
  equal(cluster.events[0], `Normal SuccessfulDelete CronJob/tick Deleted job tick-${START + 10}`);
});

test("a Job of another client with the CronJob as controller is reported, and not counted as active", async () => {
  await using cluster = await given(aCronJob());
  const { uid = "" } = (await cluster.client.get(cronJobs, TICK)).metadata;
  const reference = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid, controller: true };
  const spec = { template: { spec: { restartPolicy: "Never" as const, containers: [{ name: "c", image: "i" }] } } };
  const metadata = { name: "manual", namespace: "default", ownerReferences: [reference] };
  await cluster.client.create(jobs, { apiVersion: "batch/v1", kind: "Job", metadata, spec });

  await pass(cluster);

  deepEqual(cluster.events, ["Warning UnexpectedJob CronJob/tick Saw a job that the controller did not create or forgot: manual"]);
  deepEqual(await statusOf(cluster), {});
});

test("an active Job that was deleted is reported and no longer listed", async () => {
  await using cluster = await given(aCronJob());
  await passNextRun(cluster);
  await cluster.client.delete(jobs, { namespace: "default", name: `tick-${START + 10}` }, { propagationPolicy: "Background" });

  await pass(cluster);

  equal(cluster.events.at(-1), `Normal MissingJob CronJob/tick Active job went missing: tick-${START + 10}`);
  deepEqual(await statusOf(cluster), { lastScheduleTime: "2026-01-01T00:10:00Z" });
});

test("a Job of the run's name that exists is listed as active, not created again", async () => {
  await using cluster = await given(aCronJob());
  await passNextRun(cluster);
  const cronJob = await cluster.client.get(cronJobs, TICK);
  await cluster.client.updateStatus(cronJobs, { ...cronJob, status: {} });

  await pass(cluster);

  deepEqual(
    (await statusOf(cluster)).active?.map(({ name }) => name),
    [`tick-${START + 10}`],
  );
  deepEqual(await jobNames(cluster), [`tick-${START + 10}`]);
});

test("a time zone that is unknown here is reported", async () => {
  await using cluster = await given(aCronJob({ timeZone: "Asia/Tokyo" }));

  deepEqual(await passNextRun(cluster), onChange);

  deepEqual(cluster.events, ['Warning UnknownTimeZone CronJob/tick invalid timeZone: "Asia/Tokyo": unknown time zone Asia/Tokyo']);
});

test("a schedule that never runs is reported", async () => {
  await using cluster = await given(aCronJob({ schedule: "59 23 31 2 *" }));

  deepEqual(await passNextRun(cluster), onChange);

  const message = "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second";
  deepEqual(cluster.events, [`Warning InvalidSchedule CronJob/tick ${message}`]);
});

test("a Job that is rejected is reported and retried", async () => {
  const valid = aCronJob();
  // Only the Job's own metadata is validated, not that of the template.
  const jobTemplate = { ...valid.spec.jobTemplate, metadata: { labels: { app: "not valid" } } };
  await using cluster = await given(aCronJob({ jobTemplate }));

  await rejects(passNextRun(cluster), { reason: "Invalid" });

  equal(
    cluster.events[0]?.startsWith(`Warning FailedCreate CronJob/tick Error creating job: Job.batch "tick-${START + 10}" is invalid`),
    true,
  );
});

/** Completes every Job at once. */
const obedientJobs = defineController({
  name: "obedient",
  account: "job-controller",
  rules: [{ apiGroups: ["batch"], resources: ["jobs/status"], verbs: ["update"] }],
  watches: [watch(jobs, itself)],
  async reconcile(key, { read, write, clock }) {
    const job = read.get(jobs, key);
    if (job !== undefined && job.status?.startTime === undefined) {
      await write.updateStatus(jobs, { ...job, status: finishedStatus("Complete", formatTime(clock.now())) });
    }
    return onChange;
  },
});

const CRASHES = {
  "whose Jobs complete": { concurrencyPolicy: "Forbid" as const, others: [obedientJobs] },
  "that replaces its running Job": { concurrencyPolicy: "Replace" as const, others: [] },
};

for (const [it, { concurrencyPolicy, others }] of Object.entries(CRASHES)) {
  test(`a CronJob ${it} creates each Job once after a crash at any step`, async () => {
    await everyStepMayBeTheLast(
      {
        objects: [aCronJob({ concurrencyPolicy, schedule: "* * * * *" })],
        controllers: () => [controller, ...others],
        // Suspended in the end, so that it comes to rest.
        steps: [async ({ client }) => void (await client.patch(cronJobs, TICK, { type: "merge", value: { spec: { suspend: true } } }))],
        restMs: 2 * MINUTE_MS + 10_000,
      },
      { deathsMax: rounds({ quick: 5, full: 1_000 }), disturbedRuns: rounds({ quick: 1, full: 20 }) },
    );
  });
}
