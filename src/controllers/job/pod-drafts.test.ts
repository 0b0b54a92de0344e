import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../../api/generated/batch/v1.ts";
import { indexedDraft, trackedDraft } from "./pod-drafts.ts";
import { jobWith, podWith } from "./testing/jobs.ts";

const FIELD = { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } };
const OWN = { name: "JOB_COMPLETION_INDEX", value: "own" };

function aJob(spec = {}, name = "work"): Job {
  const containers = [
    { name: "main", image: "i" },
    { name: "own", image: "i", env: [OWN] },
  ];
  const template = { metadata: { labels: { app: "x" } }, spec: { containers, initContainers: [{ name: "init", image: "i" }] } };
  const job = jobWith({ template, ...spec });
  return { ...job, metadata: { ...job.metadata, name } };
}

test("a Pod of a Job has the tracking finalizer and the Job's name as prefix", () => {
  const { metadata } = trackedDraft(aJob());

  deepEqual([metadata.generateName, metadata.finalizers], ["work-", ["batch.kubernetes.io/job-tracking"]]);
});

test("a Pod of an index has its index as annotation, label, host name and environment variable", () => {
  const { metadata, spec } = indexedDraft(aJob(), 7, undefined);

  equal(metadata.generateName, "work-7-");
  deepEqual(metadata.labels, { app: "x", "batch.kubernetes.io/job-completion-index": "7" });
  deepEqual(metadata.annotations, { "batch.kubernetes.io/job-completion-index": "7" });
  equal(spec?.hostname, "work-7");
  deepEqual(
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ env }) => env),
    [[{ name: "JOB_COMPLETION_INDEX", valueFrom: FIELD }], [OWN], [{ name: "JOB_COMPLETION_INDEX", valueFrom: FIELD }]],
  );
});

test("the name prefix of an indexed Pod is cut in the Job's name", () => {
  equal(indexedDraft(aJob({}, "j".repeat(63)), 12, undefined).metadata.generateName, `${"j".repeat(54)}-12-`);
});

test("with a limit per index a new Pod carries the failures of the one it replaces", () => {
  const counted = (spec: object, replaced?: ReturnType<typeof podWith>) => {
    const { annotations = {} } = indexedDraft(aJob({ backoffLimitPerIndex: 3, ...spec }), 0, replaced).metadata;
    return [annotations["batch.kubernetes.io/job-index-failure-count"], annotations["batch.kubernetes.io/job-index-ignored-failure-count"]];
  };
  const replaced = podWith("old", { phase: "Failed", exitCode: 5, failures: 1 });
  const podFailurePolicy = { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [5] } }] };

  deepEqual(counted({}), ["0", undefined]);
  deepEqual(counted({}, replaced), ["2", undefined]);
  deepEqual(counted({ podFailurePolicy }, replaced), ["1", "1"]);
});
