/**
 * Errors of patches, with upstream's messages: clients and tests match them. Upstream answers a malformed patch with 400, one that does not
 * apply to the object with 422 and one general message (the specific one is kept as the error's cause, for the log), and everything that
 * its merge did not foresee with 500 and the bare message, even where the client is to blame. Upstream's messages show values as Go prints
 * them, and so do these.
 */
import { isObject, type Json } from "../object.ts";
import { StatusError } from "../status-error.ts";
import { isJsonList } from "./edit.ts";

/** 422: the patch does not apply to the object. */
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

/** Message of Go's JSON decoder for a value that does not fit the type. */
export function wrongGoType(value: Json, expected: string): string {
  return `json: cannot unmarshal ${jsonType(value)} into Go value of type ${expected}`;
}

export function jsonType(value: Json): string {
  if (isJsonList(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : typeof value;
}

/** The Go type that the decoder would give the value. */
export function goType(value: Json): string {
  if (value === null) return "%!s(<nil>)";
  if (isJsonList(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "bigint" ? "int64" : "string";
}

/** Formats as Go's `%v`. */
export function goText(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonList(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isObject(value)) return String(value);
  const names = Object.keys(value).toSorted();
  return `map[${names.map((name) => `${name}:${goText(value[name] ?? null)}`).join(" ")}]`;
}

/** Formats a value other than a string as Go's `%s`. */
function goMismatch(value: Json): string {
  return value === null ? "%!s(<nil>)" : `%!s(${goType(value)}=${goText(value)})`;
}
