/** The real kubectl with an embedded cluster: Jobs and CronJobs on simulated nodes. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import type { CronJob, Job, JobList } from "../../src/api/generated/batch/v1.ts";
import type { PodList } from "../../src/api/generated/core/v1.ts";
import { startKubectlCluster } from "../../src/testing/clients/kubectl-cluster.ts";
import { needs } from "../../src/testing/needs.ts";

const simulation = { rules: [{ match: { ownerKind: "Job" }, settings: { exitCode: 0, logs: "done" } }] };
const { inNamespace, close } = await startKubectlCluster({ nodes: { count: 2, simulation } });
after(() => close());

const TEMPLATE = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example/work:1" }] } };

test("kubectl create job runs a Job to completion, and kubectl shows it", needs("kubectl"), async () => {
  const kubectl = await inNamespace("one");
  equal(await kubectl("create job work --image=example/work:1"), "job.batch/work created\n");

  await kubectl("wait --for=condition=complete job/work --timeout=120s");

  match(await kubectl("get job work --no-headers"), /^work +Complete +1\/1 +\w+ +\w+\n$/);
  equal(await kubectl("logs job/work"), "done\n");
  const described = await kubectl("describe job work");
  match(described, /Pods Statuses: +0 Active \(0 Ready\) \/ 1 Succeeded \/ 0 Failed/);
  match(described, /Normal +SuccessfulCreate .* Created pod: work-/);
  match(described, /Normal +Completed .* Job completed/);
});

test("an indexed Job of ten runs every index once", needs("kubectl"), async () => {
  const kubectl = await inNamespace("indexed");
  const spec = { completionMode: "Indexed", completions: 10, parallelism: 4, template: TEMPLATE };
  await kubectl("create -f -", { input: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "work" }, spec } });

  await kubectl("wait --for=condition=complete job/work --timeout=120s");

  const { status } = JSON.parse(await kubectl("get job work -o json")) as Job;
  deepEqual([status?.succeeded, status?.completedIndexes, status?.active ?? 0, status?.ready, status?.terminating], [10, "0-9", 0, 0, 0]);
  const { items } = JSON.parse(await kubectl("get pods -o json")) as PodList;
  deepEqual(
    items.map(({ spec: pod }) => pod?.hostname).toSorted((a = "", b = "") => a.localeCompare(b)),
    Array.from({ length: 10 }, (_, index) => `work-${index}`),
  );
  equal(await kubectl("delete job work"), 'job.batch "work" deleted from indexed namespace\n');
  await kubectl("wait --for=delete pods --all --timeout=120s");
});

test("a Job is suspended and resumed with kubectl patch", needs("kubectl"), async () => {
  const kubectl = await inNamespace("suspended");
  const spec = { suspend: true, template: TEMPLATE };
  await kubectl("create -f -", { input: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "work" }, spec } });
  await kubectl("wait --for=condition=suspended job/work --timeout=120s");
  match(await kubectl("get job work --no-headers"), /^work +Suspended +0\/1 /);

  await kubectl(`patch job work -p '{"spec":{"suspend":false}}'`);

  await kubectl("wait --for=condition=complete job/work --timeout=120s");
});

test("kubectl create cronjob schedules, and kubectl create job --from runs it at once", needs("kubectl"), async () => {
  const kubectl = await inNamespace("cron");
  equal(await kubectl("create cronjob tick --image=example/work:1 --schedule='0 0 1 1 *'"), "cronjob.batch/tick created\n");
  match(await kubectl("get cronjob tick --no-headers"), /^tick +0 0 1 1 \* +<none> +False +0 +<none> +\w+\n$/);

  equal(await kubectl("create job now --from=cronjob/tick"), "job.batch/now created\n");
  await kubectl("wait --for=condition=complete job/now --timeout=120s");

  const { metadata } = JSON.parse(await kubectl("get job now -o json")) as Job;
  deepEqual([metadata.annotations?.["cronjob.kubernetes.io/instantiate"], metadata.ownerReferences?.[0]?.name], ["manual", "tick"]);
  await kubectl("wait --for=jsonpath={.status.lastSuccessfulTime} cronjob/tick --timeout=120s");
});

test("a CronJob that is due creates a Job named after its minute, with the time in its time zone", needs("kubectl"), async () => {
  const kubectl = await inNamespace("every");
  const spec = { schedule: "@every 1s", timeZone: "Asia/Tokyo", jobTemplate: { spec: { template: TEMPLATE } } };
  await kubectl("create -f -", { input: { apiVersion: "batch/v1", kind: "CronJob", metadata: { name: "tick" }, spec } });

  await kubectl("wait --for=jsonpath={.status.lastSuccessfulTime} cronjob/tick --timeout=120s");

  const { status } = JSON.parse(await kubectl("get cronjob tick -o json")) as CronJob;
  equal(typeof status?.lastScheduleTime, "string");
  const { items } = JSON.parse(await kubectl("get jobs -o json")) as JobList;
  match(items[0]?.metadata.name ?? "", /^tick-\d{8}$/);
  match(items[0]?.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"] ?? "", /^\d{4}-\d\d-\d\dT[\d:]{8}\+09:00$/);
});

test("a finished Job with a TTL is deleted with its Pods", needs("kubectl"), async () => {
  const kubectl = await inNamespace("ttl");
  const spec = { ttlSecondsAfterFinished: 0, template: TEMPLATE };
  await kubectl("create -f -", { input: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "work" }, spec } });

  await kubectl("wait --for=delete job/work --timeout=120s");

  equal(await kubectl("get pods -o name"), "");
});
