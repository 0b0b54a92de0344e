/**
 * Validation of a PersistentVolumeClaim. The spec is immutable, because quotas count it and a volume was matched to it. The exceptions: the
 * volume name is set once, a class may be set on a claim without one, and a bound claim may request another size or other attributes.
 */
import { deepEqual } from "../../../../base/deep.ts";
import { withChanges } from "../../../changes.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus } from "../../../generated/core/v1.ts";
import { element, forbidden, immutable, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateQualifiedName } from "../../../machinery/names.ts";
import { compareQuantities } from "../../../machinery/quantity.ts";
import { without } from "../../../members.ts";
import { STORAGE_CLASS_ANNOTATION, validateCapacity } from "../persistent-storage.ts";
import { describeDifference } from "../pod/validation/difference.ts";
import { isNativeResource, readQuantity } from "../pod/resource-list.ts";
import { isSameRequirements } from "../pod/same-spec.ts";
import { validateClaimSpec } from "./validate-spec.ts";

export function validateClaim({ spec = {} }: PersistentVolumeClaim, previous?: PersistentVolumeClaim): Iterable<FieldError> {
  return validateClaimSpec(spec, "spec", { anyApiGroup: namesApiGroup(previous?.spec) });
}

function namesApiGroup({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec = {}): boolean {
  return (dataSource?.apiGroup ?? dataSourceRef?.apiGroup) !== undefined;
}

export function* validateClaimUpdate(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): Iterable<FieldError> {
  if (!takesClassFromAnnotation(next, previous)) yield* validateSameAnnotation(next, previous);
  const [wanted, before] = comparableSpecs(next, previous);
  if (!isSameSpec(wanted, before)) {
    const why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    yield forbidden("spec", `${why}\n${describeDifference(before, wanted)}`);
  }
  yield* validateSize(next, previous);
  if (next.spec?.volumeMode !== previous.spec?.volumeMode) yield immutable("volumeMode", next.spec?.volumeMode);
  yield* validateAttributesClass(next, previous);
}

function* validateSameAnnotation(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): Iterable<FieldError> {
  const value = classAnnotation(next) ?? "";
  if (value !== (classAnnotation(previous) ?? "")) yield immutable(`metadata.annotations.${STORAGE_CLASS_ANNOTATION}`, value);
}

function classAnnotation({ metadata }: PersistentVolumeClaim): string | undefined {
  return metadata.annotations?.[STORAGE_CLASS_ANNOTATION];
}

/** The class moves from the annotation to the field, and the annotation may be removed. */
function takesClassFromAnnotation(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): boolean {
  const annotation = classAnnotation(previous);
  if (annotation === undefined || previous.spec?.storageClassName !== undefined) return false;
  return next.spec?.storageClassName === annotation && (classAnnotation(next) ?? annotation) === annotation;
}

/** A claim without a class may be given one: that of its annotation, if it has one. */
function takesFirstClass(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): boolean {
  const className = next.spec?.storageClassName;
  if (className === undefined || previous.spec?.storageClassName !== undefined) return false;
  return (classAnnotation(previous) ?? className) === className;
}

/** Both specs with the mutable fields made equal. */
function comparableSpecs(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
): readonly [PersistentVolumeClaimSpec, PersistentVolumeClaimSpec] {
  let wanted = next.spec ?? {};
  let before = previous.spec ?? {};
  if (!before.volumeName && wanted.volumeName) before = withChanges(before, { volumeName: wanted.volumeName });
  // Moving the class from the annotation also counts as setting the first class.
  if (takesFirstClass(next, previous)) wanted = without(wanted, "storageClassName");
  if (next.status?.phase !== "Bound") return [wanted, before];
  const { volumeAttributesClassName, resources } = before;
  wanted = withChanges(without(wanted, "volumeAttributesClassName"), { volumeAttributesClassName });
  const storage = resources?.requests?.["storage"];
  if (storage === undefined || wanted.resources?.requests === undefined) return [wanted, before];
  return [withChanges(wanted, { resources: { ...wanted.resources, requests: { ...wanted.resources.requests, storage } } }), before];
}

function isSameSpec(a: PersistentVolumeClaimSpec, b: PersistentVolumeClaimSpec): boolean {
  return isSameRequirements(a.resources ?? {}, b.resources ?? {}) && deepEqual(without(a, "resources"), without(b, "resources"));
}

/** The size may be reduced to recover from a failed expansion, but not below the actual capacity. */
function* validateSize(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): Iterable<FieldError> {
  const size = storageOf(next.spec?.resources?.requests);
  if (compareQuantities(size, storageOf(previous.spec?.resources?.requests)) >= 0) return;
  if (compareQuantities(size, storageOf(previous.status?.capacity)) > 0) return;
  yield forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
}

function storageOf(list: Readonly<Record<string, string>> | undefined): ReturnType<typeof readQuantity> {
  return readQuantity(list?.["storage"] ?? "0");
}

/** Volume attributes that were applied can be replaced but not removed. */
function* validateAttributesClass({ spec }: PersistentVolumeClaim, previous: PersistentVolumeClaim): Iterable<FieldError> {
  const className = spec?.volumeAttributesClassName;
  if (className === previous.spec?.volumeAttributesClassName || previous.status?.currentVolumeAttributesClassName === undefined) return;
  const [at, why] = ["spec.volumeAttributesClassName", "is forbidden when status.currentVolumeAttributesClassName is not nil"];
  if (className === undefined) yield forbidden(at, `update to nil ${why}`);
  else if (className === "") yield forbidden(at, `update to empty string ${why}`);
}

const RESIZE_STATUSES = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
].toSorted();

export function* validateClaimStatus({ spec = {}, status = {} }: PersistentVolumeClaim): Iterable<FieldError> {
  if ((spec.accessModes ?? []).length === 0) yield required("Spec.accessModes");
  for (const [name, text] of Object.entries(status.capacity ?? {})) yield* validateCapacity(text, element("status.capacity", name));
  yield* validateResize(status);
}

function* validateResize({ allocatedResourceStatuses = {}, allocatedResources = {} }: PersistentVolumeClaimStatus): Iterable<FieldError> {
  const statusesAt = "status.allocatedResourceStatuses";
  for (const [name, status] of Object.entries(allocatedResourceStatuses)) {
    yield* validateResourceName(name, statusesAt);
    // Upstream quotes the name here, not the status.
    if (!RESIZE_STATUSES.includes(status)) yield notSupported(statusesAt, name, RESIZE_STATUSES);
  }
  const amountsAt = "status.allocatedResources";
  for (const [name, text] of Object.entries(allocatedResources)) {
    const wrong = [...validateResourceName(name, amountsAt)];
    if (wrong.length > 0) yield* wrong;
    else yield* validateCapacity(text, element(amountsAt, name));
  }
}

/** Of Kubernetes' own resources, a volume has storage only. */
function* validateResourceName(name: string, at: string): Iterable<FieldError> {
  const problems = validateQualifiedName(name);
  for (const problem of problems) yield invalid(at, name, problem);
  if (problems.length === 0 && isNativeResource(name) && name !== "storage") yield notSupported(at, name, ["storage"]);
}
