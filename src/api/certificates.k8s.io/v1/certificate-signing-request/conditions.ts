/** The write strategy of the conditions of a CertificateSigningRequest: their times, and decisions that are kept. */
import type {
  CertificateSigningRequestCondition as RequestCondition,
  CertificateSigningRequestStatus as RequestStatus,
} from "../../../generated/certificates.k8s.io/v1.ts";
import { changedItems, withChanges } from "../../../changes.ts";
import { without } from "../../../members.ts";
import { formatTime, ZERO_TIME } from "../../../machinery/time.ts";

/** Conditions that only the path `approval` writes. */
export const DECISIONS: readonly string[] = ["Approved", "Denied"];

type Conditions = readonly RequestCondition[] | undefined;

/** Sets omitted times: now, or the time of the previous condition of that type and status. */
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

/** An omitted time is null after decoding. */
function isUnset(time: string | null | undefined): boolean {
  return time === undefined || time === null || time === ZERO_TIME;
}

/** Decisions are kept, unless some of a type were added or removed: validation reports that. */
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
