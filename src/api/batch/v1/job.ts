/**
 * batch/v1 Job: runs Pods of a template until enough have succeeded. The server generates its selector and the labels of its Pods
 * (job/selector.ts). Not here: the controller (controllers/job).
 */
import { deepEqual } from "../../../base/deep.ts";
import { nameWarnings, statusSubresource, workloadWideColumns } from "../../apps/v1/workload.ts";
import { withMembersOf } from "../../changes.ts";
import type { Job, JobSpec } from "../../generated/batch/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { isConditionTrue } from "../../machinery/conditions.ts";
import { ageOf, humanDuration } from "../../machinery/duration.ts";
import { invalid, type FieldError } from "../../machinery/field-error.ts";
import { formatLabelSelector } from "../../machinery/selectors/label-selector.ts";
import { validateDnsLabel } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { parseTime } from "../../machinery/time.ts";
import { defaultJob } from "./job/defaults.ts";
import { validateGeneratedSelector, withGeneratedSelector } from "./job/selector.ts";
import { isIndexed, validateJobSpec } from "./job/validate-spec.ts";
import { validateStatus } from "./job/validate-status.ts";
import { validateSpecUpdate } from "./job/validate-update.ts";
import { jobSpecWarnings } from "./job/warnings.ts";

export const jobs = defineResource<Job>({
  kind: "Job",
  plural: "jobs",
  singular: "job",
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "batch", version: "v1", schema: "io.k8s.api.batch.v1.Job", defaults: defaultJob }],
  // Its Pods are orphaned by default, as before there was a choice.
  defaultPropagation: "Orphan",
  defaultPropagationWarning:
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",

  prepareForCreate: (job) => ({ ...withGeneratedSelector(job), status: {} }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),
  changesGeneration,

  *validate(job, previous) {
    if (job.spec === undefined) return;
    yield* validateGeneratedSelector(job, previous?.spec);
    yield* validateJobSpec(job.spec, previous?.spec);
    yield* validateHostNames(job.metadata.name, job.spec);
    if (previous?.spec === undefined) return;
    // Upstream reports all errors of the spec a second time.
    yield* validateJobSpec(job.spec, previous.spec);
    yield* validateSpecUpdate(job.spec, previous.spec, previous);
  },
  *warnings(job, previous) {
    if (previous === undefined) yield* nameWarnings(job.metadata.name);
    else if (!changesGeneration(job, previous)) return;
    if (job.spec !== undefined) yield* jobSpecWarnings(job.spec, "spec");
  },

  subresources: { status: statusSubresource(validateStatus) },

  selectableFields: { "status.successful": ({ status }) => String(status?.succeeded ?? 0) },
  columns: [
    nameColumn,
    textColumn("Status", "State: running, suspended, or how the Job finished", statusText),
    textColumn("Completions", "Succeeded Pods and desired completions", completionsText),
    textColumn("Duration", "Run time, up to now if it is not finished", durationText),
    ageColumn,
    ...workloadWideColumns<Job>(formatLabelSelector),
  ],
});

function changesGeneration(next: Job, previous: Job): boolean {
  return !deepEqual(next.spec, previous.spec);
}

/** The host name of a Pod of an indexed Job ends in its index, and the last one's is the longest. */
function* validateHostNames(name: string, spec: JobSpec): Iterable<FieldError> {
  const { completions = 0 } = spec;
  if (!isIndexed(spec) || completions <= 0) return;
  const last = `${name}-${completions - 1}`;
  if (validateDnsLabel(last).length === 0) return;
  yield invalid("metadata.name", name, `will not able to create pod with invalid DNS label: ${last}`);
}

function statusText({ metadata, status }: Job): string {
  const has = (type: string): boolean => isConditionTrue(status?.conditions, type);
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(has) ?? "Running";
}

function completionsText({ spec, status }: Job): string {
  const { succeeded = 0 } = status ?? {};
  const { completions, parallelism = 0 } = spec ?? {};
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ status }: Job, { nowMs }: { readonly nowMs: number }): string {
  const { startTime, completionTime } = status ?? {};
  if (startTime === undefined) return "";
  if (completionTime === undefined) return ageOf(startTime, nowMs);
  return humanDuration((parseTime(completionTime) ?? 0) - (parseTime(startTime) ?? 0));
}
