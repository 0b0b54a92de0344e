/** Reads members of objects whose kind the page does not know: a missing one is undefined, whatever is in its place. Pure. */
import { isObject } from "../../api/machinery/object.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The member at a path: `field(pod, "spec", "nodeName")`. */
export function field(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

/** The objects of a list at a path. */
export function objectsAt(value: unknown, ...path: readonly string[]): readonly Fields[] {
  const list = field(value, ...path);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The text at a path; "" if it is missing. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = field(value, ...path);
  return typeof found === "string" || typeof found === "number" || typeof found === "boolean" ? String(found) : "";
}
