/**
 * Validation of `metadata` for objects of every kind, on create and on update, with upstream's messages. Not here: the name rules of a kind
 * (its `validateName`), and the assignment of uid, timestamps and generation.
 */
import { child, element, forbidden, immutable, invalid, required, tooLong } from "./field-error.ts";
import type { FieldErrors } from "./findings.ts";
import {
  byteLength,
  isLongerThan,
  maskTrailingDash,
  validateDnsLabel,
  validateDnsSubdomain,
  validateLabelValue,
  validateQualifiedName,
  type NameValidator,
} from "./names.ts";
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from "./object.ts";

/** Maximum size of all keys and values in bytes: they are sent with every object of every list. */
export const ANNOTATIONS_SIZE_MAX_BYTES = 256 * 1024;
const FIELD_MANAGER_LENGTH_MAX_BYTES = 128;
const SUBRESOURCE_LENGTH_MAX_BYTES = 256;
const ORPHAN_FINALIZER = "orphan";
const FOREGROUND_FINALIZER = "foregroundDeletion";

export interface MetadataRules {
  readonly namespaced: boolean;
  /** Name rule of the kind. Default: a DNS subdomain. */
  readonly validateName?: NameValidator | undefined;
  /** Path of the metadata. Default: "metadata". */
  readonly at?: string;
}

/** Validates the metadata of every object that is written. */
export function validateObjectMeta(
  errors: FieldErrors,
  meta: ObjectMeta,
  { namespaced, validateName, at = "metadata" }: MetadataRules,
): void {
  validateNames(errors, meta, validateName ?? validateDnsSubdomain, at);
  validateNamespace(errors, meta.namespace ?? "", namespaced, child(at, "namespace"));
  if ((meta.generation ?? 0) < 0) errors.add(invalid(child(at, "generation"), meta.generation, "must be greater than or equal to 0"));
  validateLabels(errors, meta.labels, child(at, "labels"));
  validateAnnotations(errors, meta.annotations, child(at, "annotations"));
  validateOwnerReferences(errors, meta.ownerReferences ?? [], child(at, "ownerReferences"));
  validateFinalizers(errors, meta.finalizers ?? [], child(at, "finalizers"));
  validateManagedFields(errors, meta.managedFields ?? [], child(at, "managedFields"));
}

/** Rejects changes of immutable metadata and validates the rest. */
export function validateObjectMetaUpdate(errors: FieldErrors, next: ObjectMeta, previous: ObjectMeta, at = "metadata"): void {
  if (previous.deletionTimestamp !== undefined)
    validateNoNewFinalizers(errors, next.finalizers, previous.finalizers, child(at, "finalizers"));
  if ((next.resourceVersion ?? "") === "") errors.add(invalid(child(at, "resourceVersion"), "", "must be specified for an update"));
  if ((next.generation ?? 0) < (previous.generation ?? 0)) {
    errors.add(invalid(child(at, "generation"), next.generation ?? 0, "must not be decremented"));
  }
  for (const field of ["name", "namespace", "uid"] as const) {
    if ((next[field] ?? "") !== (previous[field] ?? "")) errors.add(immutable(child(at, field), next[field] ?? ""));
  }
  for (const field of ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] as const) {
    if (next[field] !== previous[field]) errors.add(immutable(child(at, field), next[field]));
  }
  validateLabels(errors, next.labels, child(at, "labels"));
  validateAnnotations(errors, next.annotations, child(at, "annotations"));
  validateOwnerReferences(errors, next.ownerReferences ?? [], child(at, "ownerReferences"));
  validateManagedFields(errors, next.managedFields ?? [], child(at, "managedFields"));
}

function validateNames(
  errors: FieldErrors,
  { name = "", generateName = "" }: Partial<ObjectMeta>,
  validateName: NameValidator,
  at: string,
): void {
  if (generateName !== "") {
    for (const wrong of validateName(maskTrailingDash(generateName))) errors.add(invalid(child(at, "generateName"), generateName, wrong));
  }
  if (name === "") errors.add(required(child(at, "name"), "name or generateName is required"));
  else for (const wrong of validateName(name)) errors.add(invalid(child(at, "name"), name, wrong));
}

function validateNamespace(errors: FieldErrors, namespace: string, namespaced: boolean, at: string): void {
  if (!namespaced) {
    if (namespace !== "") errors.add(forbidden(at, "not allowed on this type"));
    return;
  }
  if (namespace === "") errors.add(required(at));
  else for (const wrong of validateDnsLabel(namespace)) errors.add(invalid(at, namespace, wrong));
}

/** Validates a label key, wherever it is used. */
export function validateLabelName(errors: FieldErrors, name: string, at: string): void {
  for (const wrong of validateQualifiedName(name)) errors.add(invalid(at, name, wrong));
}

/** Errors name the map itself, as upstream's do. */
export function validateLabels(errors: FieldErrors, labels: Readonly<Record<string, string>> | undefined, at: string): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    validateLabelName(errors, key, at);
    for (const wrong of validateLabelValue(value)) errors.add(invalid(at, value, wrong));
  }
}

