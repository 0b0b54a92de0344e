/**
 * Releases Pods that still hold the tracking finalizer though no Job will count them any more: their Job was deleted or has finished, or they
 * have no controller. They could not be deleted otherwise. A cache that lags behind must not cost a running Job its Pods: that a Job does not
 * exist is confirmed by the server, and a Pod that has changed since it was read is not released.
 */
import { isFinished } from "../../api/batch/v1/job/conditions.ts";
import { jobs } from "../../api/batch/v1/job.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Job } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { OwnerReference } from "../../api/machinery/object.ts";
import { conflict, isReason } from "../../api/machinery/status-error.ts";
import type { Index, Reader } from "../../client/informer/informer.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";
import { onChange, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { controllerReference, keyOf } from "../runtime/keys.ts";
import { isTracked } from "./job-pods.ts";
import { isManagedElsewhere } from "./managed-by.ts";
import { releaseFinalizer } from "./release-finalizer.ts";

/** Key of one Pod without a controller. */
export const ORPHAN = "orphan-pod";
/** Key of a Job by name: all tracked Pods that reference a Job of this name. */
export const LEFT_PODS = "left-pods-of-job";

const trackedPodsByJob: Index<Pod> = {
  kind: pods,
  values(pod) {
    const reference = isTracked(pod) ? jobReference(pod) : undefined;
    return reference === undefined ? [] : [indexValue(pod.metadata.namespace, reference.name)];
  },
};

function indexValue(namespace: string | undefined, name: string): string {
  return `${namespace}/${name}`;
}

function jobReference(pod: Pod): OwnerReference | undefined {
  const reference = controllerReference(pod);
  return reference?.kind === "Job" && reference.apiVersion === "batch/v1" ? reference : undefined;
}

/** For a change of a Pod: cheap for those of a running Job. */
export function* keysOfOrphan({ is, object }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  if (is === "deleted" || !isTracked(object)) return;
  const { namespace } = object.metadata;
  if (controllerReference(object) === undefined) return yield { kind: ORPHAN, ...keyOf(object) };
  const reference = jobReference(object);
  if (reference === undefined) return;
  const job = read.get(jobs, { namespace, name: reference.name });
  if (isLeft(reference, job)) yield { kind: LEFT_PODS, ...(namespace === undefined ? {} : { namespace }), name: reference.name };
}

/** For a change of a Job: when it has finished or was deleted. */
export function* keysOfLeftPods({ is, object }: Change<Job>): Iterable<WorkKey> {
  if (is === "deleted" || isFinished(object.status ?? {})) yield { kind: LEFT_PODS, ...keyOf(object) };
}

function isLeft({ uid }: OwnerReference, job: Job | undefined): boolean {
  if (job === undefined || job.metadata.uid !== uid) return true;
  return isFinished(job.status ?? {}) && !isManagedElsewhere(job);
}

export async function releaseOrphan({ namespace, name }: WorkKey, { read, write }: Pass): Promise<Outcome> {
  const pod = read.get(pods, { namespace, name });
  if (pod !== undefined && controllerReference(pod) === undefined) await releaseFinalizer(pod, write, { ifUnchanged: true });
  return onChange;
}

export async function releaseLeftPods({ namespace, name }: WorkKey, pass: Pass): Promise<Outcome> {
  const { read, write } = pass;
  const job = read.get(jobs, { namespace, name });
  const left = read.indexed(trackedPodsByJob, indexValue(namespace, name)).filter((pod) => {
    const reference = jobReference(pod);
    return reference !== undefined && isLeft(reference, job);
  });
  if (left.some((pod) => jobReference(pod)?.uid !== job?.metadata.uid)) await mustBeGone({ namespace, name }, left, pass);
  await inTurns(left, (pod) => releaseFinalizer(pod, write, { ifUnchanged: true }));
  return onChange;
}

/** A live read: the cache may not show a new Job yet. */
async function mustBeGone(key: WorkKey, left: readonly Pod[], { read, write }: Pass): Promise<void> {
  const known = read.get(jobs, key)?.metadata.uid;
  try {
    const { uid } = (await write.get(jobs, key)).metadata;
    if (uid === known || !left.some((pod) => jobReference(pod)?.uid === uid)) return;
  } catch (error) {
    if (isReason(error, "NotFound")) return;
    throw error;
  }
  throw conflict({ group: "batch", plural: "jobs" }, key.name, "the cache does not show it yet");
}
