/**
 * Validation of a Job's status. Other controllers than the built-in one may run Jobs (`managedBy`), so the status must satisfy what clients
 * rely on: a finished Job stays finished, and its counts are consistent. Most rules apply only to a write that touches their fields: a
 * status that violated one before the rule existed, or that a new spec made wrong, must not be stuck.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { Job, JobSpec, JobStatus, UncountedTerminatedPods } from "../../../generated/batch/v1.ts";
import { duplicate, immutable, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { parseTime } from "../../../machinery/time.ts";
import { nonNegative } from "../../../number-validation.ts";
import { isFalse, isFinished, isTrue, type JobConditionType } from "./conditions.ts";
import { firstOverlap, indexesProblem } from "./indexes.ts";
import { wrong } from "./validate-policies.ts";
import { isIndexed } from "./validate-spec.ts";

interface Change {
  readonly spec: JobSpec;
  readonly status: JobStatus;
  readonly before: JobStatus;
}

const CONDITIONS = "status.conditions";
const COUNTS = ["active", "succeeded", "failed", "ready", "terminating"] as const satisfies readonly (keyof JobStatus)[];

export function* validateStatus(next: Job, previous: Job): Iterable<FieldError> {
  const { status = {}, spec = { template: {} } } = next;
  const change: Change = { spec, status, before: previous.status ?? {} };
  for (const count of COUNTS) yield* nonNegative(status[count], `status.${count}`);
  yield* validateUncounted(status.uncountedTerminatedPods ?? {});
  yield* validateOutcome(change);
  yield* validateCompletionTime(change);
  yield* validateOutcomeBegun(change);
  yield* validateFinished(change);
  yield* validateIndexes(change);
  yield* validatePodsLeft(change);
  yield* validateSuccessCriteria(change);
  yield* validateNotUndone(change);
  yield* validateTimesKept(change);
  yield* validateSuccessCriteriaKept(change);
}

function* validateUncounted({ succeeded = [], failed = [] }: UncountedTerminatedPods): Iterable<FieldError> {
  const seen = new Set<string>();
  const placed = [...succeeded.map((uid, index) => [`succeeded[${index}]`, uid]), ...failed.map((uid, index) => [`failed[${index}]`, uid])];
  for (const [place, uid = ""] of placed) {
    const at = `status.uncountedTerminatedPods.${place}`;
    if (uid === "") yield invalid(at, uid, "must not be empty");
    else if (seen.has(uid)) yield duplicate(at, uid);
    seen.add(uid);
  }
}

/** True if the write adds or removes a true condition. */
function turns({ status, before }: Change, type: JobConditionType): boolean {
  return isTrue(status, type) !== isTrue(before, type);
}

function finishes({ status, before }: Change): boolean {
  return isFinished(status) !== isFinished(before);
}

function changes({ status, before }: Change, name: keyof JobStatus): boolean {
  return !deepEqual(status[name], before[name]);
}

function* validateOutcome(change: Change): Iterable<FieldError> {
  const { status } = change;
  if (!isTrue(status, "Complete")) return;
  if ((turns(change, "Complete") || turns(change, "Failed")) && isTrue(status, "Failed")) {
    yield wrong(CONDITIONS, "cannot set Complete=True and Failed=true conditions");
  }
  if ((turns(change, "Complete") || turns(change, "FailureTarget")) && isTrue(status, "FailureTarget")) {
    yield wrong(CONDITIONS, "cannot set Complete=True and FailureTarget=true conditions");
  }
}

function* validateCompletionTime(change: Change): Iterable<FieldError> {
  const { startTime, completionTime } = change.status;
  const at = "status.completionTime";
  const isComplete = isTrue(change.status, "Complete");
  if (turns(change, "Complete") || changes(change, "completionTime")) {
    if (completionTime !== undefined && !isComplete) {
      yield invalid(at, completionTime, "cannot set completionTime when there is no Complete=True condition");
    }
    if (completionTime === undefined && isComplete) yield required(at, "completionTime is required for Complete jobs");
  }
  if (startTime === undefined || completionTime === undefined) return;
  const isTouched = changes(change, "startTime") || changes(change, "completionTime");
  if (isTouched && (parseTime(completionTime) ?? 0) < (parseTime(startTime) ?? 0)) {
    yield invalid(at, completionTime, "must be equal to or after `startTime`");
  }
}

