/**
 * Validation of Events. core/v1 has few rules, because very old clients still send them: even names are hardly validated. events.k8s.io/v1
 * is strict: an Event has a time and a reporting controller, uses no deprecated field, and only its series may change.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { Event, EventSource, ObjectReference } from "../../../generated/core/v1.ts";
import { element, immutable, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateStandardFinalizer } from "../../../machinery/metadata-validation.ts";
import { validateDnsSubdomain, validatePathSegmentName, validateQualifiedName } from "../../../machinery/names.ts";

const SHORT_TEXT_MAX_BYTES = 128;
const MESSAGE_MAX_BYTES = 1024;
/** Events about cluster-scoped objects are in one of these namespaces. */
const DEFAULT_NAMESPACE = "default";
const SYSTEM_NAMESPACE = "kube-system";
const NAMESPACE_MISMATCH = "does not match event.namespace";

/** Validates a write through core/v1. Any name that fits a path segment is valid, and it is validated last. */
export function* validateCoreEvent(event: Event, previous?: Event): Iterable<FieldError> {
  const errors = [...validateLegacyEvent(event, "reportingComponent")];
  yield* errors;
  if (previous !== undefined || errors.length > 0) return;
  const { name } = event.metadata;
  for (const wrong of validatePathSegmentName(name)) yield invalid("metadata.name", name, wrong);
}

/** Rules of every Event. The field of the reporting controller has different names in the two versions. */
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

/** An Event with an `eventTime` is of the new kind, in either version. */
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

/** Validates a write through events.k8s.io/v1. */
export function* validateEventsV1(event: Event, previous?: Event): Iterable<FieldError> {
  yield* validateLegacyEvent(event, "reportingController");
  yield* previous === undefined ? validateStrictCreate(event) : validateStrictUpdate(event, previous);
}

/** Additional rules of creates through events.k8s.io/v1. */
export function* validateStrictCreate(event: Event): Iterable<FieldError> {
  const { name } = event.metadata;
  // A missing namespace is reported for every kind.
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

/** Only this version requires qualified finalizers. */
function* validateFinalizerNames({ metadata: { finalizers = [] } }: Event): Iterable<FieldError> {
  for (const [index, name] of finalizers.entries())
    yield* errorsOf((errors) => validateStandardFinalizer(errors, name, element("metadata.finalizers", index)));
}

/** Additional rules of updates through events.k8s.io/v1. */
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
  // Upstream reports this one twice.
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

/** A series needs at least two occurrences. */
function* validateSeries({ series }: Event): Iterable<FieldError> {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2) yield invalid("series.count", "", "should be at least 2");
  if (!isSet(series.lastObservedTime)) yield required("series.lastObservedTime");
}

/** In the format of upstream's message: with its type names, and every member. */
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

/** An absent time is undefined or null, depending on the version. */
export function isSet(time: string | null | undefined): time is string {
  return typeof time === "string";
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
