/** A text for a JSON value that is the same for equal values, so that equal ones are found without comparing each with each. */
import type { Json, JsonObject } from "../../../machinery/object.ts";

/** JSON with the members of objects in order. */
export function stableText(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(stableText).join(",")}]`;
  const object = value as JsonObject;
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${stableText(object[name] ?? null)}`);
  return `{${members.join(",")}}`;
}
