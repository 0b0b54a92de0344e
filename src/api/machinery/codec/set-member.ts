/** Sets members of objects whose names come from outside. */
import type { Json } from "../object.ts";

/** An assignment to `__proto__` would not make a member. */
export function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}
