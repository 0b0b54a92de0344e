/**
 * Numeric rules of a schema. Upstream keeps limits as floating-point numbers and compares integers with their integer part, unless the
 * schema's type cannot hold a limit at all: then it reports that, and compares it as it is.
 */
import { invalid } from "../../../machinery/field-error.ts";
import { type Failure, failureAt, invalidAt, invalidWhole, type Verdict } from "./failure.ts";
import type { JsonSchema } from "./json-schema.ts";
import { fitsFormat, formatFloat, isInt64, isNearlyWhole, type JsonNumber } from "./numbers.ts";

export function validateNumber(verdict: Verdict, value: JsonNumber, schema: JsonSchema, path: string): void {
  const { multipleOf, minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false } = schema;
  verdict.add(outOfRange(value, schema, path, "Checked"));
  if (multipleOf !== undefined) {
    const limit = limitOf(verdict, value, { schema, path, limit: multipleOf, name: "MultipleOf" });
    verdict.add(notMultiple(limit, path));
  }
  if (minimum !== undefined) {
    const { isWhole, value: number, limit } = limitOf(verdict, value, { schema, path, limit: minimum, name: "Minimum boundary" });
    const isBelow = exclusiveMinimum ? number <= limit : number < limit;
    const comparison = exclusiveMinimum ? "should be greater than" : "should be greater than or equal to";
    if (isBelow) verdict.add(invalidAt(path, `${comparison} ${shown(limit, isWhole)}`, number));
  }
  if (maximum !== undefined) {
    const { isWhole, value: number, limit } = limitOf(verdict, value, { schema, path, limit: maximum, name: "Maximum boundary" });
    const isAbove = exclusiveMaximum ? number >= limit : number > limit;
    const comparison = exclusiveMaximum ? "should be less than" : "should be less than or equal to";
    if (isAbove) verdict.add(invalidAt(path, `${comparison} ${shown(limit, isWhole)}`, number));
  }
}

interface Limit {
  readonly schema: JsonSchema;
  readonly path: string;
  readonly limit: number;
  readonly name: string;
}

interface Comparable {
  readonly value: JsonNumber;
  readonly limit: number;
  /** Both are compared, and quoted, as integers. */
  readonly isWhole: boolean;
}

function limitOf(verdict: Verdict, value: JsonNumber, { schema, path, limit, name }: Limit): Comparable {
  const problem = outOfRange(limit, schema, path, name);
  verdict.add(problem);
  const isWhole = problem === undefined && isInt64(value);
  return isWhole ? { isWhole, value, limit: Math.trunc(limit) } : { isWhole, value: Number(value), limit };
}

function notMultiple({ value, limit, isWhole }: Comparable, path: string): Failure | undefined {
  const factor = shown(limit, isWhole);
  if (limit <= 0) {
    const sentence = `factor MultipleOf declared for ${path} must be positive: ${factor}`;
    return failureAt(path, sentence, (field) => invalid(field, limit, sentence));
  }
  const number = Number(value);
  const quotient = limit < 1 ? (1 / limit) * number : number / limit;
  const isMultiple = isWhole ? BigInt(value) % BigInt(limit) === 0n : isNearlyWhole(quotient);
  return isMultiple ? undefined : invalidAt(path, `should be a multiple of ${factor}`, value);
}

function shown(limit: number, isWhole: boolean): string {
  return isWhole ? BigInt(limit).toString() : formatFloat(limit);
}

function outOfRange(value: JsonNumber, { type = "", format = "" }: JsonSchema, path: string, name: string): Failure | undefined {
  const known = knownFormat(type, format);
  if (fitsFormat(value, type, known)) return undefined;
  const written = known === "" ? "(default format)" : `with format ${known}`;
  return invalidWhole(`${name} value must be of type ${type} ${written} in ${path}`);
}

function knownFormat(type: string, format: string): string {
  const formats = type === "integer" ? ["int32", "int64"] : type === "number" ? ["float", "double"] : [];
  return formats.includes(format) ? format : "";
}
