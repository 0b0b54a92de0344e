/**
 * Validates and scales IntOrString values that are a number or a percentage ("25%"): how many Pods of a workload may be unavailable or
 * surplus. The rules and messages are the same in every field; the caller decides how a percentage is rounded.
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

/** The number before the percent sign; upstream parses other text leniently, as a number or 0. */
export function amountOf(value: NumberOrPercent): number {
  if (typeof value === "number") return value;
  return isPercent(value) || /^[-+]?[0-9]+$/.test(value) ? Number.parseInt(value, 10) : 0;
}

/** Scales a percentage to `total`; a plain number is returned unchanged. */
export function shareOf(value: NumberOrPercent, { of, round }: { readonly of: number; readonly round: "up" | "down" }): number {
  if (typeof value === "number") return value;
  const share = (amountOf(value) * of) / PERCENT_MAX;
  return round === "up" ? Math.ceil(share) : Math.floor(share);
}
