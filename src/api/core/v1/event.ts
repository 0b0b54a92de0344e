/**
 * Event: something that happened to an object, reported for people. core/v1 and events.k8s.io/v1 are two views of the same stored objects
 * (event/convert.ts), and both show the same table.
 *
 * Events cover the recent past only: each expires an hour after its last write. `kubectl describe` selects those of one object by its uid,
 * so that is indexed.
 */
import type { Event } from "../../generated/core/v1.ts";
import { nameColumn, textColumn, UNKNOWN } from "../../machinery/columns.ts";
import { ageOf } from "../../machinery/duration.ts";
import { defineResource, type SelectableFields } from "../../machinery/resource.ts";
import { fromCoreEvent, toCoreEvent } from "./event/convert.ts";
import { isSet, validateCoreEvent, validateEventsV1 } from "./event/validate.ts";

const SECONDS_TO_LIVE = 3_600;

const REFERENCE_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

/** The two versions name the same fields differently. */
function referenceFields(prefix: "involvedObject" | "regarding"): SelectableFields<Event> {
  return Object.fromEntries(REFERENCE_FIELDS.map((field) => [`${prefix}.${field}`, (event: Event) => event.involvedObject?.[field] ?? ""]));
}

const sharedFields: SelectableFields<Event> = {
  reason: (event) => event.reason ?? "",
  type: (event) => event.type ?? "",
};

const eventsV1 = {
  group: "events.k8s.io",
  version: "v1",
  schema: "io.k8s.api.events.v1.Event",
  toStorage: toCoreEvent,
  fromStorage: fromCoreEvent,
  validate: validateEventsV1,
  selectableFields: {
    ...referenceFields("regarding"),
    ...sharedFields,
    reportingController: (event: Event) => event.reportingComponent ?? "",
  },
} as const;

export const events = defineResource<Event>({
  kind: "Event",
  plural: "events",
  singular: "event",
  shortNames: ["ev"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.Event" }, eventsV1],
  storage: { group: "", version: "v1" },
  createOnUpdate: true,
  secondsToLive: SECONDS_TO_LIVE,
  recordsCauses: false,

  // Each version has its own name validation.
  validateName: () => [],
  allowsPlainFinalizers: true,
  validate: validateCoreEvent,

  selectableFields: {
    ...referenceFields("involvedObject"),
    ...sharedFields,
    reportingComponent: (event) => event.reportingComponent ?? "",
    // New Events have no source; the reporting controller replaces it.
    source: (event) => event.source?.component || (event.reportingComponent ?? ""),
  },
  indexedFields: ["involvedObject.uid"],

  columns: [
    textColumn("Last Seen", "Time since the last occurrence", (event, { nowMs }) => lastSeen(event, nowMs)),
    textColumn("Type", "Normal or Warning", (event) => event.type ?? ""),
    textColumn("Reason", "Reason in CamelCase", (event) => event.reason ?? ""),
    textColumn("Object", "Involved object", objectCell),
    textColumn("Subobject", "Field path in the involved object", ({ involvedObject }) => involvedObject?.fieldPath ?? "", {
      priority: 1,
    }),
    textColumn("Source", "Component that reported it", sourceCell, { priority: 1 }),
    textColumn("Message", "Human-readable message", (event) => (event.message ?? "").trim()),
    textColumn("First Seen", "Time since the first occurrence", (event, { nowMs }) => firstSeen(event, nowMs), { priority: 1 }),
    textColumn("Count", "Number of occurrences", (event) => (event.series === undefined ? event.count || 1 : (event.series.count ?? 0)), {
      priority: 1,
    }),
    { ...nameColumn, priority: 1 },
  ],
});

function firstSeen({ firstTimestamp, eventTime }: Event, nowMs: number): string {
  if (isSet(firstTimestamp)) return ageOf(firstTimestamp, nowMs);
  return isSet(eventTime) ? ageOf(eventTime, nowMs) : UNKNOWN;
}

function lastSeen(event: Event, nowMs: number): string {
  if (event.series !== undefined) {
    const { lastObservedTime } = event.series;
    return isSet(lastObservedTime) ? ageOf(lastObservedTime, nowMs) : UNKNOWN;
  }
  return isSet(event.lastTimestamp) ? ageOf(event.lastTimestamp, nowMs) : firstSeen(event, nowMs);
}

function objectCell({ involvedObject }: Event): string {
  const { kind = "", name = "" } = involvedObject ?? {};
  return name === "" ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function sourceCell({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || (reportingComponent ?? "");
  const instance = source?.host || (reportingInstance ?? "");
  return instance === "" ? component : `${component}, ${instance}`;
}
