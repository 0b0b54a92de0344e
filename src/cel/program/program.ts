/** A compiled expression. */
import { PER_CALL_LIMIT, type Bindings, type CostEstimate, type Evaluation, type EvaluationOptions, type Program } from "../contract.ts";
import type { CelType } from "../types/type.ts";
import { metered, OutOfSteps } from "../values/meter.ts";
import { CelError } from "../values/value.ts";
import { CostExceeded, Frame, Interrupted } from "./frame.ts";
import type { Plan } from "./plan.ts";

const COST_EXCEEDED = new CelError("operation cancelled: actual cost limit exceeded");
const INTERRUPTED = new CelError("operation interrupted");

export interface ProgramOptions {
  readonly source: string;
  readonly outputType: CelType;
  readonly estimatedCost: () => CostEstimate;
  readonly references: ReadonlySet<string>;
  readonly plan: Plan;
}

export function createProgram({ source, outputType, estimatedCost, references, plan }: ProgramOptions): Program {
  let estimate: CostEstimate | undefined;
  return {
    source,
    outputType,
    references,
    get estimatedCost() {
      return (estimate ??= estimatedCost());
    },
    evaluate: (bindings, options = {}) => evaluate(plan, bindings, options),
  };
}

function evaluate(plan: Plan, bindings: Bindings, { costLimit = PER_CALL_LIMIT, isInterrupted }: EvaluationOptions): Evaluation {
  const frame = new Frame({ bindings, costLimit, isInterrupted, slots: plan.slots });
  try {
    const value = metered(() => plan.evaluate(frame));
    const { cost } = frame;
    return value instanceof CelError ? { ok: false, reason: "error", error: value, cost } : { ok: true, value, cost };
  } catch (error) {
    const { cost } = frame;
    if (error instanceof CostExceeded || error instanceof OutOfSteps) return { ok: false, reason: "cost", error: COST_EXCEEDED, cost };
    if (error instanceof Interrupted) return { ok: false, reason: "interrupted", error: INTERRUPTED, cost };
    throw error;
  }
}
