/** Checks the expressions of a policy against the types of the objects that it is for. Warnings are upstream's texts. Pure. */
import { AdmissionExpressions } from "../../api/admissionregistration.k8s.io/v1/cel/admission-expressions.ts";
import type { ExpressionWarning, ValidatingAdmissionPolicySpec } from "../../api/generated/admissionregistration.k8s.io/v1.ts";
import { apiVersionOf, type GroupVersionKind } from "../../api/machinery/object.ts";
import type { Declaration } from "../../cel/types/declaration.ts";

export interface CheckedType {
  readonly kind: GroupVersionKind;
  readonly declaration: Declaration;
}

export interface CheckedPolicy {
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly types: readonly CheckedType[];
  /** Of the parameters; undefined if unknown. */
  readonly params: Declaration | undefined;
}

/** Yields where the event loop should be yielded. */
export function* typeWarnings({ spec, types, params }: CheckedPolicy): Generator<void, readonly ExpressionWarning[]> {
  const { validations = [], variables, paramKind } = spec;
  const checks = types.map(({ kind, declaration }) => ({
    title: `${apiVersionOf(kind)}, Kind=${kind.kind}`,
    expressions: new AdmissionExpressions({ hasParams: paramKind !== undefined, variables, object: declaration, params }),
  }));
  const warnings: ExpressionWarning[] = [];
  const check = function* (source: string, fieldRef: string): Generator<void, void> {
    const messages: string[] = [];
    for (const { title, expressions } of checks) {
      const compiled = yield* expressions.compile(source, "check");
      if (!compiled.ok) messages.push(`${title}: ${compiled.message.replace(/^compilation failed: /, "")}\n`);
    }
    if (messages.length > 0) warnings.push({ fieldRef, warning: messages.join("\n") });
  };
  for (const [index, { expression, messageExpression = "" }] of validations.entries()) {
    yield* check(expression, `spec.validations[${index}].expression`);
    if (messageExpression !== "") yield* check(messageExpression, `spec.validations[${index}].messageExpression`);
  }
  return warnings;
}
