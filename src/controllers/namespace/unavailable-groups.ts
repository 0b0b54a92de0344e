/**
 * Groups that discovery does not return because their aggregated API server is down. A namespace waits for such a server for a limited time
 * only, so that an adapter that was never repaired does not keep every namespace of the cluster terminating. Decision record 0038 says what
 * is lost. Pure.
 */
import type { APIService } from "../../api/generated/apiregistration.k8s.io/v1.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { parseApiVersion } from "../../api/machinery/object.ts";
import { parseTime } from "../../api/machinery/time.ts";
import type { DiscoveryFailure } from "../../client/discovery.ts";

/** A restart of an aggregated server, with the download of its image, takes less. */
export const UNAVAILABLE_FOR_MS = 60_000;

export interface SortedFailures {
  /** Nothing says that a server is down: the namespace waits, however long it takes. */
  readonly blocking: readonly DiscoveryFailure[];
  /** The namespace is finalized without these groups. */
  readonly abandoned: readonly DiscoveryFailure[];
  /** Time until the server of a further group has been unavailable for long enough; undefined if no further one exists. */
  readonly waitMs?: number;
}

/** `serviceOf`: the APIService of this name. */
export function sortFailures(
  failures: readonly DiscoveryFailure[],
  serviceOf: (name: string) => APIService | undefined,
  nowMs: number,
): SortedFailures {
  const blocking: DiscoveryFailure[] = [];
  const abandoned: DiscoveryFailure[] = [];
  let waitMs: number | undefined;
  for (const failure of failures) {
    const sinceMs = unavailableSince(serviceOf(apiServiceName(failure.groupVersion)));
    if (sinceMs === undefined) {
      blocking.push(failure);
    } else if (nowMs - sinceMs >= UNAVAILABLE_FOR_MS) {
      abandoned.push(failure);
    } else {
      waitMs = Math.min(waitMs ?? Infinity, sinceMs + UNAVAILABLE_FOR_MS - nowMs);
    }
  }
  return { blocking, abandoned, ...(waitMs === undefined ? {} : { waitMs }) };
}

/** "v1beta1.metrics.k8s.io". */
function apiServiceName(groupVersion: string): string {
  const { group, version } = parseApiVersion(groupVersion) ?? { group: "", version: groupVersion };
  return `${version}.${group}`;
}

/** Undefined: it is available, or this server serves the group itself. */
function unavailableSince(service: APIService | undefined): number | undefined {
  if (service?.spec?.service === undefined) return undefined;
  const available = findCondition(service.status?.conditions, "Available");
  return available?.status === "False" ? parseTime(available.lastTransitionTime ?? "") : undefined;
}
