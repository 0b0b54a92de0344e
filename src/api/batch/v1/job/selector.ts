/**
 * The generated selector of a Job: a label with its own uid, which no other Job can have. The server sets it unless the Job has
 * manualSelector. The labels without a prefix are the legacy ones; both are set, and both must be right.
 */
import { compileSelector, shownLabels, shownSelector } from "../../../apps/v1/workload.ts";
import { withChanges } from "../../../changes.ts";
import type { Job, JobSpec } from "../../../generated/batch/v1.ts";
import { invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateLabelValue } from "../../../machinery/names.ts";

const UID_LABEL = "batch.kubernetes.io/controller-uid";
const NAME_LABEL = "batch.kubernetes.io/job-name";
const OLD_UID_LABEL = "controller-uid";
const OLD_NAME_LABEL = "job-name";

type Labels = Readonly<Record<string, string>>;

export function withGeneratedSelector(job: Job): Job {
  const { metadata, spec } = job;
  if (spec === undefined || spec.manualSelector === true) return job;
  const { template, selector = {} } = spec;
  const { uid = "", name } = metadata;
  // Values of the client are kept; validation reports wrong ones.
  const generated = { [OLD_NAME_LABEL]: name, [NAME_LABEL]: name, [OLD_UID_LABEL]: uid, [UID_LABEL]: uid };
  const labels: Labels = { ...generated, ...template.metadata?.labels };
  return withChanges(job, {
    metadata: hasLabelsOfTemplate(job) ? { ...metadata, labels } : undefined,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels: { [UID_LABEL]: uid, ...selector.matchLabels } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  });
}

/**
 * A Job without labels of its own gets those of its Pods (defaults.ts), including the generated ones. If its name is too long for a label
 * it is rejected, which is reported for its Pods only.
 */
function hasLabelsOfTemplate({ metadata, spec }: Job): boolean {
  const { labels = {}, name } = metadata;
  if (Object.keys(labels).length === 0) return validateLabelValue(name).length === 0;
  return labels === spec?.template.metadata?.labels;
}

/** Jobs older than the prefixed labels may remain without them. */
export function* validateGeneratedSelector({ metadata, spec }: Job, previous?: JobSpec): Iterable<FieldError> {
  if (spec === undefined || spec.manualSelector === true || spec.selector === undefined) return;
  const { uid = "", name } = metadata;
  const before = previous?.template.metadata?.labels;
  const isPrefixed = previous === undefined || (hasLabel(before, NAME_LABEL) && hasLabel(before, UID_LABEL));
  const old = { [OLD_UID_LABEL]: uid, [OLD_NAME_LABEL]: name };
  const expected: Labels = isPrefixed ? { ...old, [UID_LABEL]: uid, [NAME_LABEL]: name } : old;
  if (uid === "") yield required("metadata.uid");
  const labels = spec.template.metadata?.labels;
  for (const [key, value] of Object.entries(expected)) yield* validateLabel(labels, key, value);
  if (compileSelector(spec.selector)?.matches(expected) === false) {
    yield invalid("spec.selector", shownSelector(spec.selector), "`selector` not auto-generated");
  }
}

function* validateLabel(labels: Labels | undefined, key: string, expected: string): Iterable<FieldError> {
  const at = `spec.template.metadata.labels[${key}]`;
  const why = `must be '${expected}'`;
  if (!hasLabel(labels, key)) yield required(at, why);
  else if (labels?.[key] !== expected) yield invalid(at, shownLabels(labels), why);
}

function hasLabel(labels: Labels | undefined, key: string): boolean {
  return labels !== undefined && Object.hasOwn(labels, key);
}
