/**
 * maxSurge and maxUnavailable of a Deployment as numbers of Pods. Percentages are of the desired replicas; surge is rounded up, unavailable
 * down, and they are never both zero: then nothing could ever be replaced.
 */
import type { Deployment } from "../../generated/apps/v1.ts";
import { shareOf } from "../../number-or-percent.ts";

/** The desired number of Pods. */
export function wantedReplicas({ spec }: Deployment): number {
  return spec?.replicas ?? 1;
}

export function isRollingUpdate({ spec }: Deployment): boolean {
  return spec?.strategy?.type !== "Recreate";
}

export function maxSurgeOf(deployment: Deployment): number {
  return isRollingUpdate(deployment) ? resolveBounds(deployment).surge : 0;
}

export function maxUnavailableOf(deployment: Deployment): number {
  return isRollingUpdate(deployment) ? Math.min(resolveBounds(deployment).unavailable, wantedReplicas(deployment)) : 0;
}

function resolveBounds(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge = 0, maxUnavailable = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const total = wantedReplicas(deployment);
  const surge = shareOf(maxSurge, { of: total, round: "up" });
  const unavailable = shareOf(maxUnavailable, { of: total, round: "down" });
  // Prefers one unavailable to one surplus Pod, which a quota may reject.
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}
