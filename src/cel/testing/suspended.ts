/** Evaluates a program in slices that are as short as possible. */
import type { Bindings, Evaluation, Program } from "../contract.ts";
import { allow, beginTick, inSlices, spend, TICK_STEPS } from "../values/meter.ts";
import { show } from "./show.ts";

/** Without steps left in its tick, an evaluation is suspended at every safe point. */
export function suspendedEverywhere(program: Program, bindings: Bindings): { readonly evaluation: Evaluation; readonly slices: number } {
  let slices = 1;
  let pending = withoutSteps(() => program.start(bindings));
  for (; "resume" in pending; slices++) {
    const suspended = pending;
    pending = withoutSteps(() => suspended.resume());
  }
  beginTick();
  return { evaluation: pending, slices };
}

/** Inside of another one, an evaluation begins in slices, and does not begin a tick. */
function withoutSteps<T>(run: () => T): T {
  return inSlices(() => {
    allow(TICK_STEPS);
    spend(TICK_STEPS);
    return run();
  });
}

export function showEvaluation(evaluation: Evaluation): { readonly value: string; readonly cost: number } {
  return { value: evaluation.ok ? show(evaluation.value) : evaluation.error.message, cost: evaluation.cost };
}
