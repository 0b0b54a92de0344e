/** Grace period of a terminating Pod. */
import type { Pod } from "../../api/generated/core/v1.ts";

const SECOND_MS = 1000;
/** Upstream's minimum: every container receives its stop signal before it is killed. */
export const GRACE_MIN_MS = 2 * SECOND_MS;
const GRACE_DEFAULT_SECONDS = 30;

export function stopGraceMs({ metadata, spec }: Pod): number {
  const seconds = metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? GRACE_DEFAULT_SECONDS;
  return Math.max(GRACE_MIN_MS, seconds * SECOND_MS);
}
