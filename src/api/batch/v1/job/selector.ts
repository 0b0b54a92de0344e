/**
 * How a Job finds its Pods: by a label with its own uid, which no other Job can have. The server puts it there unless the Job says that it
 * selects by hand. The labels without a prefix are those of before; both are set, and both must be right.
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
  // What the client set stays; if it is wrong, validation says so.
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
 * A Job without labels of its own has those of its Pods (defaults.ts): also the ones that are generated. If its name is too long for a
 * label it is refused, and to say so of its Pods is enough.
 */
function hasLabelsOfTemplate({ metadata, spec }: Job): boolean {
  const { labels = {}, name } = metadata;
  if (Object.keys(labels).length === 0) return validateLabelValue(name).length === 0;
  return labels === spec?.template.metadata?.labels;
}

/** Jobs from before the labels with a prefix may go on without them. */
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
