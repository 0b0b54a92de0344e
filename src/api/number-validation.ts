/**
 * Integer rules that many kinds share, with upstream's messages. An absent number is the zero value of upstream's types. Not here: ranges
 * and ports (machinery/names.ts), quantities (machinery/quantity.ts).
 */
import { invalid, type FieldError } from "./machinery/field-error.ts";

export const NOT_NEGATIVE = "must be greater than or equal to 0";

/** Yields at most one error. */
export function nonNegative(value: number | bigint | undefined, field: string): readonly FieldError[] {
  return (value ?? 0) < 0 ? [invalid(field, value, NOT_NEGATIVE)] : [];
}
