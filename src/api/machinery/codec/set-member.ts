/** Sets members of objects with untrusted names. */
import type { Json } from "../object.ts";

/** An assignment to `__proto__` would set the prototype instead. */
export function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}
