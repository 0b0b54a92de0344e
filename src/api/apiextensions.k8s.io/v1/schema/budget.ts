/**
 * The cost budget of one validation. Schemas, patterns and the validated values come from the same user, and together they can cost far
 * more than their size suggests: every item of a list against every value of an enum, every character of a text against every branch of a
 * pattern. Cost is counted in steps, not in time, so that the same object always gets the same result.
 */

import { forbidden, type FieldError } from "../../../machinery/field-error.ts";

/** About a quarter of a second, and a hundred times what the largest definitions in use need. */
export const STEPS_MAX = 3_000_000;

/** Validation would take too long, so the value counts as invalid. */
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

  /** Nothing more can be validated. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  get left(): number {
    return Math.max(0, this.#left);
  }

  /** To be called before the work. Throws BudgetError. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetError();
  }
}

/** The error of a field for which the budget did not suffice. Any other error is rethrown. */
export function tooCostly(field: string, error: unknown): FieldError {
  if (!(error instanceof BudgetError)) throw error;
  return forbidden(field, `${error.message}, together with all patterns, enums and defaults of the object: use fewer or smaller ones`);
}
