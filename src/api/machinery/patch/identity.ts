/**
 * Structural sharing: a new value takes over every equal part of an older one, so that later code can detect changes with `===`. When all
 * is equal, nothing is allocated and the older value is returned. Parts are compared at the same path (lists by index). Values are JSON,
 * may be frozen and are never modified; a member that is undefined counts as absent. The depth is limited where values are parsed, so
 * recursion is safe.
 */

/** Returns a value equal to `next` in which every part that equals the one at the same path of `previous` is that one. */
export function keepIdentity<T>(next: T, previous: unknown): T {
  return keep(next, previous) as T;
}

function keep(next: unknown, previous: unknown): unknown {
  if (next === previous) return previous;
  if (typeof next !== "object" || typeof previous !== "object" || next === null || previous === null) return next;
  if (Array.isArray(next)) return Array.isArray(previous) ? keepItems(next, previous) : next;
  return Array.isArray(previous) ? next : keepMembers(next as Members, previous as Members);
}

function keepItems(next: readonly unknown[], previous: readonly unknown[]): readonly unknown[] {
  // As long as all items so far are those of one of the two lists, that list is the result and none is allocated.
  let isPrevious = true;
  let isNext = true;
  let made: unknown[] | undefined;
  for (let index = 0; index < next.length; index++) {
    const item = index < previous.length ? keep(next[index], previous[index]) : next[index];
    const staysPrevious: boolean = isPrevious && index < previous.length && item === previous[index];
    const staysNext: boolean = isNext && item === next[index];
    if (!staysPrevious && !staysNext) {
      made ??= firstItems(isPrevious ? previous : next, index);
      made.push(item);
    }
    isPrevious = staysPrevious;
    isNext = staysNext;
  }
  if (made !== undefined) return made;
  if (isPrevious && previous.length === next.length) return previous;
  return isNext ? next : firstItems(previous, next.length);
}

/** Not `slice`, which is slow on frozen arrays. */
function firstItems(list: readonly unknown[], count: number): unknown[] {
  const items: unknown[] = [];
  for (let index = 0; index < count; index++) items.push(list[index]);
  return items;
}

type Members = Readonly<Record<string, unknown>>;

/** `for in` allocates no list of names. Hot path (called per object of every update). */
function keepMembers(next: Members, previous: Members): Members {
  let isPrevious = true;
  let isNext = true;
  let made: Record<string, unknown> | undefined;
  let count = 0;
  for (const name in next) {
    const older = memberOf(previous, name);
    const member = keep(next[name], older);
    if (member !== undefined) count++;
    const staysPrevious: boolean = isPrevious && member === older;
    const staysNext: boolean = isNext && member === next[name];
    if (!staysPrevious && !staysNext) {
      made ??= isPrevious ? withMembersOf(previous, next, name) : { ...next };
      // The member exists in the copy already, so this assignment never reaches a setter of a prototype.
      made[name] = member;
    }
    isPrevious = staysPrevious;
    isNext = staysNext;
  }
  if (made !== undefined) return made;
  if (isPrevious && count === countMembers(previous)) return previous;
  return isNext ? next : withMembersOf(previous, next);
}

/** A copy of `next` in which the members before `end` (all, if absent) are those of `previous`. */
function withMembersOf(previous: Members, next: Members, end?: string): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...next };
  for (const name in next) {
    if (name === end) break;
    copy[name] = memberOf(previous, name);
  }
  return copy;
}

function memberOf(object: Members, name: string): unknown {
  // "__proto__" and "constructor" are inherited by every object and count only as own members.
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function countMembers(object: Members): number {
  let count = 0;
  for (const name in object) if (object[name] !== undefined) count++;
  return count;
}
