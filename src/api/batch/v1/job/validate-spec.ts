/**
 * Validation of the spec of a Job, or of the one in a CronJob's template. Both share `validateJobParts`; a Job has a selector in addition.
 * Failure and success policies: validate-policies.ts.
 */
import { compileSelector, labelsMissed } from "../../../apps/v1/workload.ts";
import { validatePodTemplateSpec } from "../../../core/v1/pod/validation/template.ts";
import type { JobSpec } from "../../../generated/batch/v1.ts";
import { child, invalid, notSupported, required, tooLong, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateLabelSelectorObject } from "../../../machinery/selectors/label-selector.ts";
import { isLongerThan, validateDomainPrefixedPath } from "../../../machinery/names.ts";
import { nonNegative } from "../../../number-validation.ts";
import { shownSuccessPolicy, validatePodFailurePolicy, validateSuccessPolicy } from "./validate-policies.ts";

/** Maximum parallelism of an indexed Job: the text of completed indexes must fit the object in any order of completion. */
const INDEXED_PARALLELISM_MAX = 100_000;
const FAILED_INDEXES_MAX = 100_000;
/** Above this many completions the texts of completed and failed indexes together get too long, unless both have lower limits. */
const COMPLETIONS_SOFT_MAX = 100_000;
const PARALLELISM_MAX_ABOVE = 10_000;
const FAILED_INDEXES_MAX_ABOVE = 10_000;
const MANAGED_BY_LENGTH_MAX_BYTES = 63;

const COMPLETION_MODES = ["NonIndexed", "Indexed"];
const REPLACEMENT_POLICIES = ["Failed", "TerminatingOrFailed"];
const NEEDS_INDEXED = "requires indexed completion mode";

export function* validateJobSpec(spec: JobSpec, previous?: JobSpec): Iterable<FieldError> {
  yield* validateJobParts(spec, "spec", previous);
  if (spec.selector === undefined) yield required("spec.selector");
  else yield* validateLabelSelectorObject(spec.selector, "spec.selector");
  const labels = spec.template.metadata?.labels;
  if (compileSelector(spec.selector)?.matches(labels) === false) yield labelsMissed(labels, "spec.template");
}

export function* validateJobParts(spec: JobSpec, at: string, previous?: JobSpec): Iterable<FieldError> {
  yield* validateNumbers(spec, at);
  if (spec.managedBy !== undefined) yield* validateManagedBy(spec.managedBy, child(at, "managedBy"));
  yield* validateCompletionMode(spec, at);
  if (spec.podFailurePolicy !== undefined) yield* validatePodFailurePolicy(spec.podFailurePolicy, spec, child(at, "podFailurePolicy"));
  if (spec.successPolicy !== undefined) {
    const here = child(at, "successPolicy");
    if (isIndexed(spec)) yield* validateSuccessPolicy(spec.successPolicy, spec.completions, here);
    else yield invalid(here, shownSuccessPolicy(spec.successPolicy), NEEDS_INDEXED);
  }
  yield* validateReplacementPolicy(spec, child(at, "podReplacementPolicy"));
  yield* errorsOf((errors) => validatePodTemplateSpec(errors, spec.template, child(at, "template"), previous?.template));
  yield* validateRestartPolicy(spec, child(at, "template.spec.restartPolicy"));
}

export function isIndexed({ completionMode }: JobSpec): boolean {
  return completionMode === "Indexed";
}

const NUMBERS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
] as const satisfies readonly (keyof JobSpec)[];

