/**
 * Matches texts with the patterns of a schema. Patterns are Go's, and the work is charged to the budget of the validation: many patterns and
 * long texts cost more than their size suggests.
 */
import { matchesText } from "../../../../../base/regular-expression/match.ts";
import { ExpressionError } from "../../../../../base/regular-expression/parse.ts";
import { programOf, type Program } from "../../../../../base/regular-expression/program.ts";
import type { Budget } from "../budget.ts";

/**
 * The patterns of one validation. Each is charged once, also if it is cached: the result must not depend on earlier validations. Everything
 * here throws BudgetError.
 */
export class Patterns {
  readonly #budget: Budget;
  readonly #read = new Map<string, Program | ExpressionError>();

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get budget(): Budget {
    return this.#budget;
  }

  /** The error message of a pattern. */
  problemOf(pattern: string): string | undefined {
    const read = this.#readPattern(pattern);
    return read instanceof ExpressionError ? read.message : undefined;
  }

  /** True if a part of `text` matches. Throws ExpressionError if the pattern is malformed. */
  matches(pattern: string, text: string): boolean {
    const read = this.#readPattern(pattern);
    if (read instanceof ExpressionError) throw read;
    return matchesText(read, text, this.#budget);
  }

  #readPattern(pattern: string): Program | ExpressionError {
    const before = this.#read.get(pattern);
    if (before !== undefined) return before;
    const read = programOf(pattern, this.#budget);
    this.#read.set(pattern, read);
    return read;
  }
}
