/**
 * Converts an Event between its two versions. They hold the same under other names: fields that are new in events.k8s.io have good names
 * there, and old ones are prefixed with deprecated. Nothing is lost in either direction. Members that a version always writes are written
 * with their zero value; absent times stay as the decoder left them.
 */
import type { Event, EventSeries } from "../../../generated/core/v1.ts";
import type { Event as EventsV1Event, EventSeries as EventsV1Series } from "../../../generated/events.k8s.io/v1.ts";
import { defined } from "../../../members.ts";

export function toCoreEvent(event: EventsV1Event): Event {
  return defined<Event>({
    apiVersion: "v1",
    kind: "Event",
    metadata: event.metadata,
    involvedObject: event.regarding ?? {},
    reason: event.reason,
    message: event.note,
    source: event.deprecatedSource ?? {},
    firstTimestamp: event.deprecatedFirstTimestamp,
    lastTimestamp: event.deprecatedLastTimestamp,
    count: event.deprecatedCount,
    type: event.type,
    eventTime: event.eventTime,
    series: event.series === undefined ? undefined : toCoreSeries(event.series),
    action: event.action,
    related: event.related,
    reportingComponent: event.reportingController ?? "",
    reportingInstance: event.reportingInstance ?? "",
  });
}

export function fromCoreEvent(event: Event): EventsV1Event {
  return defined<EventsV1Event>({
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: event.metadata,
    eventTime: event.eventTime,
    series: event.series === undefined ? undefined : fromCoreSeries(event.series),
    reportingController: event.reportingComponent || undefined,
    reportingInstance: event.reportingInstance || undefined,
    action: event.action,
    reason: event.reason,
    regarding: event.involvedObject ?? {},
    related: event.related,
    note: event.message,
    type: event.type,
    deprecatedSource: event.source ?? {},
    deprecatedFirstTimestamp: event.firstTimestamp,
    deprecatedLastTimestamp: event.lastTimestamp,
    deprecatedCount: event.count,
  });
}

function toCoreSeries({ count, lastObservedTime }: EventsV1Series): EventSeries {
  return defined<EventSeries>({ count: count === 0 ? undefined : count, lastObservedTime });
}

function fromCoreSeries({ count = 0, lastObservedTime }: EventSeries): EventsV1Series {
  return defined<EventsV1Series>({ count, lastObservedTime });
}
