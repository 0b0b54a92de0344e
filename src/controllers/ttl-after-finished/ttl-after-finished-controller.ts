/**
 * Deletes finished Jobs, with their Pods, `spec.ttlSecondsAfterFinished` after they finished. The deletion is of the version that was read: a
 * TTL that is extended meanwhile wins.
 */
import { isFinished } from "../../api/batch/v1/job/conditions.ts";
import { jobs } from "../../api/batch/v1/job.ts";
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import type { Job } from "../../api/generated/batch/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { exponentialBounds } from "../../base/metrics/metric-series.ts";
import type { HistogramDefinition } from "../../base/metrics/metric-set.ts";
import { after, defineController, onChange, watch, type Change, type WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";

const SECOND_MS = 1_000;

/** Upstream's. */
const DELETION_DELAY: HistogramDefinition = {
  type: "histogram",
  name: "ttl_after_finished_controller_job_deletion_duration_seconds",
  help: "The time it took to delete the job since it became eligible for deletion",
  bounds: exponentialBounds(0.1, 2, 14),
};

export const ttlAfterFinishedController = defineController({
  name: "ttl-after-finished-controller",
  aliases: ["ttl-after-finished"],
  account: "ttl-after-finished-controller",
  rules: [{ apiGroups: ["batch"], resources: ["jobs"], verbs: ["get", "list", "watch", "delete"] }],
  watches: [watch(jobs, keysOfJob)],
  async reconcile(key, { read, write, clock, metrics }) {
    const job = read.get(jobs, key);
    const expiresMs = job && expiresAtMs(job);
    if (job === undefined || expiresMs === undefined) return onChange;
    const remainingMs = expiresMs - clock.now();
    if (remainingMs > 0) return after(remainingMs);
    const { uid, resourceVersion } = job.metadata;
    const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      await write.delete(jobs, keyOf(job), { propagationPolicy: "Foreground", preconditions });
      metrics.observe(DELETION_DELAY, {}, -remainingMs / SECOND_MS);
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
    }
    return onChange;
  },
});

function* keysOfJob({ is, object }: Change<Job>): Iterable<WorkKey> {
  if (is !== "deleted" && expiresAtMs(object) !== undefined) yield keyOf(object);
}

/** Undefined if it has no TTL, has not finished, or is already being deleted. */
export function expiresAtMs({ metadata, spec, status = {} }: Job): number | undefined {
  const ttlSeconds = spec?.ttlSecondsAfterFinished;
  if (ttlSeconds === undefined || metadata.deletionTimestamp !== undefined || !isFinished(status)) return undefined;
  const finished = status.conditions?.find(({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True");
  const finishedMs = timestampMs(finished?.lastTransitionTime);
  return finishedMs === undefined ? undefined : finishedMs + ttlSeconds * SECOND_MS;
}
