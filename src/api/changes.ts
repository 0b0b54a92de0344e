/**
 * Copy-on-write changes in which unchanged parts keep their identity: the API server skips comparing, validating and writing them. Defaults
 * run twice on every write, the second time over an object that has them all, so the case without a change must be cheap.
 */
import type { KubeObject } from "./machinery/object.ts";

/**
 * Returns the value with the members of `patch` that differ; itself if none does. Members of the patch that are undefined are ignored. For
 * objects with fields, not for maps with untrusted keys: `Object.assign` would set the prototype for a key "__proto__". It is used because
 * V8 takes microseconds to add a member to a spread copy (Node 20), and a fraction of one this way.
 */
export function withChanges<T extends object>(value: T, patch: { readonly [Name in keyof T]?: T[Name] | undefined }): T {
  let changes: Partial<T> | undefined;
  for (const name in patch) {
    const next = patch[name];
    if (next === undefined || next === value[name]) continue;
    changes ??= {};
    changes[name] = next;
  }
  return changes === undefined ? value : Object.assign({}, value, changes);
}

/**
 * A copy with other metadata. Assigned, since a member after a spread in a literal takes V8 twice as long for objects of many shapes (Node
 * 20); not `Object.assign`, since an object of a custom resource may have a member "__proto__".
 */
export function replaceMetadata<T extends KubeObject>(object: T, metadata: T["metadata"]): T {
  const copy: { metadata: T["metadata"] } & T = { ...object };
  copy.metadata = metadata;
  return copy;
}

/** Like `withChanges`, for a member that may be absent. */
export function changed<T>(value: T | undefined, change: (value: T) => T): T | undefined {
  return value === undefined ? undefined : change(value);
}

/** Maps every item; returns the same list if no item changed. */
export function changedItems<T>(list: readonly T[] | undefined, change: (item: T) => T): readonly T[] | undefined {
  if (list === undefined) return undefined;
  let copy: T[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as T;
    const next = change(item);
    if (next === item) continue;
    copy ??= [...list];
    copy[index] = next;
  }
  return copy ?? list;
}

/** Returns the value with the named members of `source`, absent where they are absent there. */
export function withMembersOf<T extends object>(value: T, source: T, ...names: readonly (keyof T)[]): T {
  if (names.every((name) => value[name] === source[name])) return value;
  const members: Partial<T> = {};
  for (const name of names) members[name] = source[name];
  const copy: T = Object.assign({}, value, members);
  for (const name of names) if (copy[name] === undefined) delete copy[name];
  return copy;
}

/** Members of metadata that a write of one part of an object (its status) keeps unchanged; the server keeps the others anyway. */
const KEPT_METADATA = ["deletionTimestamp", "generation", "labels", "annotations", "finalizers", "ownerReferences"] as const;

export function withMetadataOf<T extends KubeObject>(next: T, previous: T): T {
  return withChanges<KubeObject>(next, { metadata: withMembersOf(next.metadata, previous.metadata, ...KEPT_METADATA) }) as T;
}
