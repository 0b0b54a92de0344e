/** Names of Go types, which upstream shows in messages about values of the wrong type. */
import type { Json } from "./object.ts";

/** The Go type of a decoded value (`%T`). */
export function goTypeOf(value: Json): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    case "bigint":
      return "int64";
    default:
      return value === null ? "<nil>" : Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
  }
}
