/** Of which type a claim of a token is, and what is said of one that should be of another: as Go's reader of JSON says it. */
import type { Json } from "../../api/machinery/object.ts";

/** `goType`: how upstream calls what it should be. */
export function wrongType(claim: Exclude<Json, null>, goType: string): string {
  return `json: cannot unmarshal ${goNameOf(claim)} into Go value of type ${goType}`;
}

function goNameOf(claim: Exclude<Json, null>): string {
  if (Array.isArray(claim)) return "array";
  if (typeof claim === "boolean") return "bool";
  return typeof claim === "bigint" ? "number" : typeof claim;
}
