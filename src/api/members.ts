/** Building objects with optional members: for conversions between versions and write strategies. Beside changes.ts, which sets members. */

/** Drops undefined members of a literal. A member that is null stays: some absent values are written so. */
export function defined<T extends object>(members: { readonly [Name in keyof T]: T[Name] | undefined }): T {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const value: unknown = members[name as keyof T];
    if (value === undefined) continue;
    // So that `__proto__` becomes an ordinary member.
    if (name === "__proto__") Object.defineProperty(result, name, { value, writable: true, enumerable: true, configurable: true });
    else result[name] = value;
  }
  return result as T;
}

/**
 * Upstream writes a few absent lists as null: `rules: null`. No type here includes null, so readers write `?? []`, which covers both; a
 * default in a destructuring pattern does not.
 */
export const absentList: never = null as never;

/** Converts an empty list to null, for the lists that upstream writes so. */
export function listOrAbsent<Item>(list: readonly Item[] | undefined): readonly Item[] {
  return list === undefined || list === null || list.length === 0 ? absentList : list;
}

/** Sorts members by name, as upstream's messages show maps. */
export function sortedMembers<Value>(map: Readonly<Record<string, Value>> | undefined): Readonly<Record<string, Value>> | undefined {
  return map && Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the object without one optional member; itself if it does not have it. */
export function without<T extends object, Name extends OptionalName<T>>(object: T, name: Name): T {
  if (!Object.hasOwn(object, name)) return object;
  const { [name]: _, ...rest } = object;
  // Only optional members can be named, so the rest is still a T.
  return rest as T;
}

type OptionalName<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? Name : never }[keyof T];
