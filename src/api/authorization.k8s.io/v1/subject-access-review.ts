/**
 * authorization.k8s.io/v1 SubjectAccessReview: "may this user do that?" A question, never stored: the answer is in the reply's status.
 * Not here: who answers (apiserver/resources/subject-access-review).
 */
import type { ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec } from "../../generated/authorization.k8s.io/v1.ts";
import type { FieldSelectorRequirement, LabelSelectorRequirement } from "../../generated/meta/v1.ts";
import { child, element, forbidden, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { validateLabelSelectorExpression } from "../../machinery/label-selector.ts";
import type { ObjectMeta } from "../../machinery/object.ts";
import { defineResource } from "../../machinery/resource.ts";

export const subjectAccessReviews = defineResource<SubjectAccessReview>({
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  singular: "subjectaccessreview",
  scope: "Cluster",
  served: [{ group: "authorization.k8s.io", version: "v1", schema: "io.k8s.api.authorization.v1.SubjectAccessReview" }],
  stored: false,
  verbs: ["create"],

  *validate({ spec, metadata }) {
    yield* validateReviewSpec(spec);
    if (!isEmpty(metadata)) yield invalid("metadata", metadata, "must be empty");
  },

  // It is shown in full or not at all: asking for a table is answered with 406.
  columns: [],
});

/** Also of LocalSubjectAccessReview, which differs in its metadata only. */
export function* validateReviewSpec(spec: SubjectAccessReviewSpec): Iterable<FieldError> {
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec;
  if (resource !== undefined && other !== undefined) {
    const shown = { Path: other.path ?? "", Verb: other.verb ?? "" };
    yield invalid("spec.nonResourceAttributes", shown, "cannot be specified in combination with resourceAttributes");
  }
  if (resource === undefined && other === undefined) {
    yield invalid("spec.resourceAttributes", null, "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  if ((spec.user ?? "") === "" && (spec.groups ?? []).length === 0) {
    yield invalid("spec.user", "", "at least one of user or group must be specified");
  }
  yield* validateResourceAttributes(resource ?? {}, "spec.resourceAttributes");
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

/** Operators that are not known are let through: a newer client may know what this server does not, and an authorizer may too. */
function* validateFieldRequirement({ key, operator, values = [] }: FieldSelectorRequirement, at: string): Iterable<FieldError> {
  if (key === "") yield required(child(at, "key"), "must be specified");
  if ((operator === "In" || operator === "NotIn") && values.length === 0) {
    yield required(child(at, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
    yield forbidden(child(at, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
}

function isEmpty(metadata: ObjectMeta): boolean {
  // A question has no name, but a type that all objects share says that there is one.
  return Object.entries(metadata).every(([field, value]) => value === undefined || value === "" || field === "managedFields");
}
