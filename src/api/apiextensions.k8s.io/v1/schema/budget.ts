/**
 * What one validation may cost. Schemas, patterns and the values they are held against come from the same user, and together they can ask
 * for far more work than their size shows: every item of a list against every word of an enum, every character of a text against every
 * branch of a pattern. Work is counted in steps, not in time, so that the same object always gets the same answer.
 */

import { forbidden, type FieldError } from "../../../machinery/field-error.ts";

/** Takes a quarter of a second or so, and is a hundred times what the largest definitions in use need. */
export const STEPS_MAX = 3_000_000;

/** It would take too long to say whether the value is valid, so it counts as invalid. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";

  constructor() {
    super("takes too long to check");
  }
}

export class Budget {
  #left: number;

  constructor(steps = STEPS_MAX) {
    this.#left = steps;
  }

  /** Nothing more can be checked. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  get left(): number {
    return Math.max(0, this.#left);
  }

  /** To be called before the work is done. Throws BudgetError. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetError();
  }
}

/** What is told of a field for which the budget did not suffice. Any other error is thrown on. */
export function tooCostly(field: string, error: unknown): FieldError {
  if (!(error instanceof BudgetError)) throw error;
  return forbidden(field, `${error.message}, together with all patterns, enums and defaults of the object: use fewer or smaller ones`);
}
