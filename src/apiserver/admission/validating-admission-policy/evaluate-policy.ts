/** Evaluates one policy for one request and one parameter object: a decision per validation, and audit annotations. Messages are upstream's. */
import type { ValidatingAdmissionPolicySpec } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { MESSAGE_EXPRESSION_SIZE_MAX, RUNTIME_BUDGET } from "../../../cel/contract.ts";
import type { Clock } from "../../../base/clock.ts";
import type { AdmissionMetrics } from "../../framework/admission/admission-metrics.ts";
import type { CompiledOnce } from "../../shared/admission-policy/compiled-once.ts";
import { ExpressionEvaluation, OutOfBudget, type Evaluated, type ExpressionInput } from "../../shared/admission-policy/expression-input.ts";
import { evaluateConditions } from "../../shared/admission-policy/match-conditions.ts";
import type { CompiledPolicy, CompiledValidation } from "./compile-policy.ts";

export interface PolicyDecision {
  readonly isDenied: boolean;
  /** True if the expression could not be evaluated. */
  readonly isError: boolean;
  /** "" if the request is allowed. */
  readonly message: string;
  readonly reason: string;
  readonly durationMs: number;
}

export interface PolicyResult {
  readonly decisions: readonly PolicyDecision[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
}

export interface EvaluatedPolicy {
  readonly name: string;
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly compiled: CompiledOnce<CompiledPolicy>;
}

export interface EvaluationContext {
  readonly metrics: AdmissionMetrics;
  readonly clock: Clock;
}

const NOTHING: PolicyResult = { decisions: [], annotations: [] };

export async function evaluatePolicy(policy: EvaluatedPolicy, input: ExpressionInput, context: EvaluationContext): Promise<PolicyResult> {
  const { spec, name } = policy;
  const compiling = policy.compiled.get();
  const compiled = compiling instanceof Promise ? await compiling : compiling;
  const owner = { name, kind: "policy", type: "validate", operation: input.request.operation } as const;
  const conditions = evaluateConditions(compiled.conditions, input, { ...context, owner });
  const matched = conditions instanceof Promise ? await conditions : conditions;
  const failed = (message: string): PolicyDecision => failure(spec, message, 0);
  if ("error" in matched) return { decisions: [failed(matched.error)], annotations: [] };
  if (!matched.matches) {
    context.metrics.conditionExcluded(owner);
    return NOTHING;
  }
  try {
    const decisions = await decide(compiled, spec, input, context);
    const { annotations, errors } = await annotate(compiled, spec, input);
    return { decisions: [...decisions, ...errors], annotations };
  } catch (error) {
    if (error instanceof OutOfBudget) return { decisions: [failed(error.message)], annotations: [] };
    throw error;
  }
}

function failure({ failurePolicy }: ValidatingAdmissionPolicySpec, message: string, durationMs: number): PolicyDecision {
  return { isDenied: failurePolicy !== "Ignore", isError: true, message, reason: "", durationMs };
}

/** Rejects with OutOfBudget. */
async function decide(
  { variables, validations }: CompiledPolicy,
  spec: ValidatingAdmissionPolicySpec,
  input: ExpressionInput,
  { clock }: EvaluationContext,
): Promise<readonly PolicyDecision[]> {
  const evaluation = new ExpressionEvaluation(input, { budget: RUNTIME_BUDGET, variables });
  const results: { readonly validated: CompiledValidation; readonly result: Evaluated; readonly durationMs: number }[] = [];
  for (const validated of validations) {
    const startMs = clock.monotonic();
    const evaluated = evaluation.evaluate(validated.validation.expression, validated.expression);
    const result = evaluated instanceof Promise ? await evaluated : evaluated;
    results.push({ validated, result, durationMs: clock.monotonic() - startMs });
  }
  // Messages have what the validations left, and variables of their own evaluation.
  const messages = new Messages(input, { budget: evaluation.budget, variables });
  const decisions: PolicyDecision[] = [];
  for (const { validated, result, durationMs } of results) {
    if (!result.ok) decisions.push(failure(spec, result.message, durationMs));
    else if (result.value === true) decisions.push({ isDenied: false, isError: false, message: "", reason: "", durationMs });
    else decisions.push(denial(spec, validated, await messages.of(validated), durationMs));
  }
  return decisions;
}

function denial(
  spec: ValidatingAdmissionPolicySpec,
  { validation }: CompiledValidation,
  message: FailureMessage,
  durationMs: number,
): PolicyDecision {
  if ("failed" in message) return failure(spec, message.failed, durationMs);
  return { isDenied: true, isError: false, message: message.text, reason: validation.reason ?? "Invalid", durationMs };
}

type FailureMessage = { readonly text: string } | { readonly failed: string };

/** The message of a failed validation: its messageExpression, else its message, else its expression. */
class Messages {
  readonly #evaluation: ExpressionEvaluation;

  constructor(...[input, options]: ConstructorParameters<typeof ExpressionEvaluation>) {
    this.#evaluation = new ExpressionEvaluation(input, options);
  }

  async of({ validation, message: expression }: CompiledValidation): Promise<FailureMessage> {
    const { message = "", messageExpression = "" } = validation;
    let text = "";
    if (expression !== undefined) {
      try {
        const result = await this.#evaluation.evaluate(messageExpression, expression);
        text = result.ok && typeof result.value === "string" ? usable(result.value) : "";
      } catch (error) {
        if (error instanceof OutOfBudget) return { failed: `failed messageExpression: ${error.message}` };
        throw error;
      }
    }
    return { text: text || message.trim() || `failed expression: ${validation.expression.trim()}` };
  }
}

/** "" for a text that is too long or has several lines. */
function usable(text: string): string {
  const trimmed = text.trim();
  return trimmed.includes("\n") || new TextEncoder().encode(trimmed).length > MESSAGE_EXPRESSION_SIZE_MAX ? "" : trimmed;
}

/** Upstream's limit of an annotation's value. */
const ANNOTATION_LENGTH_MAX = 10 * 1024;

async function annotate(
  { annotations: wanted, variables }: CompiledPolicy,
  spec: ValidatingAdmissionPolicySpec,
  input: ExpressionInput,
): Promise<{ readonly annotations: PolicyResult["annotations"]; readonly errors: readonly PolicyDecision[] }> {
  if (wanted.length === 0) return { annotations: [], errors: [] };
  const evaluation = new ExpressionEvaluation(input, { budget: RUNTIME_BUDGET, variables });
  const annotations: { readonly key: string; readonly value: string }[] = [];
  const errors: PolicyDecision[] = [];
  for (const { key, source, expression } of wanted) {
    const result = await evaluation.evaluate(source, expression);
    if (!result.ok) {
      if (spec.failurePolicy !== "Ignore") errors.push(failure(spec, result.message, 0));
      continue;
    }
    const value = typeof result.value === "string" ? result.value.trim() : "";
    if (value !== "") annotations.push({ key, value: value.slice(0, ANNOTATION_LENGTH_MAX) });
  }
  return { annotations, errors };
}
