/** Equality of JSON. */
import { spend } from "./meter.ts";

/** Steps of comparing two members. */
const MEMBER_STEPS = 40;

export function isDeepEqual(a: unknown, b: unknown): boolean {
  spend(MEMBER_STEPS);
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isDeepEqual(a[key as keyof typeof a], b[key as keyof typeof b]));
}
