/** The expressions of a MutatingAdmissionPolicy, compiled once. One that does not compile fails when it is evaluated. */
import { AdmissionExpressions, type CompiledExpression } from "../../../api/admissionregistration.k8s.io/v1/cel/admission-expressions.ts";
import type { MutatingAdmissionPolicySpec } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { compileVariables, type NamedExpression } from "../../shared/admission-policy/expression-input.ts";
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

/** Yields where the event loop should be yielded. */
export function* compilePolicy(spec: MutatingAdmissionPolicySpec): Generator<void, CompiledPolicy> {
  const { paramKind, variables = [], mutations = [], matchConditions = [] } = spec;
  const hasParams = paramKind !== undefined;
  const expressions = new AdmissionExpressions({ hasParams, variables });
  const conditions = yield* compileConditions(matchConditions, { hasParams });
  const compiled = { conditions, variables: yield* compileVariables(expressions, variables), mutations: [] as CompiledMutation[] };
  for (const { patchType, applyConfiguration, jsonPatch } of mutations) {
    const isApplied = patchType === "ApplyConfiguration";
    const source = (isApplied ? applyConfiguration : jsonPatch)?.expression ?? "";
    const expression = yield* expressions.compile(source, isApplied ? "apply configuration" : "JSON patch");
    compiled.mutations.push({ patchType, source, expression });
  }
  return compiled;
}
