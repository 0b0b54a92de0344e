/**
 * Formats values in error messages as Go does: numbers in its own form, objects with sorted members, and in these and in lists with some
 * characters escaped. Elsewhere values are simple enough for these differences not to occur.
 */
import { duplicate, invalid, type FieldError } from "../../../machinery/field-error.ts";
import type { Json } from "../../../machinery/object.ts";
import { formatFloat, isInt64, isNumber } from "./numbers.ts";
import { quoteGo } from "../../../machinery/codec/go-text.ts";
import { writeStableJson } from "../../../machinery/codec/stable-json.ts";

export function invalidValue(field: string, value: Json, detail: string): FieldError {
  return { ...invalid(field, "", detail), body: `Invalid value: ${showValue(value)}: ${detail}` };
}

export function duplicateValue(field: string, value: Json): FieldError {
  return { ...duplicate(field, ""), body: `Duplicate value: ${showValue(value)}` };
}

function showValue(value: Json): string {
  if (isNumber(value)) return isInt64(value) ? value.toString() : formatFloat(Number(value));
  return typeof value === "string" ? quoteGo(value) : writeStableJson(value);
}
