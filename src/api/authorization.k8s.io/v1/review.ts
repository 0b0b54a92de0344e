/** Shared validation of access reviews. */
import type {
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
} from "../../generated/authorization.k8s.io/v1.ts";
import type { FieldSelectorRequirement, LabelSelectorRequirement } from "../../generated/meta/v1.ts";
import { child, element, forbidden, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { validateLabelSelectorExpression } from "../../machinery/selectors/label-selector.ts";
import type { ObjectMeta } from "../../machinery/object.ts";

/** A review about a named user. */
export function* validateReviewSpec(spec: SubjectAccessReviewSpec): Iterable<FieldError> {
  yield* validateForm(spec);
  if ((spec.user ?? "") === "" && (spec.groups ?? []).length === 0) {
    yield invalid("spec.user", "", "at least one of user or group must be specified");
  }
  yield* validateResourceAttributes(spec.resourceAttributes ?? {}, "spec.resourceAttributes");
}

/** A review about the caller. */
export function* validateQuestion(spec: SelfSubjectAccessReviewSpec): Iterable<FieldError> {
  yield* validateForm(spec);
  yield* validateResourceAttributes(spec.resourceAttributes ?? {}, "spec.resourceAttributes");
}

function* validateForm({ resourceAttributes: resource, nonResourceAttributes: other }: SelfSubjectAccessReviewSpec): Iterable<FieldError> {
  if (resource !== undefined && other !== undefined) {
    yield invalid("spec.nonResourceAttributes", shownAttributes(other), "cannot be specified in combination with resourceAttributes");
  }
  if (resource === undefined && other === undefined) {
    yield invalid("spec.resourceAttributes", null, "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
}

/** In the format of upstream's message: with the names of its own type. */
export function shownAttributes({ path = "", verb = "" }: NonResourceAttributes): object {
  return { Path: path, Verb: verb };
}

/** A review has no name, though the type of all objects requires one. */
export function* validateEmptyMetadata(metadata: ObjectMeta, allowed: readonly string[] = []): Iterable<FieldError> {
  const ignored = ["managedFields", ...allowed];
  if (Object.entries(metadata).every(([field, value]) => value === undefined || value === "" || ignored.includes(field))) return;
  yield invalid("metadata", metadata, allowed.length === 0 ? "must be empty" : `must be empty except for ${allowed.join(", ")}`);
}

function* validateResourceAttributes({ fieldSelector, labelSelector }: ResourceAttributes, at: string): Iterable<FieldError> {
  if (fieldSelector !== undefined) yield* validateSelector(fieldSelector, child(at, "fieldSelector"), validateFieldRequirement);
  if (labelSelector !== undefined) {
    const validateRequirement = (requirement: LabelSelectorRequirement, here: string): Iterable<FieldError> =>
      validateLabelSelectorExpression(requirement, here, { allowUnknownOperators: true });
    yield* validateSelector(labelSelector, child(at, "labelSelector"), validateRequirement);
  }
}

function* validateSelector<Requirement>(
  { rawSelector = "", requirements = [] }: { readonly rawSelector?: string; readonly requirements?: readonly Requirement[] },
  at: string,
  validateRequirement: (requirement: Requirement, at: string) => Iterable<FieldError>,
): Iterable<FieldError> {
  if (rawSelector !== "" && requirements.length > 0) {
    yield invalid(child(at, "rawSelector"), rawSelector, "may not specified at the same time as requirements");
  }
  if (rawSelector === "" && requirements.length === 0) {
    yield required(child(at, "requirements"), `when ${at} is specified, requirements or rawSelector is required`);
  }
  for (const [index, requirement] of requirements.entries()) {
    yield* validateRequirement(requirement, element(child(at, "requirements"), index));
  }
}

/** Unknown operators are accepted: a newer client or an authorizer may know them. */
function* validateFieldRequirement({ key, operator, values = [] }: FieldSelectorRequirement, at: string): Iterable<FieldError> {
  if (key === "") yield required(child(at, "key"), "must be specified");
  if ((operator === "In" || operator === "NotIn") && values.length === 0) {
    yield required(child(at, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
    yield forbidden(child(at, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
}
