/** A compiled expression. */
import {
  PER_CALL_LIMIT,
  type Bindings,
  type CostEstimate,
  type Evaluation,
  type EvaluationOptions,
  type Program,
  type SuspendedEvaluation,
} from "../contract.ts";
import type { CelType } from "../types/type.ts";
import {
  beginTick,
  count,
  inSlices,
  isNested,
  isSliced,
  isTickSpent,
  metered,
  OutOfSteps,
  SYNCHRONOUS_STEPS_MAX,
  TICK_STEPS,
} from "../values/meter.ts";
import { CelError, type CelResult } from "../values/value.ts";
import { CostExceeded, Frame, Interrupted } from "./frame.ts";
import { Journal, Suspended } from "./journal.ts";
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
    start: (bindings, options = {}) => start(plan, bindings, options),
  };
}

/** For callers that cannot yield. */
function evaluate(plan: Plan, bindings: Bindings, options: EvaluationOptions): Evaluation {
  const frame = frameOf(plan, bindings, options);
  try {
    return outcome(
      frame,
      metered(SYNCHRONOUS_STEPS_MAX, () => plan.evaluate(frame)),
    );
  } catch (error) {
    return failure(frame, error);
  }
}

/** Without a journal as long as the steps of a tick suffice, which is faster; then once more from the beginning, in slices. */
function start(plan: Plan, bindings: Bindings, options: EvaluationOptions): Evaluation | SuspendedEvaluation {
  if (isNested()) return isSliced() ? new SlicedEvaluation(plan, bindings, options).resume() : nested(plan, bindings, options);
  if (isTickSpent()) return { resume: () => (beginTick(), start(plan, bindings, options)) };
  const frame = frameOf(plan, bindings, options);
  try {
    return outcome(
      frame,
      metered(TICK_STEPS, () => plan.evaluate(frame)),
    );
  } catch (error) {
    if (error instanceof OutOfSteps) return new SlicedEvaluation(plan, bindings, options);
    return failure(frame, error);
  }
}

/** Steps that are missing are missing to the outer evaluation, too. */
function nested(plan: Plan, bindings: Bindings, options: EvaluationOptions): Evaluation {
  const frame = frameOf(plan, bindings, options);
  try {
    return outcome(frame, plan.evaluate(frame));
  } catch (error) {
    if (error instanceof OutOfSteps) throw error;
    return failure(frame, error);
  }
}

class SlicedEvaluation implements SuspendedEvaluation {
  readonly #plan: Plan;
  readonly #journal = new Journal();
  readonly #frame: Frame;

  constructor(plan: Plan, bindings: Bindings, options: EvaluationOptions) {
    this.#plan = plan;
    this.#frame = frameOf(plan, bindings, options, this.#journal);
  }

  resume(): Evaluation | SuspendedEvaluation {
    const frame = this.#frame;
    if (!isNested()) beginTick();
    frame.restart();
    this.#journal.begin();
    try {
      return outcome(
        frame,
        inSlices(() => this.#plan.evaluate(frame)),
      );
    } catch (error) {
      return error instanceof Suspended ? this : failure(frame, error);
    }
  }
}

/**
 * Completes an evaluation inside of another, that of a lazily bound variable. Throws if it is suspended, which suspends the outer one; when
 * that continues, it calls the binding again, which continues the same evaluation.
 */
export function completeNested(pending: Evaluation | SuspendedEvaluation, keep: (suspended: SuspendedEvaluation) => void): Evaluation {
  if (!("resume" in pending)) return pending;
  keep(pending);
  throw new Suspended("The variable continues in another tick");
}

/** Steps of an evaluation besides those of its expression: variables are bound, and the caller handles the result. About 1 µs. */
const EVALUATION_STEPS = 400;

function frameOf(plan: Plan, bindings: Bindings, options: EvaluationOptions, journal?: Journal): Frame {
  const { costLimit = PER_CALL_LIMIT, isInterrupted } = options;
  count(EVALUATION_STEPS);
  return new Frame({ bindings, costLimit, isInterrupted, slots: plan.slots, ...(journal === undefined ? {} : { journal }) });
}

function outcome({ cost }: Frame, value: CelResult): Evaluation {
  return value instanceof CelError ? { ok: false, reason: "error", error: value, cost } : { ok: true, value, cost };
}

function failure({ cost }: Frame, error: unknown): Evaluation {
  if (error instanceof CostExceeded || error instanceof OutOfSteps) return { ok: false, reason: "cost", error: COST_EXCEEDED, cost };
  if (error instanceof Interrupted) return { ok: false, reason: "interrupted", error: INTERRUPTED, cost };
  throw error;
}
