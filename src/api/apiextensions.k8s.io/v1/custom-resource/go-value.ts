/** Values as Go prints them (`%v`): in cells, and as values of field selectors. */
import type { Json } from "../../../machinery/object.ts";

/** From here on Go switches to an exponent. */
const EXPONENT_FROM = 1e21;

/** A number: integers as they are, others in the shortest form, with an exponent of at least two digits. */
function formatFloat(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < EXPONENT_FROM) return String(value);
  return String(value).replace(/e([+-])(\d)$/, "e$10$2");
}

export function formatScalar(value: string | number | bigint | boolean): string {
  return typeof value === "number" ? formatFloat(value) : String(value);
}

/** "" for null. */
export function formatGo(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return formatScalar(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(formatGo).join(" ")}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${members.map(([name, member]) => `${name}:${formatGo(member)}`).join(" ")}]`;
}
