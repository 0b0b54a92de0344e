import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { jobs } from "../../api/batch/v1/job.ts";
import type { JobStatus } from "../../api/generated/batch/v1.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { after, onChange } from "../runtime/controller.ts";
import { ttlAfterFinishedController } from "./ttl-after-finished-controller.ts";

const WORK = { namespace: "default", name: "work" };
const AT = { lastTransitionTime: "2026-01-01T00:00:00Z", lastProbeTime: "2026-01-01T00:00:00Z" };
const COMPLETE: JobStatus = {
  startTime: "2026-01-01T00:00:00Z",
  completionTime: "2026-01-01T00:00:00Z",
  conditions: ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True", ...AT })),
};
const FAILED: JobStatus = {
  startTime: "2026-01-01T00:00:00Z",
  conditions: ["FailureTarget", "Failed"].map((type) => ({ type, status: "True", ...AT })),
};

function aJob(ttlSecondsAfterFinished: number | undefined, status: JobStatus = {}) {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  const ttl = ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished };
  return { apiVersion: "batch/v1", kind: "Job", metadata: WORK, spec: { template, ...ttl }, status };
}

for (const [outcome, status] of [
  ["complete", COMPLETE],
  ["failed", FAILED],
] as const) {
  test(`a ${outcome} Job is deleted when its TTL expires, with its Pods in the foreground`, async () => {
    await using cluster = await given(aJob(60, status));

    deepEqual(await cluster.reconcile(ttlAfterFinishedController, WORK), after(60_000));
    deepEqual(cluster.actions, []);
    await cluster.clock.advance(60_000);
    await cluster.reconcile(ttlAfterFinishedController, WORK);

    deepEqual(cluster.actions, ["delete jobs default/work"]);
    deepEqual((await cluster.client.get(jobs, WORK)).metadata.finalizers, ["foregroundDeletion"]);
  });
}

for (const [title, job] of [
  ["without a TTL", aJob(undefined, COMPLETE)],
  ["that has not finished", aJob(0)],
] as const) {
  test(`a Job ${title} is kept`, async () => {
    await using cluster = await given(job);

    deepEqual(await cluster.reconcile(ttlAfterFinishedController, WORK), onChange);

    deepEqual(cluster.actions, []);
  });
}

test("a TTL of 0 deletes a Job as soon as it has finished", async () => {
  await using cluster = await given(aJob(0, COMPLETE));

  await cluster.reconcile(ttlAfterFinishedController, WORK);

  deepEqual(cluster.actions, ["delete jobs default/work"]);
});

test("a running controller deletes a Job at its extended TTL", async () => {
  await using cluster = await given(aJob(60, COMPLETE));
  await cluster.run(ttlAfterFinishedController);
  await cluster.clock.advance(30_000);
  await cluster.client.patch(jobs, WORK, { type: "merge", value: { spec: { ttlSecondsAfterFinished: 90 } } });

  await cluster.clock.advance(59_000);
  equal((await cluster.client.get(jobs, WORK)).metadata.deletionTimestamp, undefined);
  await cluster.clock.advance(2_000);
  await cluster.settled();

  equal((await cluster.client.get(jobs, WORK)).metadata.deletionTimestamp !== undefined, true);
});

test("a Job with a TTL is deleted after a crash at any step", async () => {
  await everyStepMayBeTheLast({ objects: [aJob(30, COMPLETE)], controllers: () => [ttlAfterFinishedController] }, { disturbedRuns: 2 });
});
