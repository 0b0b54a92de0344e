/** Checks the types of a token's claims, with the messages of Go's JSON decoder. */
import type { Json } from "../../api/machinery/object.ts";

/** `goType`: upstream's name of the expected type. */
export function wrongType(claim: Exclude<Json, null>, goType: string): string {
  return `json: cannot unmarshal ${goNameOf(claim)} into Go value of type ${goType}`;
}

function goNameOf(claim: Exclude<Json, null>): string {
  if (Array.isArray(claim)) return "array";
  if (typeof claim === "boolean") return "bool";
  return typeof claim === "bigint" ? "number" : typeof claim;
}
