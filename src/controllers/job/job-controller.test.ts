import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { jobs } from "../../api/batch/v1/job.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { JobSpec } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { given, type Given } from "../../testing/given.ts";
import { after, onChange } from "../runtime/controller.ts";
import { markReady, podNames, podsOf, setLabels } from "../runtime/testing/pods.ts";
import { jobController } from "./job-controller.ts";
import { completionIndexOf, isTracked } from "./job-pods.ts";
import { aJob, endPod, jobStatus, simulatedKubelet, trueConditions, WORK } from "./testing/jobs.ts";

const INDEXED = { completionMode: "Indexed" as const };

function pass(cluster: Given) {
  return cluster.reconcile(jobController, "default/work");
}

function change(cluster: Given, spec: Partial<JobSpec>) {
  return cluster.client.patch(jobs, WORK, { type: "merge", value: { spec: spec as never } });
}

async function endAll(cluster: Given, exitCode: number): Promise<void> {
  for (const { metadata, status } of await podsOf(cluster)) {
    if (status?.phase !== "Succeeded" && status?.phase !== "Failed") await endPod(cluster, metadata.name, exitCode);
  }
}

test("a Job creates its Pods, emits SuccessfulCreate, and reports its start", async () => {
  await using cluster = await given(aJob({ completions: 3, parallelism: 2 }));

  deepEqual(await pass(cluster), onChange);

  const names = await podNames(cluster);
  deepEqual(cluster.actions, [
    "create pods default/work-*",
    "create pods default/work-*",
    'status jobs default/work {"startTime":"2026-01-01T00:00:00Z","active":2,"ready":0,"terminating":0,"uncountedTerminatedPods":{}}',
  ]);
  deepEqual(
    cluster.events.toSorted(),
    names.map((name) => `Normal SuccessfulCreate Job/work Created pod: ${name}`),
  );
  equal((await podsOf(cluster)).every(isTracked), true);
});

test("a Job that is not changed is not written again", async () => {
  await using cluster = await given(aJob({ completions: 3, parallelism: 2 }));
  await pass(cluster);
  cluster.actions.length = 0;

  deepEqual(await pass(cluster), onChange);

  deepEqual(cluster.actions, []);
});

test("a Job counts a succeeded Pod in three steps and starts the next one", async () => {
  await using cluster = await given(aJob({ completions: 2, parallelism: 1 }));
  await pass(cluster);
  const [pod] = await podsOf(cluster);
  const { uid = "", name = "" } = pod?.metadata ?? {};
  await endPod(cluster, name, 0);
  cluster.actions.length = 0;

  await pass(cluster);

  const common = '"startTime":"2026-01-01T00:00:00Z","active":1,"ready":0,"terminating":0';
  deepEqual(cluster.actions.map(sortedStatus), [
    "create pods default/work-*",
    sortedStatus(`status jobs default/work {${common},"uncountedTerminatedPods":{"succeeded":["${uid}"]}}`),
    `patch pods default/${name} {"metadata":{"uid":"${uid}","$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"]}}`,
    sortedStatus(`status jobs default/work {${common},"uncountedTerminatedPods":{},"succeeded":1}`),
  ]);
});

