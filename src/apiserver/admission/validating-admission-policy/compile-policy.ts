/** The expressions of a ValidatingAdmissionPolicy, compiled once. One that does not compile fails when it is evaluated. */
import { AdmissionExpressions, type CompiledExpression } from "../../../api/admissionregistration.k8s.io/v1/cel/admission-expressions.ts";
import type { ValidatingAdmissionPolicySpec, Validation } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { compileVariables, type NamedExpression } from "../../shared/admission-policy/expression-input.ts";
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

/** Yields where the event loop should be yielded. */
export function* compilePolicy(spec: ValidatingAdmissionPolicySpec): Generator<void, CompiledPolicy> {
  const { paramKind, variables = [], validations = [], auditAnnotations = [], matchConditions = [] } = spec;
  const hasParams = paramKind !== undefined;
  const expressions = new AdmissionExpressions({ hasParams, variables });
  const conditions = yield* compileConditions(matchConditions, { hasParams });
  const compiled = {
    conditions,
    variables: yield* compileVariables(expressions, variables),
    validations: [] as CompiledValidation[],
    annotations: [] as CompiledAnnotation[],
  };
  for (const validation of validations) {
    const { messageExpression = "" } = validation;
    const expression = yield* expressions.compile(validation.expression, "validation");
    const message = messageExpression === "" ? {} : { message: yield* expressions.compile(messageExpression, "message") };
    compiled.validations.push({ validation, expression, ...message });
  }
  for (const { key, valueExpression: source } of auditAnnotations) {
    compiled.annotations.push({ key, source, expression: yield* expressions.compile(source, "audit annotation") });
  }
  return compiled;
}
