/**
 * What a check of an object finds: errors or warnings. Checks of kinds that are written often add to a list and return nothing, because
 * nearly all objects have no mistake: a generator per rule would allocate several objects for each field of each of them, only to yield
 * nothing. The list is as lazy as a generator where it matters: at a limit (validation-errors.ts) the check ends, by an exception.
 */
import type { FieldError } from "./field-error.ts";
import { CAUSES_LENGTH_MAX, CAUSES_MAX } from "./validation-errors.ts";

export class Findings<T> {
  readonly found: T[] = [];
  #length = 0;
  readonly #lengthOf: (finding: T) => number;

  constructor(lengthOf: (finding: T) => number) {
    this.#lengthOf = lengthOf;
  }

  /** A check compares it before and after its steps to learn whether they found something. */
  get count(): number {
    return this.found.length;
  }

  add(finding: T): void {
    this.found.push(finding);
    this.#length += this.#lengthOf(finding);
    if (this.found.length >= CAUSES_MAX || this.#length >= CAUSES_LENGTH_MAX) throw LIMIT_REACHED;
  }

  addAll(findings: Iterable<T>): void {
    for (const finding of findings) this.add(finding);
  }
}

/** Thrown to end a check; only `collect` catches it. */
const LIMIT_REACHED = new Error("Cannot report more: the limit of findings is reached");

export type FieldErrors = Findings<FieldError>;
export type Warnings = Findings<string>;

/** The first errors that `check` adds. */
export function errorsOf(check: (errors: FieldErrors) => void): readonly FieldError[] {
  return collect(new Findings<FieldError>(({ field, body }) => field.length + body.length), check);
}

/** The first warnings that `check` adds. */
export function warningsOf(check: (warnings: Warnings) => void): readonly string[] {
  return collect(new Findings<string>((sentence) => sentence.length), check);
}

function collect<T>(findings: Findings<T>, check: (findings: Findings<T>) => void): readonly T[] {
  try {
    check(findings);
  } catch (error) {
    if (error !== LIMIT_REACHED) throw error;
  }
  return findings.found;
}
