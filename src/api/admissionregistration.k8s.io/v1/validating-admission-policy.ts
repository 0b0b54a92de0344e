/**
 * admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy: expressions that must be true for a write to be accepted. It has no effect
 * until a ValidatingAdmissionPolicyBinding names it. Not here: compiling expressions (expressions.ts says where), evaluating them
 * (apiserver/admission), and whether the user may read the kind of its parameters, which needs an authorizer.
 */
import { deepEqual } from "../../../base/deep.ts";
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
} from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changed, withChanges, withMembersOf, withMetadataOf } from "../../changes.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { validateConditions } from "../../machinery/conditions.ts";
import { child, duplicate, element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { jsonPathProblem } from "../../machinery/selectors/json-path.ts";
import { isLongerThan, validateQualifiedName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { checkExpression, isBlank, validateVariables, type ExpressionUse } from "./expressions.ts";
import { staticNameWarnings } from "./failure-policy.ts";
import { defaultPolicySpec, paramKindCell, validatePolicy } from "./policy.ts";

export const validatingAdmissionPolicies = defineResource<ValidatingAdmissionPolicy>({
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  singular: "validatingadmissionpolicy",
  categories: ["api-extensions"],
  scope: "Cluster",
  served: [
    {
      group: "admissionregistration.k8s.io",
      version: "v1",
      schema: "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy",
      defaults: (policy: ValidatingAdmissionPolicy) => withChanges(policy, { spec: changed(policy.spec, defaultPolicySpec) }),
    },
  ],
  unconditionalUpdate: false,

  prepareForCreate: (policy) => ({ ...policy, status: {} }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  allowsPlainFinalizers: true,
  *validate(policy, previous) {
    const { spec = {} } = policy;
    yield* validatePolicy(spec, previous?.spec);
    yield* validateVariables(spec.variables, "spec.variables", { hasParams: spec.paramKind !== undefined });
    yield* validateValidations(spec);
    yield* validateAuditAnnotations(spec, policy.metadata.name);
  },
  warnings: staticNameWarnings,

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["spec"], ["metadata"]],
      prepareForUpdate: (next, previous) => withMetadataOf(withMembersOf(next, previous, "spec"), previous),
      validateUpdate: validateStatus,
    },
  },

  columns: [
    nameColumn,
    textColumn("Validations", "Number of validation expressions", ({ spec }) => (spec?.validations ?? []).length, { type: "integer" }),
    textColumn("ParamKind", "Kind of the parameter objects", ({ spec }) => paramKindCell(spec)),
    ageColumn,
  ],
});

/** Reasons that a policy may choose from. */
const REASONS: readonly string[] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const NEITHER = "validations or auditAnnotations must contain at least one item";
const NOT_BLANK = "must be non-empty if specified";

function* validateValidations(spec: ValidatingAdmissionPolicySpec): Iterable<FieldError> {
  const { validations = [], auditAnnotations = [] } = spec;
  if (validations.length + auditAnnotations.length === 0) {
    yield required("spec.validations", NEITHER);
    yield required("spec.auditAnnotations", NEITHER);
  }
  for (const [index, validation] of validations.entries()) {
    yield* validateValidation(validation, element("spec.validations", index), useIn(spec, "validation"));
  }
}

function useIn({ paramKind, variables }: ValidatingAdmissionPolicySpec, purpose: ExpressionUse["purpose"]): ExpressionUse {
  return { purpose, hasParams: paramKind !== undefined, ...(variables === undefined ? {} : { variables }) };
}

function* validateValidation(validation: Validation, at: string, use: ExpressionUse): Iterable<FieldError> {
  const { expression, messageExpression = "", message = "", reason } = validation;
  if (isBlank(expression)) yield required(child(at, "expression"), "expression is not specified");
  else yield* checkExpression(expression, child(at, "expression"), use);
  if (messageExpression !== "" && isBlank(messageExpression)) {
    yield invalid(child(at, "messageExpression"), messageExpression, NOT_BLANK);
  } else if (messageExpression !== "") {
    yield* checkExpression(messageExpression, child(at, "messageExpression"), { ...use, purpose: "message" });
  }
  if (message !== "" && isBlank(message)) yield invalid(child(at, "message"), message, NOT_BLANK);
  else if (/[\n\r]/.test(message.trim())) yield invalid(child(at, "message"), message, "must not contain line breaks");
  if (reason !== undefined && !REASONS.includes(reason)) yield notSupported(child(at, "reason"), reason, REASONS);
}

/** They are written to every audit event of a matching request. */
const AUDIT_ANNOTATIONS_MAX = 20;
/** Half of the maximum of an annotation value, since expressions tend to be shorter than their results. */
const VALUE_EXPRESSION_MAX_BYTES = 5 * 1024;

function* validateAuditAnnotations(spec: ValidatingAdmissionPolicySpec, policyName: string): Iterable<FieldError> {
  const { auditAnnotations = [] } = spec;
  const at = "spec.auditAnnotations";
  if (auditAnnotations.length > AUDIT_ANNOTATIONS_MAX) {
    const shown = auditAnnotations.map(({ key, valueExpression }) => ({ Key: key, ValueExpression: valueExpression }));
    yield invalid(at, shown, `must not have more than ${AUDIT_ANNOTATIONS_MAX} auditAnnotations`);
  }
  const keys = new Set<string>();
  for (const [index, annotation] of auditAnnotations.entries()) {
    const here = element(at, index);
    yield* validateAuditAnnotation(annotation, policyName, here, useIn(spec, "audit annotation"));
    if (keys.has(annotation.key)) yield duplicate(child(here, "key"), annotation.key);
    keys.add(annotation.key);
  }
}

function* validateAuditAnnotation(
  { key, valueExpression }: AuditAnnotation,
  policyName: string | undefined,
  at: string,
  use: ExpressionUse,
): Iterable<FieldError> {
  if (policyName === undefined || policyName === "") yield invalid(child(at, "key"), key, "requires metadata.name be non-empty");
  else {
    // The full key of the annotation is prefixed with the policy's name.
    const name = `${policyName}/${key}`;
    for (const wrong of validateQualifiedName(name)) yield invalid(child(at, "key"), name, wrong);
  }
  const expression = valueExpression.trim();
  if (expression === "") yield required(child(at, "valueExpression"), "valueExpression is not specified");
  else if (isLongerThan(expression, VALUE_EXPRESSION_MAX_BYTES)) {
    yield required(child(at, "valueExpression"), `must not exceed ${VALUE_EXPRESSION_MAX_BYTES} bytes in length`);
  } else yield* checkExpression(expression, child(at, "valueExpression"), use);
}

function* validateStatus({ status = {} }: ValidatingAdmissionPolicy): Iterable<FieldError> {
  for (const [index, { warning, fieldRef }] of (status.typeChecking?.expressionWarnings ?? []).entries()) {
    const at = element("status.typeChecking.expressionWarnings", index);
    if (warning === "") yield required(child(at, "warning"));
    const path = fieldRef.trim();
    if (path === "") {
      yield required(child(at, "fieldRef"));
      continue;
    }
    const problem = jsonPathProblem(`{${path}}`);
    if (problem !== undefined) yield invalid(child(at, "fieldRef"), path, `invalid JSONPath: ${problem}`);
  }
  yield* validateConditions(status.conditions, "status.conditions");
}
