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

export function typeWarnings({ spec, types, params }: CheckedPolicy): readonly ExpressionWarning[] {
  const { validations = [], variables, paramKind } = spec;
  const checks = types.map(({ kind, declaration }) => ({
    title: `${apiVersionOf(kind)}, Kind=${kind.kind}`,
    expressions: new AdmissionExpressions({ hasParams: paramKind !== undefined, variables, object: declaration, params }),
  }));
  const warningsOf = (source: string, fieldRef: string): readonly ExpressionWarning[] => {
    const messages = checks.flatMap(({ title, expressions }) => {
      const compiled = expressions.compile(source, "check");
      return compiled.ok ? [] : `${title}: ${compiled.message.replace(/^compilation failed: /, "")}\n`;
    });
    return messages.length === 0 ? [] : [{ fieldRef, warning: messages.join("\n") }];
  };
  return validations.flatMap(({ expression, messageExpression = "" }, index) => [
    ...warningsOf(expression, `spec.validations[${index}].expression`),
    ...(messageExpression === "" ? [] : warningsOf(messageExpression, `spec.validations[${index}].messageExpression`)),
  ]);
}