function* validateNumbers(spec: JobSpec, at: string): Iterable<FieldError> {
  for (const name of NUMBERS) yield* nonNegative(spec[name], child(at, name));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    yield required(child(at, "backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  }
}

function* validateManagedBy(managedBy: string, at: string): Iterable<FieldError> {
  yield* validateDomainPrefixedPath(managedBy, at);
  if (isLongerThan(managedBy, MANAGED_BY_LENGTH_MAX_BYTES)) yield tooLong(at, MANAGED_BY_LENGTH_MAX_BYTES);
}

function* validateCompletionMode(spec: JobSpec, at: string): Iterable<FieldError> {
  const { completionMode, backoffLimitPerIndex, maxFailedIndexes } = spec;
  if (completionMode !== undefined && !COMPLETION_MODES.includes(completionMode)) {
    yield notSupported(child(at, "completionMode"), completionMode, COMPLETION_MODES);
  }
  if (isIndexed(spec)) yield* validateIndexed(spec, at);
  if (completionMode !== undefined && completionMode !== "NonIndexed") return;
  if (backoffLimitPerIndex !== undefined) yield invalid(child(at, "backoffLimitPerIndex"), backoffLimitPerIndex, NEEDS_INDEXED);
  if (maxFailedIndexes !== undefined) yield invalid(child(at, "maxFailedIndexes"), maxFailedIndexes, NEEDS_INDEXED);
}

function* validateIndexed(spec: JobSpec, at: string): Iterable<FieldError> {
  const { completions, parallelism = 0, maxFailedIndexes } = spec;
  if (completions === undefined) yield required(child(at, "completions"), "when completion mode is Indexed");
  if (parallelism > INDEXED_PARALLELISM_MAX) {
    const why = `must be less than or equal to ${INDEXED_PARALLELISM_MAX} when completion mode is Indexed`;
    yield invalid(child(at, "parallelism"), parallelism, why);
  }
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    yield invalid(child(at, "maxFailedIndexes"), maxFailedIndexes, "must be less than or equal to completions");
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > FAILED_INDEXES_MAX) {
    yield invalid(child(at, "maxFailedIndexes"), maxFailedIndexes, `must be less than or equal to ${FAILED_INDEXES_MAX}`);
  }
  if ((completions ?? 0) > COMPLETIONS_SOFT_MAX && spec.backoffLimitPerIndex !== undefined) yield* validateManyIndexes(spec, at);
}

function* validateManyIndexes({ parallelism = 0, maxFailedIndexes }: JobSpec, at: string): Iterable<FieldError> {
  const when = `when completions are above ${COMPLETIONS_SOFT_MAX} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    yield required(child(at, "maxFailedIndexes"), `must be specified when completions is above ${COMPLETIONS_SOFT_MAX}`);
  }
  if (parallelism > PARALLELISM_MAX_ABOVE) {
    yield invalid(child(at, "parallelism"), parallelism, `must be less than or equal to ${PARALLELISM_MAX_ABOVE} ${when}`);
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > FAILED_INDEXES_MAX_ABOVE) {
    yield invalid(child(at, "maxFailedIndexes"), maxFailedIndexes, `must be less than or equal to ${FAILED_INDEXES_MAX_ABOVE} ${when}`);
  }
}

/** A Pod failure policy evaluates how a Pod ended, so it must have ended before it is replaced. */
function* validateReplacementPolicy({ podReplacementPolicy, podFailurePolicy }: JobSpec, at: string): Iterable<FieldError> {
  const supported = podFailurePolicy === undefined ? REPLACEMENT_POLICIES : ["Failed"];
  if (podReplacementPolicy === undefined || supported.includes(podReplacementPolicy)) return;
  yield notSupported(at, podReplacementPolicy, supported);
}

/** The default restart policy is Always, which no Job supports: so it must be set. */
function* validateRestartPolicy({ template, podFailurePolicy }: JobSpec, at: string): Iterable<FieldError> {
  const { restartPolicy = "Always" } = template.spec ?? {};
  if (restartPolicy === "Always" || (restartPolicy as string) === "") yield required(at, 'valid values: "OnFailure", "Never"');
  else if (restartPolicy !== "OnFailure" && restartPolicy !== "Never") yield notSupported(at, restartPolicy, ["OnFailure", "Never"]);
  else if (podFailurePolicy !== undefined && restartPolicy !== "Never") {
    yield invalid(at, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}
