/** The expressions of a MutatingAdmissionPolicy, compiled once. One that does not compile fails when it is evaluated. */
import { AdmissionExpressions, type CompiledExpression } from "../../../api/admissionregistration.k8s.io/v1/cel/admission-expressions.ts";
import type { MutatingAdmissionPolicySpec } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import type { NamedExpression } from "../../shared/admission-policy/expression-input.ts";
import { compileConditions, type CompiledCondition } from "../../shared/admission-policy/match-conditions.ts";

export interface CompiledMutation {
  readonly patchType: "ApplyConfiguration" | "JSONPatch";
  readonly source: string;
  readonly expression: CompiledExpression;
}

export interface CompiledPolicy {
  readonly conditions: readonly CompiledCondition[];
  readonly variables: readonly NamedExpression[];
  readonly mutations: readonly CompiledMutation[];
}

export function compilePolicy(spec: MutatingAdmissionPolicySpec): CompiledPolicy {
  const { paramKind, variables = [], mutations = [], matchConditions = [] } = spec;
  const hasParams = paramKind !== undefined;
  const expressions = new AdmissionExpressions({ hasParams, variables });
  return {
    conditions: compileConditions(matchConditions, { hasParams }),
    variables: variables.map(({ name }, index) => ({ name, compiled: expressions.variable(index) })),
    mutations: mutations.map(({ patchType, applyConfiguration, jsonPatch }) => {
      const isApplied = patchType === "ApplyConfiguration";
      const source = (isApplied ? applyConfiguration : jsonPatch)?.expression ?? "";
      return { patchType, source, expression: expressions.compile(source, isApplied ? "apply configuration" : "JSON patch") };
    }),
  };
}