/** The order of members is of no interest. */
function sortedStatus(line: string): string {
  const [, head = "", json = ""] = /^(status \S+ \S+ )(.*)$/.exec(line) ?? [];
  return json === "" ? line : head + JSON.stringify(Object.entries(JSON.parse(json) as object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

test("a Job with enough succeeded Pods is complete, with all counts zero", async () => {
  await using cluster = await given(aJob());
  await pass(cluster);
  await cluster.clock.advance(5_000);
  await endAll(cluster, 0);
  cluster.events.length = 0;

  await pass(cluster);

  const { conditions = [], ...status } = await jobStatus(cluster);
  deepEqual(status, {
    startTime: "2026-01-01T00:00:00Z",
    completionTime: "2026-01-01T00:00:05Z",
    succeeded: 1,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  });
  const times = { lastProbeTime: "2026-01-01T00:00:05Z", lastTransitionTime: "2026-01-01T00:00:05Z" };
  const reached = { status: "True", reason: "CompletionsReached", message: "Reached expected number of succeeded pods", ...times };
  deepEqual(conditions, [
    { type: "SuccessCriteriaMet", ...reached },
    { type: "Complete", ...reached },
  ]);
  deepEqual(cluster.events, ["Normal Completed Job/work Job completed"]);
  equal((await podsOf(cluster)).some(isTracked), false);
});

test("a Job replaces a failed Pod after its back-off, which doubles", async () => {
  await using cluster = await given(aJob());
  await pass(cluster);

  await endAll(cluster, 1);
  deepEqual(await pass(cluster), after(10_000));
  await cluster.clock.advance(10_000);
  await pass(cluster);
  equal((await podsOf(cluster)).length, 2);

  await endAll(cluster, 1);
  deepEqual(await pass(cluster), after(20_000));
  deepEqual([(await jobStatus(cluster)).failed, (await jobStatus(cluster)).active], [2, undefined]);
});

test("a Job past its back-off limit deletes its Pods, counts them as failed, and fails once they are gone", async () => {
  await using cluster = await given(aJob({ completions: 3, parallelism: 2, backoffLimit: 0 }));
  await pass(cluster);
  const [first = ""] = await podNames(cluster);
  await endPod(cluster, first, 1);

  await pass(cluster);
  deepEqual(trueConditions(await jobStatus(cluster)), ["FailureTarget: BackoffLimitExceeded"]);
  equal((await jobStatus(cluster)).failed, 2);
  cluster.events.length = 0;
  await pass(cluster);

  deepEqual(trueConditions(await jobStatus(cluster)), ["FailureTarget: BackoffLimitExceeded", "Failed: BackoffLimitExceeded"]);
  deepEqual(await podNames(cluster), [first]);
  deepEqual(cluster.events, ["Warning BackoffLimitExceeded Job/work Job has reached the specified backoff limit"]);
});

test("a Job that exceeds its deadline fails, and is requeued for it", async () => {
  await using cluster = await given(aJob({ activeDeadlineSeconds: 30 }));
  deepEqual(await pass(cluster), after(30_000));
  await cluster.clock.advance(30_000);

  await pass(cluster);
  await pass(cluster);

  deepEqual(trueConditions(await jobStatus(cluster)), ["FailureTarget: DeadlineExceeded", "Failed: DeadlineExceeded"]);
  deepEqual(await podNames(cluster), []);
});

test("a suspended Job has no Pods and no start time; when resumed, it starts again", async () => {
  await using cluster = await given(aJob({ completions: 2, parallelism: 2, activeDeadlineSeconds: 100 }));
  await pass(cluster);
  cluster.events.length = 0;

  await change(cluster, { suspend: true });
  await pass(cluster);
  const { startTime, active = 0 } = await jobStatus(cluster);
  deepEqual([startTime, active, await podNames(cluster)], [undefined, 0, []]);
  equal(cluster.events.at(-1), "Normal Suspended Job/work Job suspended");

  await cluster.clock.advance(200_000);
  await change(cluster, { suspend: false });
  await pass(cluster);
  equal((await jobStatus(cluster)).startTime, "2026-01-01T00:03:20Z");
  deepEqual(
    (await jobStatus(cluster)).conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [["Suspended", "False", "JobResumed"]],
  );
  equal((await podNames(cluster)).length, 2);
  deepEqual([(await jobStatus(cluster)).failed, cluster.events.at(-1)], [undefined, "Normal Resumed Job/work Job resumed"]);
});

test("a Job created suspended creates nothing until it is resumed", async () => {
  await using cluster = await given(aJob({ suspend: true }));

  await pass(cluster);

  deepEqual(trueConditions(await jobStatus(cluster)), ["Suspended: JobSuspended"]);
  deepEqual([(await jobStatus(cluster)).startTime, await podNames(cluster)], [undefined, []]);
});

test("an indexed Job runs each index once and lists the completed ones", async () => {
  await using cluster = await given(aJob({ ...INDEXED, completions: 4, parallelism: 3 }));
  await pass(cluster);
  const indexes = (all: readonly Pod[]) => all.map((pod) => completionIndexOf(pod) ?? -1).toSorted((a, b) => a - b);
  deepEqual(indexes(await podsOf(cluster)), [0, 1, 2]);
  equal(
    (await podNames(cluster)).every((name) => /^work-[0-2]-[a-z0-9]{5}$/.test(name)),
    true,
  );

  const [first, , third] = await podsOf(cluster);
  await endPod(cluster, first?.metadata.name ?? "", 0);
  await endPod(cluster, third?.metadata.name ?? "", 0);
  await pass(cluster);
  deepEqual([(await jobStatus(cluster)).completedIndexes, (await jobStatus(cluster)).succeeded], ["0,2", 2]);
  deepEqual(indexes(await podsOf(cluster)), [0, 1, 2, 3]);

  await endAll(cluster, 0);
  await pass(cluster);
  deepEqual([(await jobStatus(cluster)).completedIndexes, trueConditions(await jobStatus(cluster)).length], ["0-3", 2]);
});

test("an elastic indexed Job shrinks and grows", async () => {
  await using cluster = await given(aJob({ ...INDEXED, completions: 3, parallelism: 3 }));
  await pass(cluster);
  await endPod(cluster, (await podNames(cluster))[2] ?? "", 0);
  await pass(cluster);
  equal((await jobStatus(cluster)).completedIndexes, "2");

  await change(cluster, { completions: 1, parallelism: 1 });
  await pass(cluster);
  deepEqual([(await jobStatus(cluster)).completedIndexes, (await jobStatus(cluster)).active], [undefined, 1]);

  await change(cluster, { completions: 3, parallelism: 3 });
  await pass(cluster);
  equal((await jobStatus(cluster)).active, 3);
});

test("an indexed Job with a limit per index continues after a failed index, and fails in the end", async () => {
  const spec = { ...INDEXED, completions: 2, parallelism: 2, backoffLimitPerIndex: 1 };
  await using cluster = await given(aJob(spec));
  await cluster.run(
    jobController,
    simulatedKubelet((pod) => (completionIndexOf(pod) === 0 ? 0 : 1)),
  );

  await cluster.clock.advance(60_000);
  await cluster.settled();

  const { succeeded, failed, completedIndexes, failedIndexes } = await jobStatus(cluster);
  deepEqual({ succeeded, failed, completedIndexes, failedIndexes }, { succeeded: 1, failed: 2, completedIndexes: "0", failedIndexes: "1" });
  deepEqual(trueConditions(await jobStatus(cluster)), ["FailureTarget: FailedIndexes", "Failed: FailedIndexes"]);
});

test("a success policy ends a Job, deletes its other Pods, and does not count them", async () => {
  const spec = { ...INDEXED, completions: 3, parallelism: 3, successPolicy: { rules: [{ succeededIndexes: "0" }] } };
  await using cluster = await given(aJob(spec));
  await pass(cluster);
  await endPod(cluster, (await podNames(cluster))[0] ?? "", 0);

  await pass(cluster);
  deepEqual(trueConditions(await jobStatus(cluster)), ["SuccessCriteriaMet: SuccessPolicy"]);
  await pass(cluster);

  const { conditions: _conditions, completionTime: _time, ...status } = await jobStatus(cluster);
  deepEqual(status, {
    startTime: "2026-01-01T00:00:00Z",
    succeeded: 1,
    completedIndexes: "0",
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  });
  deepEqual(trueConditions(await jobStatus(cluster)), ["SuccessCriteriaMet: SuccessPolicy", "Complete: SuccessPolicy"]);
  equal((await podNames(cluster)).length, 1);
});

test("a Pod failure policy fails a Job with the message of its rule", async () => {
  const podFailurePolicy = { rules: [{ action: "FailJob" as const, onExitCodes: { operator: "In" as const, values: [42] } }] };
  await using cluster = await given(aJob({ podFailurePolicy }));
  await pass(cluster);
  const [name = ""] = await podNames(cluster);
  await endPod(cluster, name, 42);

  await pass(cluster);

  const message = `Container main for pod default/${name} failed with exit code 42 matching FailJob rule at index 0`;
  deepEqual(
    (await jobStatus(cluster)).conditions?.map(({ type, message: text }) => [type, text]),
    [
      ["FailureTarget", message],
      ["Failed", message],
    ],
  );
  equal(cluster.events.at(-1), `Warning PodFailurePolicy Job/work ${message}`);
});

test("a Job reports ready Pods", async () => {
  await using cluster = await given(aJob({ completions: 2, parallelism: 2 }));
  await pass(cluster);
  await markReady(cluster, (await podNames(cluster))[0] ?? "");

  await pass(cluster);

  deepEqual([(await jobStatus(cluster)).ready, (await jobStatus(cluster)).active], [1, 2]);
});

test("a Job managed by another controller is left alone", async () => {
  await using cluster = await given(aJob({ managedBy: "example.com/queue" }));

  deepEqual(await pass(cluster), onChange);

  deepEqual(cluster.actions, []);
});

test("a Job adopts an orphaned Pod with the finalizer, and releases one whose labels no longer match", async () => {
  await using cluster = await given(aJob());
  await pass(cluster);
  const [name = ""] = await podNames(cluster);
  const value = { metadata: { ownerReferences: null, finalizers: null } };
  await cluster.client.patch(pods, { namespace: "default", name }, { type: "merge", value });

  await pass(cluster);
  const [adopted] = await podsOf(cluster);
  deepEqual([adopted?.metadata.ownerReferences?.[0]?.name, adopted !== undefined && isTracked(adopted)], ["work", true]);

  await setLabels(cluster, name, { "batch.kubernetes.io/controller-uid": null });
  await pass(cluster);
  const released = await cluster.client.get(pods, { namespace: "default", name });
  deepEqual([released.metadata.ownerReferences, isTracked(released)], [undefined, false]);
  equal((await podsOf(cluster)).length, 2);
});

test("a Job whose Pods are rejected reports those that exist, emits FailedCreate, and retries", async () => {
  const strict = { name: "strict", labels: { "pod-security.kubernetes.io/enforce": "baseline" } };
  const job = aJob({ completions: 9, parallelism: 9 });
  const template = { spec: { ...job.spec.template.spec, hostNetwork: true } };
  const key = { namespace: "strict", name: "work" };
  const forbidden = { ...job, metadata: key, spec: { ...job.spec, template } };
  await using cluster = await given({ apiVersion: "v1", kind: "Namespace", metadata: strict }, forbidden);

  await rejects(cluster.reconcile(jobController, key), { reason: "Forbidden" });

  equal(cluster.actions.filter((line) => line.startsWith("create")).length, 1);
  equal(cluster.events.length, 1);
  equal((await cluster.client.get(jobs, key)).status?.active, undefined);
});

test("Pods of a deleted Job lose the finalizer, so that they can be deleted", async () => {
  await using cluster = await given(aJob({ completions: 2, parallelism: 2 }));
  await cluster.run(jobController);
  await cluster.settled();
  equal((await podsOf(cluster)).filter(isTracked).length, 2);

  await cluster.client.delete(jobs, WORK, { propagationPolicy: "Background" });
  await cluster.settled();

  equal((await podsOf(cluster)).filter(isTracked).length, 0);
});

test("an orphaned Pod with the finalizer loses it", async () => {
  const metadata = { name: "stray", namespace: "default", finalizers: ["batch.kubernetes.io/job-tracking", "example.com/hold"] };
  await using cluster = await given({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "c", image: "i" }] } });

  await cluster.run(jobController);
  await cluster.settled();

  deepEqual((await podsOf(cluster))[0]?.metadata.finalizers, ["example.com/hold"]);
});

test("a running Job of 30 reconciles changes of its Pods in batches, and each is counted once", async () => {
  await using cluster = await given(aJob({ completions: 30, parallelism: 10 }));
  await cluster.run(
    jobController,
    simulatedKubelet(() => 0),
  );

  await cluster.clock.advance(30_000);
  await cluster.settled();

  deepEqual([(await jobStatus(cluster)).succeeded, (await podsOf(cluster)).length], [30, 30]);
  equal(cluster.actions.filter((line) => line.startsWith("status jobs")).length < 15, true);
});
