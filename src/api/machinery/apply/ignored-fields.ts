/**
 * Fields that a path of the API does not write, so that no manager gains ownership through it: the status for a write of the object itself,
 * everything but the status for a write of the status.
 */
import { fieldElement } from "./field-path.ts";
import { FieldSet, itemWith } from "./field-set.ts";

/** Matches every key of a map and every item of a list. */
export const ANY_ELEMENT = "*";

export type IgnoredFields =
  /** These fields, by their names from the root, with everything below them: [["status"]]. */
  | readonly (readonly string[])[]
  /** Everything but these fields and what is below them: [["spec", "containers", ANY_ELEMENT, "resources"]]. */
  | { readonly only: readonly (readonly string[])[] };

const excludedSets = new WeakMap<IgnoredFields, FieldSet>();

/** `set` without the ignored fields. */
export function withoutIgnored(set: FieldSet, ignored: IgnoredFields | undefined): FieldSet {
  if (ignored === undefined || set.isEmpty) return set;
  if ("only" in ignored) return onlyMatching(set, ignored.only);
  let excluded = excludedSets.get(ignored);
  if (excluded === undefined) {
    excluded = FieldSet.fromPaths(ignored.map((path) => path.map(fieldElement)));
    excludedSets.set(ignored, excluded);
  }
  return set.recursiveDifference(excluded);
}

/** A path is kept if it begins with one of `paths`, or is a prefix of one. */
function onlyMatching(set: FieldSet, paths: readonly (readonly string[])[]): FieldSet {
  if (paths.some((path) => path.length === 0)) return set;
  return set.mapItems((item) => {
    const matching = paths.filter(([first = ""]) => first === ANY_ELEMENT || fieldElement(first) === item.element);
    if (matching.length === 0) return undefined;
    const rest = matching.map((path) => path.slice(1));
    return itemWith(item, item.member, item.children === undefined ? undefined : onlyMatching(item.children, rest));
  });
}

const rootFieldSets = new WeakMap<IgnoredFields, ReadonlySet<string>>();
const NOTHING_IGNORED: IgnoredFields = [];

/** The root fields that are ignored with everything in them, and `more`; undefined if that does not cover everything. */
export function ignoredRootFields(ignored: IgnoredFields = NOTHING_IGNORED, more: readonly string[]): ReadonlySet<string> | undefined {
  if ("only" in ignored || ignored.some((path) => path.length !== 1)) return undefined;
  let names = rootFieldSets.get(ignored);
  if (names === undefined) rootFieldSets.set(ignored, (names = new Set([...more, ...ignored.flat()])));
  return names;
}
