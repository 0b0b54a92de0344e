/**
 * Conditions of a status: what is true of an object, why, and since when. `lastTransitionTime` changes only with the status, so that
 * clients can see how long a condition has held.
 */
import { child, duplicate, element, invalid, notSupported, required, tooLong, type FieldError } from "./field-error.ts";
import { errorsOf } from "./findings.ts";
import { validateLabelName } from "./metadata-validation.ts";
import { isLongerThan, validateConditionReason } from "./names.ts";
import { formatTime, ZERO_TIME } from "./time.ts";

/** Members that the conditions of all kinds share. */
export interface ConditionLike {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

/** meta.v1.Condition. */
export interface Condition extends ConditionLike {
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

const STATUSES = ["False", "True", "Unknown"];
const REASON_LENGTH_MAX_BYTES = 1024;
const MESSAGE_LENGTH_MAX_BYTES = 32 * 1024;

export function findCondition<C extends ConditionLike>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly ConditionLike[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/**
 * Returns the list with this condition in place of the one of its type, or appended. `lastTransitionTime` is kept if the status is
 * unchanged.
 */
export function withCondition<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  condition: Omit<C, "lastTransitionTime"> & Pick<ConditionLike, "type" | "status">,
  nowMs: number,
): readonly C[] {
  const previous = findCondition(conditions, condition.type);
  const isSame = previous?.status === condition.status && previous.lastTransitionTime !== undefined;
  const lastTransitionTime = isSame ? previous.lastTransitionTime : formatTime(nowMs);
  const next = { ...condition, lastTransitionTime } as C;
  if (previous === undefined) return [...(conditions ?? []), next];
  return (conditions ?? []).map((candidate) => (candidate === previous ? next : candidate));
}

export function withoutCondition<C extends ConditionLike>(conditions: readonly C[] | undefined, type: string): readonly C[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}

export function* validateConditions(conditions: readonly Condition[] | undefined, at: string): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, condition] of (conditions ?? []).entries()) {
    const here = element(at, index);
    if (seen.has(condition.type)) yield duplicate(child(here, "type"), condition.type);
    seen.add(condition.type);
    yield* validateCondition(condition, here);
  }
}

/** A client may omit any member. */
function* validateCondition(condition: Partial<Condition>, at: string): Iterable<FieldError> {
  const { type = "", status = "", observedGeneration = 0, reason = "", message = "" } = condition;
  // An omitted time is decoded as null.
  const lastTransitionTime = condition.lastTransitionTime ?? "";
  yield* errorsOf((errors) => validateLabelName(errors, type, child(at, "type")));
  if (!STATUSES.includes(status)) yield notSupported(child(at, "status"), status, STATUSES);
  if (observedGeneration < 0) yield invalid(child(at, "observedGeneration"), observedGeneration, "must be greater than or equal to zero");
  if (lastTransitionTime === "" || lastTransitionTime === ZERO_TIME) yield required(child(at, "lastTransitionTime"));
  if (reason === "") yield required(child(at, "reason"));
  else for (const wrong of validateConditionReason(reason)) yield invalid(child(at, "reason"), reason, wrong);
  if (isLongerThan(reason, REASON_LENGTH_MAX_BYTES)) yield tooLong(child(at, "reason"), REASON_LENGTH_MAX_BYTES);
  if (isLongerThan(message, MESSAGE_LENGTH_MAX_BYTES)) yield tooLong(child(at, "message"), MESSAGE_LENGTH_MAX_BYTES);
}
