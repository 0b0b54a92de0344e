/**
 * How far a Deployment may be from what it wants while Pods are replaced: so many too many, so many missing. Shares are of the number
 * that is wanted; those on top are rounded up, the missing down, and never are both none: then nothing could ever be replaced.
 */
import type { Deployment } from "../../generated/apps/v1.ts";
import { shareOf } from "../../number-or-percent.ts";

/** How many Pods there should be. */
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
  // Better one missing than one on top, for which there may be no room in a quota.
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}
