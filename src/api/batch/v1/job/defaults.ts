/** Defaults of a Job. The template of a CronJob gets those of its parts only: the rest is set when its Jobs are created. */
import { changed, changedItems, withChanges } from "../../../changes.ts";
import { defaultPodTemplate } from "../../../core/v1/pod/defaults/pod.ts";
import { listOrAbsent } from "../../../members.ts";
import type { Job, JobSpec, PodFailurePolicy, PodFailurePolicyOnPodConditionsPattern } from "../../../generated/batch/v1.ts";

const BACKOFF_LIMIT = 6;
/** With a limit per index there is no total limit: the largest int32. */
const BACKOFF_UNLIMITED = 2 ** 31 - 1;

export function defaultJob(job: Job): Job {
  const labels = job.spec?.template?.metadata?.labels;
  const isLabelled = Object.keys(job.metadata.labels ?? {}).length > 0;
  return withChanges(job, {
    metadata: labels === undefined || isLabelled ? undefined : { ...job.metadata, labels },
    spec: changed(job.spec, defaultSpec),
  });
}

function defaultSpec(spec: JobSpec): JobSpec {
  const { completions, parallelism, backoffLimitPerIndex, podFailurePolicy } = spec;
  return withChanges(defaultJobParts(spec), {
    completions: completions === undefined && parallelism === undefined ? 1 : completions,
    parallelism: parallelism ?? 1,
    backoffLimit: spec.backoffLimit ?? (backoffLimitPerIndex === undefined ? BACKOFF_LIMIT : BACKOFF_UNLIMITED),
    completionMode: spec.completionMode ?? "NonIndexed",
    suspend: spec.suspend ?? false,
    podReplacementPolicy: spec.podReplacementPolicy ?? (podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed"),
    manualSelector: spec.manualSelector ?? false,
  });
}

/** The Pod template, and the Pod failure policy. */
export function defaultJobParts(spec: JobSpec): JobSpec {
  return withChanges(spec, {
    template: changed(spec.template, defaultPodTemplate),
    podFailurePolicy: changed(spec.podFailurePolicy, defaultFailurePolicy),
  });
}

function defaultFailurePolicy(policy: PodFailurePolicy): PodFailurePolicy {
  const rules = changedItems(policy.rules ?? [], (rule) =>
    withChanges(rule, { onPodConditions: changedItems(rule.onPodConditions, defaultPattern) }),
  );
  return withChanges(policy, { rules: listOrAbsent(rules) });
}

function defaultPattern(pattern: PodFailurePolicyOnPodConditionsPattern): PodFailurePolicyOnPodConditionsPattern {
  return withChanges(pattern, { status: pattern.status || "True" });
}
