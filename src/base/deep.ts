/**
 * Deep clone, freeze and equality of JSON-like values: null, booleans, numbers, strings, arrays and plain objects of those. A member named
 * `__proto__` is an ordinary member: cloned, frozen and compared, never a prototype.
 *
 * Not for values that JSON lacks: dates, maps, class instances, cycles. Depth is limited where values enter the process, so that recursion
 * is safe here.
 */

/** A copy that shares no object with the original and is not frozen. */
export function deepClone<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  // Not `slice`, which is slow on frozen arrays.
  return (Array.isArray(value) ? value.map(deepClone) : cloneObject(value)) as T;
}

function cloneObject(object: object): object {
  // Spread copies all members at once, keeps the hidden class of the original, and copies `__proto__` as a member.
  const copy: Record<string, unknown> = { ...object };
  for (const key in copy) {
    const member = copy[key];
    // The member already exists, so that this assignment never calls a prototype's setter.
    if (typeof member === "object" && member !== null) copy[key] = deepClone(member);
  }
  return copy;
}

/**
 * Freezes `value` deeply and returns it. A frozen part counts as frozen throughout and is skipped, which makes freezing cheap for an object
 * that shares most parts with an older one: freeze with this function only.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Array.isArray(value) ? value : Object.values(value)) deepFreeze(member);
  return value;
}

/**
 * Whether two values are the same JSON: member order is ignored, and an undefined member counts as absent. Identical parts are not
 * descended into.
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

/** `for in` allocates no key array: hot path, called for every object of every update. */
function objectsEqual(a: Members, b: Members): boolean {
  let surplusOfA = 0;
  for (const key in a) {
    const member = a[key];
    if (member === undefined) continue;
    if (!deepEqual(member, b[key])) return false;
    // An object without a member "__proto__" still returns its prototype under that name.
    if (key === "__proto__" && !Object.hasOwn(b, key)) return false;
    surplusOfA++;
  }
  // All members of a are in b; b has no others if the counts are equal.
  for (const key in b) if (b[key] !== undefined) surplusOfA--;
  return surplusOfA === 0;
}
