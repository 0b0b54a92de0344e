/**
 * The rules for Events. Those of core/v1 are few, because programs of many years ago still send them: even names are hardly looked at.
 * Who writes through events.k8s.io/v1 keeps the strict ones: an Event says when and by whom it was made, uses no deprecated field, and
 * only its series may change.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { Event, EventSource, ObjectReference } from "../../../generated/core/v1.ts";
import { element, immutable, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateStandardFinalizer } from "../../../machinery/metadata-validation.ts";
import { validateDnsSubdomain, validatePathSegmentName, validateQualifiedName } from "../../../machinery/names.ts";

const SHORT_TEXT_MAX_BYTES = 128;
const MESSAGE_MAX_BYTES = 1024;
/** Events about objects that are in no namespace are kept in one of these. */
const DEFAULT_NAMESPACE = "default";
const SYSTEM_NAMESPACE = "kube-system";
const NAMESPACE_MISMATCH = "does not match event.namespace";

/** All rules for what is written through core/v1. Any name will do that can stand in a path, and it is looked at last. */
export function* validateCoreEvent(event: Event, previous?: Event): Iterable<FieldError> {
  const errors = [...validateLegacyEvent(event, "reportingComponent")];
  yield* errors;
  if (previous !== undefined || errors.length > 0) return;
  const { name } = event.metadata;
  for (const wrong of validatePathSegmentName(name)) yield invalid("metadata.name", name, wrong);
}

/** What every Event must keep. The field that says who reports is called differently in the two versions. */
export function* validateLegacyEvent(event: Event, reporterField: "reportingComponent" | "reportingController"): Iterable<FieldError> {
  if (isSet(event.eventTime)) yield* validateNewStyle(event, reporterField);
  else yield* validateSameNamespace(event);
  const { namespace = "" } = event.metadata;
  for (const wrong of validateDnsSubdomain(namespace)) yield invalid("namespace", namespace, wrong);
}

function* validateSameNamespace({ involvedObject, metadata }: Event): Iterable<FieldError> {
  const { namespace = "" } = metadata;
  const about = involvedObject?.namespace ?? "";
  const fits = about === "" ? namespace === "" || namespace === DEFAULT_NAMESPACE : about === namespace;
  if (!fits) yield invalid("involvedObject.namespace", about, NAMESPACE_MISMATCH);
}

/** An Event with an `eventTime` is one of the new sort, whichever version it comes through. */
function* validateNewStyle(event: Event, reporterField: string): Iterable<FieldError> {
  const { namespace = "" } = event.metadata;
  if ((event.involvedObject?.namespace ?? "") === "" && namespace !== DEFAULT_NAMESPACE && namespace !== SYSTEM_NAMESPACE) {
    yield invalid("involvedObject.namespace", "", NAMESPACE_MISMATCH);
  }
  const { reportingComponent = "", message = "" } = event;
  if (reportingComponent === "") yield required(reporterField);
  for (const wrong of validateQualifiedName(reportingComponent)) yield invalid(reporterField, reportingComponent, wrong);
  for (const field of ["reportingInstance", "action", "reason"] as const) {
    const text = event[field] ?? "";
    if (text === "") yield required(field);
    yield* validateLength(text, field, SHORT_TEXT_MAX_BYTES);
  }
  yield* validateLength(message, "message", MESSAGE_MAX_BYTES);
}

function* validateLength(text: string, field: string, maxBytes: number): Iterable<FieldError> {
  if (byteLength(text) > maxBytes) yield invalid(field, "", `can have at most ${maxBytes} characters`);
}

/** All rules for what is written through events.k8s.io/v1. */
export function* validateEventsV1(event: Event, previous?: Event): Iterable<FieldError> {
  yield* validateLegacyEvent(event, "reportingController");
  yield* previous === undefined ? validateStrictCreate(event) : validateStrictUpdate(event, previous);
}

