/** The expressions of a ValidatingAdmissionPolicy, compiled once. One that does not compile fails when it is evaluated. */
import { AdmissionExpressions, type CompiledExpression } from "../../../api/admissionregistration.k8s.io/v1/cel/admission-expressions.ts";
import type { ValidatingAdmissionPolicySpec, Validation } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import type { NamedExpression } from "../../shared/admission-policy/expression-input.ts";
import { compileConditions, type CompiledCondition } from "../../shared/admission-policy/match-conditions.ts";

export interface CompiledValidation {
  readonly validation: Validation;
  readonly expression: CompiledExpression;
  /** Absent: it has no messageExpression. */
  readonly message?: CompiledExpression;
}

export interface CompiledAnnotation {
  readonly key: string;
  readonly source: string;
  readonly expression: CompiledExpression;
}

export interface CompiledPolicy {
  readonly conditions: readonly CompiledCondition[];
  readonly variables: readonly NamedExpression[];
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly CompiledAnnotation[];
}

export function compilePolicy(spec: ValidatingAdmissionPolicySpec): CompiledPolicy {
  const { paramKind, variables = [], validations = [], auditAnnotations = [], matchConditions = [] } = spec;
  const hasParams = paramKind !== undefined;
  const expressions = new AdmissionExpressions({ hasParams, variables });
  return {
    conditions: compileConditions(matchConditions, { hasParams }),
    variables: variables.map(({ name }, index) => ({ name, compiled: expressions.variable(index) })),
    validations: validations.map((validation) => ({
      validation,
      expression: expressions.compile(validation.expression, "validation"),
      ...((validation.messageExpression ?? "") === ""
        ? {}
        : { message: expressions.compile(validation.messageExpression ?? "", "message") }),
    })),
    annotations: auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      source: valueExpression,
      expression: expressions.compile(valueExpression, "audit annotation"),
    })),
  };
}
