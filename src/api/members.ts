/**
 * Objects with members left out: what conversions between versions and write rules build. Beside changes.ts, which sets members.
 */

/** The members that are not undefined, as one writes them in a literal. A member that is null stays: some absent values are written so. */
export function defined<T extends object>(members: { readonly [Name in keyof T]: T[Name] | undefined }): T {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const value: unknown = members[name as keyof T];
    if (value === undefined) continue;
    // So that a member called `__proto__` is one.
    if (name === "__proto__") Object.defineProperty(result, name, { value, writable: true, enumerable: true, configurable: true });
    else result[name] = value;
  }
  return result as T;
}

/**
 * How upstream shows the few lists that are absent and always written: `rules: null`. No type of ours has it, so whoever reads such a
 * member says `?? []`, which takes both, and not a default in a pattern, which does not.
 */
export const absentList: never = null as never;

/** Of those lists, one that is empty is shown as one that is absent. */
export function listOrAbsent<Item>(list: readonly Item[] | undefined): readonly Item[] {
  return list === undefined || list === null || list.length === 0 ? absentList : list;
}

/** The members in the order of their names: how upstream's messages show maps. */
export function sortedMembers<Value>(map: Readonly<Record<string, Value>> | undefined): Readonly<Record<string, Value>> | undefined {
  return map && Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The object without one member that may be missing; itself if it has none of that name. */
export function without<T extends object, Name extends OptionalName<T>>(object: T, name: Name): T {
  if (!Object.hasOwn(object, name)) return object;
  const { [name]: _, ...rest } = object;
  // Only a member that the type lets be missing can be named, so what is left is still a T.
  return rest as T;
}

type OptionalName<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? Name : never }[keyof T];
