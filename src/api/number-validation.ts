/**
 * Rules for whole numbers that many kinds share, in upstream's words. An absent number is the zero that upstream's types would hold.
 * Not here: ranges and ports (machinery/names.ts), amounts of resources (machinery/quantity.ts).
 */
import { invalid, type FieldError } from "./machinery/field-error.ts";

export const NOT_NEGATIVE = "must be greater than or equal to 0";

/** Nothing, or the one sentence that is wrong. */
export function nonNegative(value: number | bigint | undefined, field: string): readonly FieldError[] {
  return (value ?? 0) < 0 ? [invalid(field, value, NOT_NEGATIVE)] : [];
}