/** The end is announced (FailureTarget, SuccessCriteriaMet) while Pods are still being terminated. */
function* validateOutcomeBegun(change: Change): Iterable<FieldError> {
  const { status } = change;
  if ((turns(change, "Failed") || changes(change, "failedIndexes")) && isTrue(status, "Failed") && !isTrue(status, "FailureTarget")) {
    yield wrong(CONDITIONS, "cannot set Failed=True condition without the FailureTarget=true condition");
  }
  const isTouched = turns(change, "Complete") || turns(change, "SuccessCriteriaMet");
  if (isTouched && isTrue(status, "Complete") && !isTrue(status, "SuccessCriteriaMet")) {
    yield wrong(CONDITIONS, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
}

function* validateFinished(change: Change): Iterable<FieldError> {
  const { spec, status } = change;
  const { active = 0, startTime, uncountedTerminatedPods } = status;
  if (!isFinished(status)) return;
  const ends = finishes(change);
  if (active > 0 && (ends || changes(change, "active"))) yield invalid("status.active", active, "active>0 is invalid for finished job");
  // A Job without work is complete though it never started.
  const isIdle = spec.suspend === true && spec.completions === 0;
  if (startTime === undefined && (ends || changes(change, "startTime")) && !isIdle) {
    yield required("status.startTime", "startTime is required for finished job");
  }
  const { succeeded, failed } = uncountedTerminatedPods ?? {};
  const uncounted = (succeeded?.length ?? 0) + (failed?.length ?? 0);
  if (uncounted > 0 && (ends || changes(change, "uncountedTerminatedPods"))) {
    const shown = { Succeeded: succeeded ?? null, Failed: failed ?? null };
    yield invalid("status.uncountedTerminatedPods", shown, "must be empty for finished job");
  }
}

function* validateIndexes(change: Change): Iterable<FieldError> {
  const { spec, status } = change;
  const { completions, backoffLimitPerIndex } = spec;
  const { completedIndexes = "", failedIndexes } = status;
  const completedChanged = completedIndexes !== (change.before.completedIndexes ?? "");
  const failedChanged = changes(change, "failedIndexes");
  if (completedChanged) yield* validateReadable("completedIndexes", completedIndexes, completions);
  if (failedChanged && backoffLimitPerIndex !== undefined) yield* validateReadable("failedIndexes", failedIndexes, completions);
  if (completedChanged && completedIndexes !== "" && !isIndexed(spec)) {
    const why = "cannot set non-empty completedIndexes when non-indexed completion mode";
    yield invalid("status.completedIndexes", completedIndexes, why);
  }
  if (failedChanged && failedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    yield invalid("status.failedIndexes", failedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
  }
  if ((!completedChanged && !failedChanged) || completions === undefined || failedIndexes === undefined) return;
  const overlap = firstOverlap(completedIndexes, failedIndexes, completions);
  if (overlap === undefined) return;
  yield invalid("status.failedIndexes", failedIndexes, `failedIndexes and completedIndexes overlap at index: ${overlap}`);
}

function* validateReadable(
  name: "completedIndexes" | "failedIndexes",
  text: string | undefined,
  completions: number | undefined,
): Iterable<FieldError> {
  const problem = completions === undefined || text === undefined ? undefined : indexesProblem(text, completions);
  if (problem !== undefined) yield invalid(`status.${name}`, text, `error parsing ${name}: ${problem}`);
}

function* validatePodsLeft(change: Change): Iterable<FieldError> {
  const { terminating = 0, ready, active = 0 } = change.status;
  if (terminating > 0 && isFinished(change.status) && (finishes(change) || changes(change, "terminating"))) {
    yield invalid("status.terminating", terminating, "terminating>0 is invalid for finished job");
  }
  if (ready !== undefined && ready > active && (changes(change, "ready") || changes(change, "active"))) {
    yield invalid("status.ready", ready, "cannot set more ready pods than active");
  }
}

function* validateSuccessCriteria({ spec, status }: Change): Iterable<FieldError> {
  const isMet = isTrue(status, "SuccessCriteriaMet");
  if (isMet && isTrue(status, "Failed")) yield wrong(CONDITIONS, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
  if (isMet && isTrue(status, "FailureTarget")) {
    yield wrong(CONDITIONS, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
  }
  if (spec.successPolicy !== undefined && !isMet && isTrue(status, "Complete")) {
    yield wrong(CONDITIONS, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }
}

function* validateNotUndone({ spec, status, before }: Change): Iterable<FieldError> {
  for (const type of ["Failed", "Complete", "FailureTarget"] as const) {
    if (isTrue(before, type) && !isTrue(status, type)) yield wrong(CONDITIONS, `cannot disable the terminal ${type}=True condition`);
  }
  const { failed = 0, succeeded = 0 } = status;
  if (failed < (before.failed ?? 0)) yield invalid("status.failed", failed, "cannot decrease the failed counter");
  // An elastic indexed Job can shrink, and drops the indexes beyond its completions.
  const canShrink = isIndexed(spec) && spec.completions === spec.parallelism;
  if (!canShrink && succeeded < (before.succeeded ?? 0)) {
    yield invalid("status.succeeded", succeeded, "cannot decrease the succeeded counter");
  }
}

function* validateTimesKept(change: Change): Iterable<FieldError> {
  const { spec, status, before } = change;
  const { startTime, completionTime } = status;
  if (completionTime !== undefined && before.completionTime !== undefined && changes(change, "completionTime")) {
    yield immutable("status.completionTime", completionTime);
  }
  // The start time of a Job is reset when it is resumed.
  const resumes = isTrue(before, "Suspended") && isFalse(status, "Suspended");
  if (before.startTime !== undefined && changes(change, "startTime") && !resumes && spec.suspend !== true) {
    yield invalid("status.startTime", startTime, "field is immutable for unsuspended job once set");
  }
}

function* validateSuccessCriteriaKept({ status, before }: Change): Iterable<FieldError> {
  const [isMet, wasMet] = [isTrue(status, "SuccessCriteriaMet"), isTrue(before, "SuccessCriteriaMet")];
  if (wasMet && !isMet) yield wrong(CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition");
  if (isTrue(before, "Complete") && !wasMet && isMet) {
    yield wrong(CONDITIONS, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  }
}
