/** A CronJob's year under virtual time, pass by pass, with clock changes in spring and autumn. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { cronJobs } from "../../api/batch/v1/cron-job.ts";
import type { CronJob, CronJobSpec, Job } from "../../api/generated/batch/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { stub } from "../../base/testing/stub.ts";
import type { Clock } from "../../base/clock.ts";
import { MetricSet } from "../../base/metrics/metric-set.ts";
import type { Client, Draft, ObjectKey, ResourceKind } from "../../client/client.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { Reader } from "../../client/informer/informer.ts";
import type { ControllerContext, Pass } from "../runtime/controller.ts";
import { cronJobController } from "./cron-job-controller.ts";
import { BERLIN } from "./testing/zones.ts";

const SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const START_MS = Date.UTC(2026, 0, 1);
const END_MS = Date.UTC(2027, 0, 1);

/** Runs a CronJob from pass to pass until the end of the year; every Job completes at once. Resolves with the scheduled times of its Jobs. */
async function runsOfYear(spec: Partial<CronJobSpec>): Promise<readonly string[]> {
  const runs: string[] = [];
  const existing = new Map<string, Job>();
  let nowMs = START_MS;
  let cronJob: CronJob = {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "tick", namespace: "default", uid: "u", creationTimestamp: formatTime(START_MS) },
    spec: { schedule: "", timeZone: "Europe/Berlin", successfulJobsHistoryLimit: 3, jobTemplate: {}, ...spec },
  };
  const write = {
    create(_kind: ResourceKind, draft: Draft<KubeObject>): Promise<Job> {
      const time = formatTime(nowMs);
      const conditions = [{ type: "Complete", status: "True" }];
      const name = draft.metadata.name ?? "";
      const metadata = { ...draft.metadata, name, uid: name };
      const job: Job = { apiVersion: "batch/v1", kind: "Job", metadata, status: { startTime: time, completionTime: time, conditions } };
      equal(existing.has(name), false, `${name} is created twice`);
      existing.set(name, job);
      runs.push(metadata.annotations?.[SCHEDULED] ?? "");
      return Promise.resolve(job);
    },
    delete(_kind: ResourceKind, { name }: ObjectKey): Promise<undefined> {
      existing.delete(name);
      return Promise.resolve(undefined);
    },
    updateStatus(_kind: ResourceKind, object: KubeObject): Promise<KubeObject> {
      cronJob = object as CronJob;
      return Promise.resolve(object);
    },
  };
  const pass = stub<Pass>({
    read: stub<Reader>({
      get: (kind: ResourceKind) => (kind.plural === cronJobs.plural ? cronJob : undefined),
      controlledBy: () => [...existing.values()],
    }),
    write: stub<Client>(write),
    events: stub<EventRecorder>({ record() {} }),
    clock: stub<Clock>({ now: () => nowMs }),
    metrics: new MetricSet(),
  });
  const reconcile = cronJobController({ timeZones: () => BERLIN }).start(stub<ControllerContext>({}));
  while (nowMs < END_MS) {
    const outcome = await reconcile({ namespace: "default", name: "tick" }, pass);
    equal(outcome.again, "after");
    nowMs += outcome.again === "after" ? outcome.delayMs : 0;
    equal(existing.size <= 4, true, "the history is limited");
  }
  return runs;
}

test("in a year with both clock changes a daily CronJob runs by the clock on the wall", async () => {
  const runs = await runsOfYear({ schedule: "30 2 * * *" });

  // Skipped on March 29th, twice on October 25th.
  equal(runs.length, 365);
  deepEqual(runs.slice(0, 2), ["2026-01-01T02:30:00+01:00", "2026-01-02T02:30:00+01:00"]);
  const on = (date: string) => runs.filter((run) => run.startsWith(date));
  deepEqual(on("2026-03-29"), []);
  deepEqual(on("2026-03-30"), ["2026-03-30T02:30:00+02:00"]);
  deepEqual(on("2026-10-25"), ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"]);
  equal(runs.at(-1), "2026-12-31T02:30:00+01:00");
});

test("a CronJob every six hours runs four times a day in a year with both clock changes", async () => {
  const runs = await runsOfYear({ schedule: "0 */6 * * *" });

  const days = new Map<string, number>();
  for (const run of runs) days.set(run.slice(0, 10), (days.get(run.slice(0, 10)) ?? 0) + 1);
  // It is created on the first day at 01:00.
  deepEqual([days.size, days.get("2026-01-01"), days.get("2026-03-29"), days.get("2026-10-25")], [366, 3, 4, 4]);
});

test("a CronJob at midnight runs once a day in a year with both clock changes", async () => {
  const runs = await runsOfYear({ schedule: "@daily" });

  equal(new Set(runs.map((run) => run.slice(0, 10))).size, 365);
  equal(
    runs.every((run) => run.includes("T00:00:00")),
    true,
  );
});
