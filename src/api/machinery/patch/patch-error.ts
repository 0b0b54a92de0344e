/**
 * How patches fail, in upstream's words: clients and tests match them. Upstream answers a patch whose form is wrong with 400, one that
 * does not fit the object with 422 and one general sentence (the particular one is kept as the error's cause, for the log), and
 * everything its merge did not foresee with 500 and the bare sentence, even where the client is to blame.
 * Upstream's sentences show values as Go prints them, so that is done here too.
 */
import type { Json } from "../object.ts";
import { StatusError } from "../status-error.ts";
import { isJsonList, isJsonObject } from "./edit.ts";

/** 422: the patch does not fit the object. */
export function doesNotFit(why: string): StatusError {
  return new StatusError("Invalid", "the server rejected our request due to an error in our request", {
    details: {},
    cause: new Error(why),
  });
}

/** 500, as upstream answers errors that its patch handler does not translate. */
export function cannotMerge(why: string): StatusError {
  return new StatusError("Unknown", why);
}

export function noMergeKey(item: Json, mergeKey: string): StatusError {
  return cannotMerge(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}

export function wrongArgument(expected: "map" | "list", actual: Json): StatusError {
  const type = expected === "map" ? "map[string]interface {}" : "[]interface {}";
  return cannotMerge(`expected a ${type}, but received a ${goType(actual)}`);
}

export function unknownDirective(directive: Json, item: Json): StatusError {
  return cannotMerge(`unknown patch type: ${typeof directive === "string" ? directive : goMismatch(directive)} in map: ${goText(item)}`);
}

/** What Go's JSON decoder says of a value that does not fit the type. */
export function wrongGoType(value: Json, expected: string): string {
  return `json: cannot unmarshal ${jsonType(value)} into Go value of type ${expected}`;
}

export function jsonType(value: Json): string {
  if (isJsonList(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : typeof value;
}

/** The type that Go's decoder would give the value. */
export function goType(value: Json): string {
  if (value === null) return "%!s(<nil>)";
  if (isJsonList(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "bigint" ? "int64" : "string";
}

/** As Go's `%v` shows a value. */
export function goText(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonList(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  const names = Object.keys(value).toSorted();
  return `map[${names.map((name) => `${name}:${goText(value[name] ?? null)}`).join(" ")}]`;
}

/** As Go's `%s` shows what is not a string. */
function goMismatch(value: Json): string {
  return value === null ? "%!s(<nil>)" : `%!s(${goType(value)}=${goText(value)})`;
}