/** What is demanded in addition of an Event that is made through events.k8s.io/v1. */
export function* validateStrictCreate(event: Event): Iterable<FieldError> {
  const { name } = event.metadata;
  // That there is none is said of every kind.
  if (name !== "") for (const wrong of validateDnsSubdomain(name)) yield invalid("metadata.name", name, wrong);
  yield* validateFinalizerNames(event);
  yield* validateSeries(event);
  if (!isSet(event.eventTime)) yield required("eventTime");
  const { type = "" } = event;
  if (type !== "Normal" && type !== "Warning") yield invalid("type", "", `has invalid value: ${type}`);
  for (const field of ["firstTimestamp", "lastTimestamp"] as const) {
    if (isSet(event[field])) yield invalid(field, "", "needs to be unset");
  }
  if ((event.count ?? 0) !== 0) yield invalid("count", "", "needs to be unset");
  if ((event.source?.component ?? "") !== "" || (event.source?.host ?? "") !== "") yield invalid("source", "", "needs to be unset");
}

/** Only this API asks for names that somebody is known to stand behind. */
function* validateFinalizerNames({ metadata: { finalizers = [] } }: Event): Iterable<FieldError> {
  for (const [index, name] of finalizers.entries()) yield* validateStandardFinalizer(name, element("metadata.finalizers", index));
}

/** What is demanded in addition of a change through events.k8s.io/v1. */
export function* validateStrictUpdate(next: Event, previous: Event): Iterable<FieldError> {
  yield* validateFinalizerNames(next);
  if (!deepEqual(next.series, previous.series)) yield* validateSeries(next);
  if (!deepEqual(next.involvedObject, previous.involvedObject)) yield immutable("involvedObject", shownReference(next.involvedObject));
  yield* unchanged(next.reason ?? "", previous.reason ?? "", "reason");
  yield* unchanged(next.message ?? "", previous.message ?? "", "message");
  if (!deepEqual(next.source ?? {}, previous.source ?? {})) yield immutable("source", shownSource(next.source ?? {}));
  for (const field of ["firstTimestamp", "lastTimestamp"] as const) {
    yield* unchanged(isSet(next[field]) ? next[field] : null, isSet(previous[field]) ? previous[field] : null, field);
  }
  yield* unchanged(next.count ?? 0, previous.count ?? 0, "count");
  // Upstream says this one twice.
  yield* unchanged(next.reason ?? "", previous.reason ?? "", "reason");
  yield* unchanged(next.type ?? "", previous.type ?? "", "type");
  yield* unchanged(isSet(next.eventTime) ? next.eventTime : null, isSet(previous.eventTime) ? previous.eventTime : null, "eventTime");
  yield* unchanged(next.action ?? "", previous.action ?? "", "action");
  if (!deepEqual(next.related, previous.related)) {
    yield immutable("related", next.related === undefined ? null : shownReference(next.related));
  }
  yield* unchanged(next.reportingComponent ?? "", previous.reportingComponent ?? "", "reportingController");
  yield* unchanged(next.reportingInstance ?? "", previous.reportingInstance ?? "", "reportingInstance");
}

function* unchanged(next: unknown, previous: unknown, field: string): Iterable<FieldError> {
  if (next !== previous) yield immutable(field, next);
}

/** One Event stands for many of the same; a series of one would be none. */
function* validateSeries({ series }: Event): Iterable<FieldError> {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2) yield invalid("series.count", "", "should be at least 2");
  if (!isSet(series.lastObservedTime)) yield required("series.lastObservedTime");
}

/** As upstream's message shows it: with the names of its own types, and every member. */
function shownReference(reference: ObjectReference): unknown {
  return {
    Kind: reference.kind ?? "",
    Namespace: reference.namespace ?? "",
    Name: reference.name ?? "",
    UID: reference.uid ?? "",
    APIVersion: reference.apiVersion ?? "",
    ResourceVersion: reference.resourceVersion ?? "",
    FieldPath: reference.fieldPath ?? "",
  };
}

function shownSource({ component = "", host = "" }: EventSource): unknown {
  return { Component: component, Host: host };
}

/** A time that was not given is absent or null, depending on the version it came through. */
export function isSet(time: string | null | undefined): time is string {
  return typeof time === "string";
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
