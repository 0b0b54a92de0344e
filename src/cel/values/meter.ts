/**
 * Counts work that upstream's costs do not: scanning a long string costs 1 in size(), comparing deep lists a tenth of their length. Without
 * it, an expression within its cost limit could hold the event loop for minutes. Evaluation is synchronous, so one meter serves all; an
 * evaluation inside another (a lazily bound variable) counts for the outer one too.
 */

/** Steps of one evaluation: characters scanned, elements compared, transitions of a pattern. About 50 ms. */
export const STEPS_MAX = 20_000_000;

/** Thrown by spend(); the program turns it into the error of a cost limit that is exceeded. */
export class OutOfSteps extends Error {
  override readonly name = "OutOfSteps";
}

let left = STEPS_MAX;

export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw new OutOfSteps("Cannot continue the evaluation: it takes too many steps");
}

let nesting = 0;

/** Runs a compilation or an evaluation with its own steps; one inside another has what is left. */
export function metered<T>(run: () => T): T {
  if (nesting === 0) left = STEPS_MAX;
  nesting++;
  try {
    return run();
  } finally {
    nesting--;
  }
}
