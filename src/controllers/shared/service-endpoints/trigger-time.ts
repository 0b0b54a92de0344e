/**
 * Time of the change that triggered an endpoints write: a Pod became ready or not ready, or the Service was created. Computed from current
 * state without memory, so that it is the same after a restart; upstream keeps state, and restarts with the time of the Service.
 */
import type { Pod, Service } from "../../../api/generated/core/v1.ts";
import { findCondition } from "../../../api/machinery/conditions.ts";
import type { Labels } from "../../../api/core/v1/service/backends.ts";
import { TRIGGER_TIME } from "./labels.ts";

/**
 * The earliest of several changes; undefined if none has a time. Pod changes before the Service existed do not count. Times are compared as
 * text: the API writes them all in one format.
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

/** A change without a time removes the annotation: it must not be read as the time of this one. */
export function withTriggerTime(annotations: Labels | undefined, time: string | undefined): Labels {
  const { [TRIGGER_TIME]: _, ...others } = annotations ?? {};
  return time === undefined ? others : { ...others, [TRIGGER_TIME]: time };
}
