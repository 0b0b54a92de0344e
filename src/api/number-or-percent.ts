/**
 * Amounts that are a number or a share ("25%") of something: how many Pods of a workload may be missing, or too many. The rules and words
 * are the same wherever they stand. How a share is rounded is the business of whoever acts on it.
 */
import { invalid, type FieldError } from "./machinery/field-error.ts";
import { validatePercent } from "./machinery/names.ts";
import { nonNegative } from "./number-validation.ts";

export type NumberOrPercent = number | string;

const PERCENT_MAX = 100;

export function* validateNumberOrPercent(value: NumberOrPercent, at: string): Iterable<FieldError> {
  if (typeof value === "number") yield* nonNegative(value, at);
  else for (const wrong of validatePercent(value)) yield invalid(at, value, wrong);
}

export function* validateAtMostAll(value: NumberOrPercent, at: string): Iterable<FieldError> {
  if (typeof value === "string" && isPercent(value) && amountOf(value) > PERCENT_MAX) {
    yield invalid(at, value, "must not be greater than 100%");
  }
}

function isPercent(text: string): boolean {
  return validatePercent(text).length === 0;
}

/** The number before the sign; upstream reads other text as a number too, and takes what is none for 0. */
export function amountOf(value: NumberOrPercent): number {
  if (typeof value === "number") return value;
  return isPercent(value) || /^[-+]?[0-9]+$/.test(value) ? Number.parseInt(value, 10) : 0;
}

/** How many of so many it comes to. A number is itself, however many there are. */
export function shareOf(value: NumberOrPercent, { of, round }: { readonly of: number; readonly round: "up" | "down" }): number {
  if (typeof value === "number") return value;
  const share = (amountOf(value) * of) / PERCENT_MAX;
  return round === "up" ? Math.ceil(share) : Math.floor(share);
}
