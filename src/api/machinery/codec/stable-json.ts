/**
 * JSON as Go's encoder writes untyped values: object members sorted, and HTML characters escaped. Equal values have equal texts, so
 * duplicates can be found without comparing all pairs.
 */
import type { Json, JsonObject } from "../object.ts";

export function writeStableJson(value: Json): string {
  return escapeForPages(writeSorted(value));
}

const PAGE_CHARACTERS = ["<", ">", "&", "\u2028", "\u2029"];

/** Escapes HTML characters in JSON without changing its meaning. */
export function escapeForPages(json: string): string {
  // Hot path (called per write): most texts have none, and searching one character at a time is several times faster than the expression.
  if (!PAGE_CHARACTERS.some((character) => json.includes(character))) return json;
  return json.replaceAll(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function writeSorted(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(writeSorted).join(",")}]`;
  const object = value as JsonObject;
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${writeSorted(object[name] ?? null)}`);
  return `{${members.join(",")}}`;
}
