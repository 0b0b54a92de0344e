/**
 * Schema violations with the messages of upstream's OpenAPI validator. They are separate from field errors because a message is reported
 * once only, however many of the schemas in allOf, anyOf and oneOf produce it, and because of these the best match is reported: upstream
 * counts how much of a value did match.
 */
import { quoteGo } from "../../../machinery/codec/go-text.ts";
import { child, invalid, notSupported, required, tooLong, tooMany, type FieldError } from "../../../machinery/field-error.ts";
import type { Json } from "../../../machinery/object.ts";
import type { Budget } from "./budget.ts";
import type { EnumIndex } from "./enum-index.ts";
import { invalidValue } from "./shown-value.ts";

export interface Failure {
  /** Identity of a violation. */
  readonly sentence: string;
  /** `at` is the path of the validated value. */
  toFieldError(at: string): FieldError;
}

/** Cost of keeping a violation, in steps of the budget. */
const FAILURE_STEPS = 20;
const CHARACTERS_PER_STEP = 8;

/** The result of one schema for one value. Kept violations are charged to the budget. */
export class Verdict {
  readonly #budget: Budget;
  readonly #failures = new Map<string, Failure>();
  /** Number of passed checks, as upstream counts them. */
  matches = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get isValid(): boolean {
    return this.#failures.size === 0;
  }

  add(failure: Failure | undefined): void {
    if (failure === undefined) return;
    this.#budget.spend(FAILURE_STEPS + failure.sentence.length / CHARACTERS_PER_STEP);
    if (!this.#failures.has(failure.sentence)) this.#failures.set(failure.sentence, failure);
  }

  merge(other: Verdict): void {
    for (const failure of other.#failures.values()) this.add(failure);
    this.matches += other.matches;
  }

  *toFieldErrors(at: string): Iterable<FieldError> {
    for (const failure of this.#failures.values()) yield failure.toFieldError(at);
  }
}

/** A violation of the value at `path`, which is relative and may begin with a dot. */
export function failureAt(path: string, sentence: string, toFieldError: (field: string, sentence: string) => FieldError): Failure {
  const name = path.startsWith(".") ? path.slice(1) : path;
  return { sentence, toFieldError: (at) => toFieldError(name === "" ? at : child(at, name), sentence) };
}

/** `value` is quoted; the message begins with the path. */
export function invalidAt(path: string, what: string, value: Json): Failure {
  return failureAt(path, `${path} in body ${what}`, (field, sentence) => invalidValue(field, value, sentence));
}

/** A violation without a path: it is reported for the whole value. */
export function invalidWhole(sentence: string): Failure {
  return { sentence, toFieldError: (at) => invalid(at, "", sentence) };
}

export function wrongTypeAt(path: string, expected: string, found: string): Failure {
  const sentence = `${path} in body must be of type ${expected}: ${quoteGo(found)}`;
  return failureAt(path, sentence, (field) => ({ ...invalid(field, found, sentence), type: "FieldValueTypeInvalid" }));
}

export function requiredAt(path: string): Failure {
  return failureAt(path, `${path} in body is required`, (field) => required(field));
}

export function notInEnumAt(path: string, value: Json, { text, words }: EnumIndex): Failure {
  return failureAt(path, `${path} in body should be one of [${text}]`, (field) => notSupported(field, value, words));
}

export function tooLongAt(path: string, max: number): Failure {
  return failureAt(path, `${path} in body should be at most ${max} chars long`, (field) => tooLong(field, max));
}

export function tooManyAt(path: string, what: "items" | "properties", { actual, max }: { actual: number; max: number }): Failure {
  return failureAt(path, `${path} in body should have at most ${max} ${what}`, (field) => tooMany(field, actual, max));
}
