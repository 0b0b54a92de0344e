/**
 * Changing by copying, where what stays the same keeps its identity: the machine skips comparing, validating and writing it.
 * Defaults run twice on every write, the second time over an object that has them all, so the case without a change must be cheap.
 */

/** The value with the members of `patch` that differ; itself if none does. Members of the patch that are undefined are left alone. */
export function withChanges<T extends object>(value: T, patch: { readonly [Name in keyof T]?: T[Name] | undefined }): T {
  let copy: T | undefined;
  for (const name in patch) {
    const next = patch[name];
    if (next === undefined || next === value[name]) continue;
    copy ??= { ...value };
    copy[name] = next;
  }
  return copy ?? value;
}

/** As `withChanges`, for a member that may be absent. */
export function changed<T>(value: T | undefined, change: (value: T) => T): T | undefined {
  return value === undefined ? undefined : change(value);
}

/** Every item changed; the same list if no item is another than before. */
export function changedItems<T>(list: readonly T[] | undefined, change: (item: T) => T): readonly T[] | undefined {
  if (list === undefined) return undefined;
  let copy: T[] | undefined;
  for (const [index, item] of list.entries()) {
    const next = change(item);
    if (next === item) continue;
    copy ??= [...list];
    copy[index] = next;
  }
  return copy ?? list;
}

/** The value with the named members as they are in `source`, absent where they are absent there. */
export function withMembersOf<T extends object>(value: T, source: T, ...names: readonly (keyof T)[]): T {
  if (names.every((name) => value[name] === source[name])) return value;
  const copy = { ...value };
  for (const name of names) {
    if (source[name] === undefined) delete copy[name];
    else copy[name] = source[name];
  }
  return copy;
}
