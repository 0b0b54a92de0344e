/**
 * When that happened because of which endpoints are written: a Pod became ready or stopped being so, or the Service came.
 * It is read from what is there and needs no memory, so it is the same after a restart; upstream remembers what it has seen, and begins
 * anew with the time of the Service.
 */
import type { Pod, Service } from "../../../api/generated/core/v1.ts";
import { findCondition } from "../../../api/machinery/conditions.ts";
import type { Labels } from "../../../api/core/v1/service/backends.ts";
import { TRIGGER_TIME } from "./labels.ts";

/**
 * The earliest of several changes; undefined if none has a time. Before there was a Service, a Pod's change was no reason to write.
 * Times are compared as text: the API writes them all in one form.
 */
export function triggerTime({ metadata }: Service, changed: Iterable<Pod>): string | undefined {
  const servedSince = metadata.creationTimestamp ?? "";
  let earliest: string | undefined;
  for (const { status } of changed) {
    const { lastTransitionTime } = findCondition(status?.conditions, "Ready") ?? {};
    if (lastTransitionTime === undefined || lastTransitionTime === null) continue;
    const time = lastTransitionTime > servedSince ? lastTransitionTime : servedSince;
    if (earliest === undefined || time < earliest) earliest = time;
  }
  return earliest;
}

/** A change without a time takes the annotation away: it must not be read as the time of this one. */
export function withTriggerTime(annotations: Labels | undefined, time: string | undefined): Labels {
  const { [TRIGGER_TIME]: _, ...others } = annotations ?? {};
  return time === undefined ? others : { ...others, [TRIGGER_TIME]: time };
}
