/** What becomes of the conditions of a CertificateSigningRequest when they are written: their times, and decisions that stay as they are. */
import type {
  CertificateSigningRequestCondition as RequestCondition,
  CertificateSigningRequestStatus as RequestStatus,
} from "../../../generated/certificates.k8s.io/v1.ts";
import { changedItems, withChanges } from "../../../changes.ts";
import { without } from "../../../members.ts";
import { formatTime, ZERO_TIME } from "../../../machinery/time.ts";

/** Made by the path `approval` only. */
export const DECISIONS: readonly string[] = ["Approved", "Denied"];

type Conditions = readonly RequestCondition[] | undefined;

/** Times that were left out: now, or since when the condition of that type has had that status. */
export function withTimes(next: Conditions, previous: Conditions, nowMs: number): Conditions {
  const now = formatTime(nowMs);
  return changedItems(next, (condition) => {
    if (!isUnset(condition.lastUpdateTime) && !isUnset(condition.lastTransitionTime)) return condition;
    const same = previous?.find(
      ({ type, status, lastTransitionTime }) => type === condition.type && status === condition.status && !isUnset(lastTransitionTime),
    );
    return withChanges(condition, {
      lastUpdateTime: isUnset(condition.lastUpdateTime) ? now : condition.lastUpdateTime,
      lastTransitionTime: isUnset(condition.lastTransitionTime) ? (same?.lastTransitionTime ?? now) : condition.lastTransitionTime,
    });
  });
}

/** A time that was not given is null in what was decoded. */
function isUnset(time: string | null | undefined): boolean {
  return time === undefined || time === null || time === ZERO_TIME;
}

/** Decisions as they were, unless there are more or fewer of a type: that is a mistake, and is told as one. */
export function withKeptDecisions(next: Conditions, previous: Conditions): Conditions {
  return DECISIONS.reduce<Conditions>((conditions, type) => {
    const before = previous?.filter((condition) => condition.type === type) ?? [];
    if (conditions?.filter((condition) => condition.type === type).length !== before.length) return conditions;
    let taken = 0;
    return changedItems(conditions, (condition) => (condition.type === type ? (before[taken++] ?? condition) : condition));
  }, next);
}

export function conditionsAfter(status: RequestStatus | undefined, conditions: Conditions): RequestStatus {
  if (conditions === undefined || conditions.length === 0) return without(status ?? {}, "conditions");
  return withChanges(status ?? {}, { conditions });
}
