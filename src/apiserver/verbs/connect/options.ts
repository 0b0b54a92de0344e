/**
 * Decodes the query of a connection request to its options type, as upstream: the first value of a repeated parameter counts, unless the
 * field is a list; unknown parameters are ignored.
 */
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { timeProblem } from "../../../api/machinery/codec/time-problem.ts";
import { apiVersionOf, type GroupVersionKind, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import type { Field, ObjectSchema, ScalarSchema } from "../../../api/machinery/schema.ts";
import { badRequest } from "../../../api/machinery/status-error.ts";
import { canonicalTime } from "../../../api/machinery/time.ts";

/** Throws BadRequest. */
export function decodeOptions(type: GroupVersionKind, schema: ObjectSchema, parameters: URLSearchParams): JsonObject {
  const given = [...schema.fields.values()].flatMap((field) => {
    const values = field.name === "kind" || field.name === "apiVersion" ? [] : parameters.getAll(field.name);
    const value = values.length === 0 ? undefined : read(field, values);
    return value === undefined ? [] : [[field.name, value] as const];
  });
  return { kind: type.kind, apiVersion: apiVersionOf(type), ...Object.fromEntries(given) };
}

function read({ schema, zero }: Field, values: readonly string[]): Json | undefined {
  if (schema.type === "list") {
    const { items } = schema;
    return items.type === "integer" ? values.flatMap((value) => value.split(",")).map(smallNumber) : values;
  }
  const value = readScalar(schema as ScalarSchema, values[0] ?? "");
  const isZero = value === false || value === 0 || value === "";
  return isZero && zero === "omit" ? undefined : value;
}

function readScalar({ type, format }: ScalarSchema, value: string): Json {
  switch (type) {
    case "boolean":
      // Only these two are false; a parameter without a value is true.
      return value !== "0" && value.toLowerCase() !== "false";
    case "integer":
    case "number":
      return wholeNumber(value);
    case "string":
      return format === "date-time" ? time(value) : value;
  }
}

/** Go's zero time. */
const NO_TIME = "0001-01-01T00:00:00Z";

function time(value: string): string {
  if (value === "" || value === "null") return NO_TIME;
  const read = canonicalTime(value);
  if (read === undefined) throw badRequest(timeProblem(value, "seconds"));
  return read;
}

const INT64_MAX = 2n ** 63n - 1n;

function wholeNumber(value: string): number | bigint {
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(numberProblem("ParseInt", value, "invalid syntax"));
  const read = BigInt(value.replace(/^\+/, ""));
  if (read > INT64_MAX || read < -INT64_MAX - 1n) throw badRequest(numberProblem("ParseInt", value, "value out of range"));
  return Number.isSafeInteger(Number(read)) ? Number(read) : read;
}

const UINT16_MAX = 65_535;

/** A port: the only numeric list. */
function smallNumber(value: string): number {
  const problem = !/^\d+$/.test(value) ? "invalid syntax" : Number(value) > UINT16_MAX ? "value out of range" : undefined;
  if (problem !== undefined) throw badRequest(`cannot convert to []int32: ${numberProblem("ParseUint", value, problem)}`);
  return Number(value);
}

function numberProblem(reader: "ParseInt" | "ParseUint", value: string, problem: string): string {
  return `strconv.${reader}: parsing ${quoteGo(value)}: ${problem}`;
}
