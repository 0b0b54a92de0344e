/**
 * Limits how many validation errors a response lists. A body of 3 MiB can have a hundred thousand mistakes, each of which may name a path
 * or quote a value of a megabyte, and no client reads them all. Validation is lazy where it can be, so errors beyond the limit are not even
 * computed.
 */
import type { FieldError } from "./field-error.ts";

/** Maximum number of causes in one response. */
export const CAUSES_MAX = 1_000;

/** Maximum total length of the causes, because a cause can quote a whole list of the object. The first is kept at any length. */
export const CAUSES_LENGTH_MAX = 1024 * 1024;

/**
 * Yielded by a validation instead of an error where the event loop should be yielded, because its expressions take long. It is not an
 * error: collectors skip it.
 */
export const PAUSE: FieldError = Object.freeze<FieldError>({ type: "InternalError", field: "(pause)", body: "" });

/** Collects errors from several sources, for callers that cannot yield them one by one. */
export class Causes {
  readonly errors: FieldError[] = [];
  #length = 0;

  get isFull(): boolean {
    return this.errors.length >= CAUSES_MAX || this.#length >= CAUSES_LENGTH_MAX;
  }

  /** Takes from `errors` until a limit is reached. */
  addAll(errors: Iterable<FieldError>): void {
    if (this.isFull) return;
    for (const error of errors) {
      if (error === PAUSE) continue;
      this.#add(error);
      if (this.isFull) return;
    }
  }

  /** The same, yielding `step` at each pause. */
  *addInSteps<T>(errors: Iterable<FieldError>, step: T): Generator<T, void> {
    if (this.isFull) return;
    for (const error of errors) {
      if (error === PAUSE) yield step;
      else this.#add(error);
      if (this.isFull) return;
    }
  }

  #add(error: FieldError): void {
    this.errors.push(error);
    this.#length += error.field.length + error.body.length;
  }
}

/** As firstCauses; a step ends where the event loop should be yielded. */
export function* firstCausesInSteps(...sources: readonly Iterable<FieldError>[]): Generator<void, readonly FieldError[]> {
  const causes = new Causes();
  for (const source of sources) {
    // What is a list has been computed.
    if (Array.isArray(source)) causes.addAll(source);
    else yield* causes.addInSteps(source, undefined);
  }
  return causes.errors;
}

export function firstCauses(...sources: readonly Iterable<FieldError>[]): readonly FieldError[] {
  const causes = new Causes();
  for (const source of sources) causes.addAll(source);
  return causes.errors;
}
