/** Pods of a Job as they are created: its template with the tracking finalizer, and, for an index, with everything that names the index. */
import type { Job, JobSpec } from "../../api/generated/batch/v1.ts";
import type { Container, Pod, PodSpec } from "../../api/generated/core/v1.ts";
import type { Draft } from "../../client/client.ts";
import { podDraft } from "../shared/pod-control.ts";
import {
  COMPLETION_INDEX,
  ignoredIndexFailuresOf,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  indexFailuresOf,
  TRACKING_FINALIZER,
} from "./job-pods.ts";
import { matchFailurePolicy } from "./pod-failure-policy.ts";

const INDEX_VARIABLE = "JOB_COMPLETION_INDEX";
/** A generated name has at most 63 characters, of which the server adds five. */
const GENERATE_NAME_LENGTH_MAX = 58;

/** For a Job without indexes: one draft for all Pods. */
export function trackedDraft(job: Job): Draft<Pod> {
  const draft = podDraft(job.spec?.template ?? {}, job);
  const others = draft.metadata.finalizers ?? [];
  const finalizers = others.includes(TRACKING_FINALIZER) ? others : [...others, TRACKING_FINALIZER];
  return { ...draft, metadata: { ...draft.metadata, finalizers } };
}

/** `replaced`: the last failed Pod of the index, if the Job has `backoffLimitPerIndex`. */
export function indexedDraft(job: Job, index: number, replaced: Pod | undefined): Draft<Pod> {
  const { metadata, spec, ...draft } = trackedDraft(job);
  const failures = job.spec?.backoffLimitPerIndex === undefined ? {} : failureAnnotations(job.spec, replaced);
  return {
    ...draft,
    metadata: {
      ...metadata,
      generateName: indexedGenerateName(job.metadata.name, index),
      labels: { ...metadata.labels, [COMPLETION_INDEX]: String(index) },
      annotations: { ...metadata.annotations, [COMPLETION_INDEX]: String(index), ...failures },
    },
    ...(spec === undefined ? {} : { spec: { ...withIndexVariable(spec), hostname: `${job.metadata.name}-${index}` } }),
  };
}

function indexedGenerateName(name: string, index: number): string {
  const suffix = `-${index}-`;
  return `${name.slice(0, GENERATE_NAME_LENGTH_MAX - suffix.length)}${suffix}`;
}

function failureAnnotations(spec: JobSpec, replaced: Pod | undefined): Readonly<Record<string, string>> {
  if (replaced === undefined) return { [INDEX_FAILURES]: "0" };
  const { counts } = matchFailurePolicy(spec.podFailurePolicy, replaced);
  const ignored = ignoredIndexFailuresOf(replaced) + (counts ? 0 : 1);
  return {
    [INDEX_FAILURES]: String(indexFailuresOf(replaced) + (counts ? 1 : 0)),
    ...(ignored === 0 ? {} : { [INDEX_IGNORED_FAILURES]: String(ignored) }),
  };
}

function withIndexVariable(spec: PodSpec): PodSpec {
  const extended = (container: Container): Container => {
    const { env = [] } = container;
    if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
    const fieldPath = `metadata.labels['${COMPLETION_INDEX}']`;
    return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath } } }] };
  };
  return {
    ...spec,
    containers: spec.containers.map(extended),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(extended) }),
  };
}
