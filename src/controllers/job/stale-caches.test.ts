/** A cache that lags behind must neither repeat the work of another process nor cost a Job its Pods. */
import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { jobs } from "../../api/batch/v1/job.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Job } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { labelSelectorFromObject } from "../../api/machinery/selectors/label-selector.ts";
import { stub } from "../../base/testing/stub.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { given, type Given } from "../../testing/given.ts";
import type { Pass } from "../runtime/controller.ts";
import { podsOf } from "../runtime/testing/pods.ts";
import { jobController } from "./job-controller.ts";
import { CLOCK_SKEW_MAX_MS, confirm, JobMemory } from "./job-memory.ts";
import { isTracked } from "./job-pods.ts";
import { releaseLeftPods, releaseOrphan } from "./orphan-pods.ts";
import { aJob, endPod, jobWith, WORK } from "./testing/jobs.ts";

/** A pass whose caches show only these objects. */
function passThatShows(cluster: Given, job: Job | undefined, shown: readonly Pod[]): Pass {
  const named = (name: string) => shown.find(({ metadata }) => metadata.name === name);
  const read = stub<Reader>({
    get: (kind: ResourceKind, { name }: { readonly name: string }) => (kind.plural === jobs.plural ? job : named(name)),
    controlledBy: () => shown,
    indexed: () => shown,
  });
  return stub<Pass>({ read, write: cluster.client });
}

async function started(cluster: Given): Promise<{ readonly job: Job; readonly pod: Pod }> {
  await cluster.reconcile(jobController, WORK);
  const [pod] = await podsOf(cluster);
  if (pod === undefined) throw new Error("The Job has no Pod");
  return { job: await cluster.client.get(jobs, WORK), pod };
}

const selectorOf = ({ spec }: Job) => labelSelectorFromObject(spec?.selector);

test("a Job is confirmed if the caches show it and all its Pods", async () => {
  await using cluster = await given(aJob());
  const { job, pod } = await started(cluster);

  await confirm(job, selectorOf(job), passThatShows(cluster, job, [pod]));
});

test("a Job is not confirmed while a Pod is missing in the cache, or shown as it was before", async () => {
  await using cluster = await given(aJob());
  const { job, pod } = await started(cluster);
  await rejects(confirm(job, selectorOf(job), passThatShows(cluster, job, [])), { reason: "Conflict" });

  await endPod(cluster, pod.metadata.name, 0);

  await rejects(confirm(job, selectorOf(job), passThatShows(cluster, job, [pod])), { reason: "Conflict" });
});

test("a Job is not confirmed while the cache shows an earlier status, or a Pod that was deleted", async () => {
  await using cluster = await given(aJob());
  const { job, pod } = await started(cluster);
  const gone: Pod = { ...pod, metadata: { ...pod.metadata, name: "gone" } };
  await rejects(confirm(job, selectorOf(job), passThatShows(cluster, job, [pod, gone])), { reason: "Conflict" });

  await cluster.client.patch(jobs, WORK, { type: "merge", value: { metadata: { labels: { a: "b" } } } });

  await rejects(confirm(job, selectorOf(job), passThatShows(cluster, job, [pod])), { reason: "Conflict" });
});

test("a Job that may have been created before the start by the clock of another machine is confirmed first", () => {
  const startedMs = Date.UTC(2026, 0, 1);
  const memory = new JobMemory(startedMs);
  const isTrusted = (name: string, afterStartMs: number): boolean => {
    const { metadata, ...others } = jobWith({});
    const created = { ...metadata, name, uid: name, creationTimestamp: formatTime(startedMs + afterStartMs) };
    return memory.of({ ...others, metadata: created }, 0).isConfirmed;
  };

  deepEqual(
    [isTrusted("before", -1_000), isTrusted("dated-ahead", CLOCK_SKEW_MAX_MS), isTrusted("later", CLOCK_SKEW_MAX_MS + 1_000)],
    [false, false, true],
  );
});

test("a Pod keeps its finalizer if the cache does not show its Job yet, and loses it when the Job is deleted", async () => {
  await using cluster = await given(aJob());
  const { pod } = await started(cluster);
  const key = { namespace: "default", name: "work" };

  await rejects(releaseLeftPods(key, passThatShows(cluster, undefined, [pod])), { reason: "Conflict" });
  deepEqual((await podsOf(cluster)).map(isTracked), [true]);

  await cluster.client.delete(jobs, WORK, { propagationPolicy: "Background" });
  await releaseLeftPods(key, passThatShows(cluster, undefined, [pod]));
  deepEqual((await podsOf(cluster)).map(isTracked), [false]);
});

test("an orphaned Pod that was adopted meanwhile keeps its finalizer", async () => {
  await using cluster = await given(aJob());
  const { pod } = await started(cluster);
  const { ownerReferences: _owners, ...metadata } = pod.metadata;
  const orphan: Pod = { ...pod, metadata };
  await cluster.client.patch(
    pods,
    { namespace: "default", name: metadata.name },
    { type: "merge", value: { metadata: { labels: { a: "b" } } } },
  );

  await rejects(releaseOrphan({ namespace: "default", name: metadata.name }, passThatShows(cluster, undefined, [orphan])), {
    reason: "Conflict",
  });

  deepEqual((await podsOf(cluster)).map(isTracked), [true]);
});
