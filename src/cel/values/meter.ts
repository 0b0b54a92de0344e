/**
 * Counts the work of evaluations in steps. Upstream's costs do not: scanning a long string costs 1 in size(), comparing deep lists a tenth
 * of their length. A step is a share of time (about 2.5 ns), so that limits of steps limit how long the event loop is held, without a
 * clock. One thread evaluates, so one meter serves all; an evaluation inside another (a lazily bound variable) shares its allowance.
 */

/** Steps between two yields to the event loop, over all evaluations: about 5 ms. Enough for nearly all, which then never yield. */
export const TICK_STEPS = 2_000_000;
/** Maximum steps of one call of a function, which cannot be interrupted: about 20 ms. It and TICK_STEPS bound how long the loop is held. */
export const CALL_STEPS_MAX = 8_000_000;
/** Maximum steps of one evaluation: about 250 ms, in many ticks. The largest cost that upstream allows takes about 60 million. */
export const STEPS_MAX = 100_000_000;
/** Maximum steps of an evaluation whose caller cannot yield: about 40 ms. */
export const SYNCHRONOUS_STEPS_MAX = 16_000_000;

/** Thrown by spend(); the program turns it into the error of a cost limit that is exceeded. */
export class OutOfSteps extends Error {
  override readonly name = "OutOfSteps";
}

/** Steps until spend() throws. */
let left = SYNCHRONOUS_STEPS_MAX;
/** What `left` began with. */
let allowed = left;
/** Steps before the current allowance, since the last yield. */
let before = 0;

export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw new OutOfSteps("Cannot continue the evaluation: it takes too many steps");
}

/** Counts steps for the tick only: work that has a limit of its own. */
export function count(steps: number): void {
  before += steps;
}

/** Begins a new allowance; returns the steps that the last one took. */
export function allow(steps: number): number {
  const taken = allowed - left;
  before += taken;
  left = steps;
  allowed = steps;
  return taken;
}

/** Steps since the last yield to the event loop. */
export function stepsOfTick(): number {
  return before + allowed - left;
}

/** True if an evaluation should not continue before the next yield. */
export function isTickSpent(): boolean {
  return stepsOfTick() >= TICK_STEPS;
}

/** Called after a yield to the event loop. */
export function beginTick(): void {
  before = 0;
  allowed = left;
}

let nesting = 0;
let slicing = 0;

/** True inside of a compilation or an evaluation. */
export function isNested(): boolean {
  return nesting > 0;
}

/** True inside of an evaluation in slices. */
export function isSliced(): boolean {
  return slicing > 0;
}

/** Runs a slice of an evaluation; its journal allows the steps. */
export function inSlices<T>(run: () => T): T {
  nesting++;
  slicing++;
  try {
    return run();
  } finally {
    nesting--;
    slicing--;
  }
}

/** Runs a compilation or an evaluation with an allowance of its own; one inside another shares that of the outer one. */
export function metered<T>(steps: number, run: () => T): T {
  if (nesting === 0) allow(steps);
  nesting++;
  try {
    return run();
  } finally {
    nesting--;
  }
}