export function validateAnnotations(errors: FieldErrors, annotations: Readonly<Record<string, string>> | undefined, at: string): void {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Unlike those of labels, annotation prefixes may have capital letters.
    for (const wrong of validateQualifiedName(key.toLowerCase())) errors.add(invalid(at, key, wrong));
    sizeBytes += byteLength(key) + byteLength(value);
  }
  if (sizeBytes > ANNOTATIONS_SIZE_MAX_BYTES) errors.add(tooLong(at, ANNOTATIONS_SIZE_MAX_BYTES));
}

export function validateOwnerReferences(errors: FieldErrors, references: readonly OwnerReference[], at: string): void {
  let controller: string | undefined;
  for (const reference of references) {
    validateOwnerReference(errors, reference, at);
    if (reference.controller !== true) continue;
    const title = `${reference.kind}/${reference.name}`;
    if (controller !== undefined) {
      errors.add(
        invalid(
          at,
          references,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${title}`,
        ),
      );
    }
    controller ??= title;
  }
}

/** A client may omit any member. */
function validateOwnerReference(errors: FieldErrors, reference: Partial<OwnerReference>, at: string): void {
  const { apiVersion = "", kind = "", name = "", uid = "" } = reference;
  const parts = apiVersion.split("/");
  // Upstream treats an apiVersion with more than one slash as one without a version.
  if (parts.length > 2 || parts.at(-1) === "") errors.add(invalid(child(at, "apiVersion"), apiVersion, "version must not be empty"));
  if (kind === "") errors.add(invalid(child(at, "kind"), kind, "must not be empty"));
  if (name === "") errors.add(invalid(child(at, "name"), name, "must not be empty"));
  if (uid === "") errors.add(invalid(child(at, "uid"), uid, "must not be empty"));
  // Events expire; their dependents would be garbage-collected for no reason.
  if (apiVersion === "v1" && kind === "Event") errors.add(invalid(at, reference, "/v1, Kind=Event is disallowed from being an owner"));
}

export function validateFinalizers(errors: FieldErrors, finalizers: readonly string[], at: string): void {
  for (const finalizer of finalizers) validateLabelName(errors, finalizer, at);
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    errors.add(invalid(at, finalizers, `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`));
  }
}

/** Finalizers without a domain that the server itself interprets. */
const STANDARD_FINALIZERS: readonly string[] = ["kubernetes", ORPHAN_FINALIZER, FOREGROUND_FINALIZER];

/** Built-in kinds: a finalizer without a domain must be one of the standard ones. */
export function validateStandardFinalizer(errors: FieldErrors, name: string, at: string): void {
  if (name.includes("/") || STANDARD_FINALIZERS.includes(name)) return;
  errors.add(invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified"));
}

function validateNoNewFinalizers(errors: FieldErrors, next: readonly string[] = [], previous: readonly string[] = [], at: string): void {
  const known = new Set(previous);
  const added = [...new Set(next.filter((finalizer) => !known.has(finalizer)))].toSorted();
  if (added.length === 0) return;
  // Formatted as Go prints a string slice.
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  errors.add(forbidden(at, `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`));
}

function validateManagedFields(errors: FieldErrors, entries: readonly ManagedFieldsEntry[], at: string): void {
  for (const [index, entry] of entries.entries()) {
    const here = element(at, index);
    // A client may send any value, whatever the type says.
    const operation: string = entry.operation ?? "";
    const fieldsType: string = entry.fieldsType ?? "";
    if (operation !== "Apply" && operation !== "Update")
      errors.add(invalid(child(here, "operation"), operation, "must be `Apply` or `Update`"));
    if (fieldsType !== "" && fieldsType !== "FieldsV1") {
      errors.add(invalid(child(here, "fieldsType"), fieldsType, "must be `FieldsV1`"));
    }
    validateFieldManager(errors, entry.manager ?? "", child(here, "manager"));
    if (isLongerThan(entry.subresource ?? "", SUBRESOURCE_LENGTH_MAX_BYTES))
      errors.add(tooLong(child(here, "subresource"), SUBRESOURCE_LENGTH_MAX_BYTES));
  }
}

/** Validates a field manager, in managedFields and in the query parameter `fieldManager`. */
export function validateFieldManager(errors: FieldErrors, manager: string, at: string): void {
  if (isLongerThan(manager, FIELD_MANAGER_LENGTH_MAX_BYTES)) errors.add(tooLong(at, FIELD_MANAGER_LENGTH_MAX_BYTES));
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) errors.add(invalid(at, manager, `invalid character ${goCharacter(character)} (at position ${position})`));
    position += byteLength(character);
  }
}

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols, and of white space only the blank. */
function isPrintable(character: string): boolean {
  return character === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

/** "U+0007": as Go formats a non-printable character. */
function goCharacter(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
