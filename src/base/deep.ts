/**
 * Copying, freezing and comparing whole JSON-like values: null, booleans, numbers, strings, arrays and plain objects of those.
 * A member called `__proto__` is a member like any other: copied, frozen and compared, and never a prototype.
 *
 * Not for what JSON does not have: dates, maps, instances of classes, circles. Depth is limited at the door where values come
 * in, so recursion is enough here.
 */

/** A copy that shares nothing with the original and is frozen nowhere. */
export function deepClone<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  // Not `slice`, which is slow on frozen arrays.
  return (Array.isArray(value) ? value.map(deepClone) : cloneObject(value)) as T;
}

function cloneObject(object: object): object {
  // Spreading copies all members at once, in the shape that the original has, and `__proto__` as a member.
  const copy: Record<string, unknown> = { ...object };
  for (const key in copy) {
    const member = copy[key];
    // The member exists already, so this assignment never reaches a setter of a prototype.
    if (typeof member === "object" && member !== null) copy[key] = deepClone(member);
  }
  return copy;
}

/**
 * Freezes `value` and all that is in it; hands it back. A part that is frozen counts as frozen throughout and is skipped, which
 * makes freezing an object that shares most of its parts with an older one cheap: freeze with nothing but this function.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Array.isArray(value) ? value : Object.values(value)) deepFreeze(member);
  return value;
}

/**
 * Whether two values are the same JSON: the order of members does not matter, and a member that is undefined counts as absent.
 * Parts that are one and the same object are not looked into.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && arraysEqual(a, b);
  return !Array.isArray(b) && objectsEqual(a as Members, b as Members);
}

type Members = Readonly<Record<string, unknown>>;

function arraysEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (!deepEqual(a[index], b[index])) return false;
  return true;
}

/** With `for in`, which takes no list of the keys: this runs for every object of every update. */
function objectsEqual(a: Members, b: Members): boolean {
  let surplusOfA = 0;
  for (const key in a) {
    const member = a[key];
    if (member === undefined) continue;
    if (!deepEqual(member, b[key])) return false;
    // An object without a member "__proto__" still answers to that name, with its prototype.
    if (key === "__proto__" && !Object.hasOwn(b, key)) return false;
    surplusOfA++;
  }
  // All of a's members are in b; b has no others if it has as many.
  for (const key in b) if (b[key] !== undefined) surplusOfA--;
  return surplusOfA === 0;
}
