import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { jobs } from "../../api/batch/v1/job.ts";
import type { JobSpec } from "../../api/generated/batch/v1.ts";
import type { Family, HistogramFamily } from "../../base/metrics/prometheus-text.ts";
import { given } from "../../testing/given.ts";
import { podsOf } from "../runtime/testing/pods.ts";
import { jobController } from "./job-controller.ts";
import { completionIndexOf } from "./job-pods.ts";
import { aJob, endPod, simulatedKubelet, WORK } from "./testing/jobs.ts";

/** Counters as lines: `pods_finished Indexed failed 2`. */
function counters(families: readonly (Family | HistogramFamily)[], ...wanted: readonly string[]): readonly string[] {
  return families.flatMap(({ name, samples }) => {
    const short = name.replace(/^job_controller_(.*)_total$/, "$1");
    if (!wanted.includes(short)) return [];
    return samples.map((sample) => [short, ...Object.values(sample.labels), "value" in sample ? sample.value : ""].join(" ")).toSorted();
  });
}

const POLICY: Partial<JobSpec> = {
  backoffLimit: 6,
  parallelism: 3,
  completions: 3,
  podFailurePolicy: {
    rules: [
      { action: "Ignore", onExitCodes: { operator: "In", values: [7] } },
      { action: "Count", onExitCodes: { operator: "In", values: [8] } },
    ],
  },
};

test("failures are counted by the action of the Pod failure policy, and Pods by the reason of their creation", async () => {
  await using cluster = await given(aJob(POLICY));
  await cluster.reconcile(jobController, "default/work");
  const codes = [7, 8, 9].values();
  for (const { metadata } of await podsOf(cluster)) await endPod(cluster, metadata.name, codes.next().value ?? 0);

  await cluster.reconcile(jobController, "default/work");
  await cluster.clock.advance(60_000);
  await cluster.reconcile(jobController, "default/work");

  deepEqual(counters(cluster.metrics.families(), "job_pods_creation", "pod_failures_handled_by_failure_policy", "job_pods_finished"), [
    "job_pods_creation new succeeded 3",
    "job_pods_creation recreate_failed succeeded 3",
    "job_pods_finished NonIndexed failed 2",
    "pod_failures_handled_by_failure_policy Count 1",
    "pod_failures_handled_by_failure_policy Ignore 1",
  ]);
});

test("finished indexes are counted once, by outcome and kind of back-off limit, and so are terminated Pods with the finalizer", async () => {
  const spec: Partial<JobSpec> = { completionMode: "Indexed", completions: 3, parallelism: 3, backoffLimitPerIndex: 0 };
  await using cluster = await given(aJob(spec));

  const running = await cluster.run(
    jobController,
    simulatedKubelet((pod) => (completionIndexOf(pod) === 1 ? 1 : 0)),
  );
  await cluster.clock.advance(60_000);

  const wanted = ["job_finished_indexes", "job_pods_finished", "terminated_pods_tracking_finalizer", "jobs_finished"];
  deepEqual(counters(running.metrics(), ...wanted), [
    "job_finished_indexes failed perIndex 1",
    "job_finished_indexes succeeded perIndex 2",
    "job_pods_finished Indexed failed 1",
    "job_pods_finished Indexed succeeded 2",
    "jobs_finished Indexed failed FailedIndexes 1",
    "terminated_pods_tracking_finalizer add 3",
    "terminated_pods_tracking_finalizer delete 3",
  ]);
});

test("Jobs of other controllers are counted by the controller's name", async () => {
  await using cluster = await given(aJob({ managedBy: "example.com/queue" }));
  const running = await cluster.run(jobController);

  await cluster.client.patch(jobs, WORK, { type: "merge", value: { metadata: { labels: { a: "b" } } } });
  await cluster.settled();

  deepEqual(counters(running.metrics(), "jobs_by_external_controller"), ["jobs_by_external_controller example.com/queue 1"]);
});
