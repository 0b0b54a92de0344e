/**
 * The first of the errors that a validation yields. An answer lists so many and no more: a body of 3 MiB can have a hundred thousand
 * mistakes, each of which may name a path or quote a value that is a megabyte long, and nobody reads them.
 * Validation is lazy where it can be, so what comes after is not even looked for.
 */
import type { FieldError } from "./field-error.ts";

/** Causes that one answer lists. */
export const CAUSES_MAX = 1_000;

/** What they may add up to, because a cause can quote a whole list of the object. The first is told however long it is. */
export const CAUSES_LENGTH_MAX = 1024 * 1024;

/** For those who find errors in more than one place, and cannot yield them one by one. */
export class Causes {
  readonly errors: FieldError[] = [];
  #length = 0;

  get isFull(): boolean {
    return this.errors.length >= CAUSES_MAX || this.#length >= CAUSES_LENGTH_MAX;
  }

  /** Takes of `errors` what there is room for. */
  addAll(errors: Iterable<FieldError>): void {
    if (this.isFull) return;
    for (const error of errors) {
      this.errors.push(error);
      this.#length += error.field.length + error.body.length;
      if (this.isFull) return;
    }
  }
}

export function firstCauses(...sources: readonly Iterable<FieldError>[]): readonly FieldError[] {
  const causes = new Causes();
  for (const source of sources) causes.addAll(source);
  return causes.errors;
}
