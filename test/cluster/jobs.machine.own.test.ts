/** Jobs and CronJobs with real containers and the real kubectl. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Job } from "../../src/api/generated/batch/v1.ts";
import type { PodList } from "../../src/api/generated/core/v1.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealContainer, REAL_CLUSTER_NEEDS, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const WAIT_MS = 260_000;
const WAIT = "--timeout=240s";

function template(script: string, more: JsonObject = {}): JsonObject {
  return { spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1, containers: [aRealContainer("main", script, more)] } };
}

describe("Jobs with real containers", { ...needs(...REAL_CLUSTER_NEEDS), concurrency: 2 }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startRealCluster();
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  void test("a Job of 20 indexes of which four fail once completes each index, and counts the failures", async () => {
    const kubectl = await cluster.inNamespace("work");
    const fieldPath = "metadata.annotations['batch.kubernetes.io/job-index-failure-count']";
    const env = [{ name: "FAILURES", valueFrom: { fieldRef: { fieldPath } } }];
    const script = 'echo "$(hostname) $JOB_COMPLETION_INDEX"; [ "$FAILURES" -gt 0 ] || [ $((JOB_COMPLETION_INDEX % 5)) -ne 0 ]';
    const spec = {
      completionMode: "Indexed",
      completions: 20,
      parallelism: 8,
      backoffLimitPerIndex: 1,
      template: template(script, { env }),
    };
    await kubectl("create -f -", { input: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "work" }, spec } });

    await kubectl(`wait --for=condition=complete job/work ${WAIT}`, { timeoutMs: WAIT_MS });

    const { status } = JSON.parse(await kubectl("get job work -o json")) as Job;
    const { succeeded, failed, completedIndexes, failedIndexes, active = 0, ready, terminating } = status ?? {};
    deepEqual(
      { succeeded, failed, completedIndexes, failedIndexes, active, ready, terminating },
      { succeeded: 20, failed: 4, completedIndexes: "0-19", failedIndexes: "", active: 0, ready: 0, terminating: 0 },
    );
    const { items } = JSON.parse(await kubectl("get pods -o json")) as PodList;
    equal(items.length, 24);
    equal(items.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0).length, 0);
    const named = items.find(({ metadata, status: pod }) => metadata.name.startsWith("work-7-") && pod?.phase === "Succeeded");
    equal(await kubectl(`logs ${named?.metadata.name}`), "work-7 7\n");
    await kubectl(`delete job work ${WAIT}`, { timeoutMs: WAIT_MS });
  });

  void test("a CronJob starts Jobs, and kubectl create job --from starts one at once", async () => {
    const kubectl = await cluster.inNamespace("cron");
    const spec = { schedule: "@every 1s", concurrencyPolicy: "Forbid", jobTemplate: { spec: { template: template("date") } } };
    await kubectl("create -f -", { input: { apiVersion: "batch/v1", kind: "CronJob", metadata: { name: "tick" }, spec } });

    await kubectl(`wait --for=jsonpath={.status.lastSuccessfulTime} cronjob/tick ${WAIT}`, { timeoutMs: WAIT_MS });
    match(await kubectl("get jobs --no-headers"), /^tick-\d+ +(Complete|Running) +[01]\/1 /);

    await kubectl(`patch cronjob tick -p '{"spec":{"suspend":true}}'`);
    await kubectl("create job now --from=cronjob/tick");
    await kubectl(`wait --for=condition=complete job/now ${WAIT}`, { timeoutMs: WAIT_MS });
    await kubectl(`delete cronjob tick --cascade=foreground ${WAIT}`, { timeoutMs: WAIT_MS });
    equal(await kubectl("get jobs -o name"), "");
  });
});
