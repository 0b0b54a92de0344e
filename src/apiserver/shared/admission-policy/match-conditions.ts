/** Match conditions of webhooks and policies: all must be true. One that is false excludes the request, whatever the others' errors. */
import type { MatchCondition } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { AdmissionExpressions, type CompiledExpression } from "../../../api/admissionregistration.k8s.io/v1/cel/admission-expressions.ts";
import type { Clock } from "../../../base/clock.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";
import { MATCH_CONDITIONS_BUDGET } from "../../../cel/contract.ts";
import type { MaybePromise } from "../../framework/authentication.ts";
import type { AdmissionMetrics, ConditionOwner } from "../../framework/admission/admission-metrics.ts";
import { ExpressionEvaluation, OutOfBudget, type Evaluated, type ExpressionInput } from "./expression-input.ts";

export interface CompiledCondition {
  readonly source: string;
  readonly compiled: CompiledExpression;
}

/** Yields where the event loop should be yielded. */
export function* compileConditions(
  conditions: readonly MatchCondition[],
  { hasParams }: { readonly hasParams: boolean },
): Generator<void, readonly CompiledCondition[]> {
  const expressions = new AdmissionExpressions({ hasParams });
  const compiled: CompiledCondition[] = [];
  for (const { expression: source } of conditions) {
    compiled.push({ source, compiled: yield* expressions.compile(source, "match condition") });
  }
  return compiled;
}

export type ConditionsResult =
  | { readonly matches: boolean }
  /** The failure policy decides. */
  | { readonly error: string };

/** As upstream, `namespaceObject` is null in match conditions. */
export function evaluateConditions(
  conditions: readonly CompiledCondition[],
  input: ExpressionInput,
  { metrics, clock, owner }: { readonly metrics: AdmissionMetrics; readonly clock: Clock; readonly owner: ConditionOwner },
): MaybePromise<ConditionsResult> {
  return conditions.length === 0 ? { matches: true } : evaluateSome(conditions, input, { metrics, clock, owner });
}

async function evaluateSome(
  conditions: readonly CompiledCondition[],
  input: ExpressionInput,
  { metrics, clock, owner }: { readonly metrics: AdmissionMetrics; readonly clock: Clock; readonly owner: ConditionOwner },
): Promise<ConditionsResult> {
  const startMs = clock.monotonic();
  const result = await evaluate(conditions, input, () => metrics.conditionFailed(owner));
  metrics.conditionsEvaluated(owner, clock.monotonic() - startMs);
  return result;
}

async function evaluate(conditions: readonly CompiledCondition[], input: ExpressionInput, onError: () => void): Promise<ConditionsResult> {
  const evaluation = new ExpressionEvaluation({ ...input, namespace: undefined }, { budget: MATCH_CONDITIONS_BUDGET });
  const errors: string[] = [];
  try {
    const results: Evaluated[] = [];
    for (const { source, compiled } of conditions) {
      const result = evaluation.evaluate(source, compiled);
      results.push(result instanceof Promise ? await result : result);
    }
    for (const result of results) {
      if (!result.ok) {
        errors.push(result.message);
        onError();
      } else if (result.value === false) {
        return { matches: false };
      }
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return { error: error.message };
  }
  return errors.length === 0 ? { matches: true } : { error: joinedErrors(errors) };
}
