/**
 * Owners refer to fields in the version in which they wrote. The changes of a write are therefore computed once per version among the
 * owners; owners in a version that is no longer served are dropped, as upstream does.
 */
import type { JsonObject } from "../object.ts";
import type { ObjectSchema } from "../schema.ts";
import { compareObjects, type Comparison } from "./compare.ts";
import type { FieldSet } from "./field-set.ts";
import { withoutIgnored, type IgnoredFields } from "./ignored-fields.ts";
import { reconciled } from "./remove.ts";

/** Reads a kind that is served in several versions. */
export interface Versions {
  /** Undefined: the kind is not served in that version. */
  schemaFor(apiVersion: string): ObjectSchema | undefined;
  /** Converts the object from any version. Called only for versions with a schema. */
  convert(object: JsonObject, toApiVersion: string): JsonObject;
}

/** The changes of a write, in one version. */
export interface VersionedChange {
  readonly schema: ObjectSchema;
  /** Modified or added. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
  /** Both together: computed once, not once per owner. */
  readonly touched: FieldSet;
}

/** The rest of an owner's fields after another manager's write changed and removed some. */
export function fieldsLeft(fields: FieldSet, { schema, changed, removed, touched }: VersionedChange): FieldSet {
  return reconciled(schema, fields, touched).difference(changed).difference(removed);
}

/** The fields of the writer itself after it has taken what it changed. If it owned all of that before, the set stays the same. */
export function fieldsWith(fields: FieldSet, { schema, changed, removed, touched }: VersionedChange, taken: FieldSet): FieldSet {
  const known = reconciled(schema, fields, touched).difference(removed);
  // Removing first what is taken anyway would build the same set again.
  return (taken === changed ? known : known.difference(changed)).union(taken);
}

export interface VersionOptions {
  /** Of the writer's version. */
  readonly schema: ObjectSchema;
  readonly writer: { readonly apiVersion: string };
  readonly ignore?: IgnoredFields;
  readonly versions?: Versions;
}

/** Two objects in the writer's version, and their differences. */
export interface Difference {
  readonly previous: JsonObject;
  readonly next: JsonObject;
  readonly comparison: Comparison;
}

/** Undefined for a version that is not served. */
export function changesByVersion(options: VersionOptions, difference: Difference): (apiVersion: string) => VersionedChange | undefined {
  const { writer, schema, ignore } = options;
  const own = changeOf(schema, difference.comparison, ignore);
  let others: Map<string, VersionedChange | undefined> | undefined;
  return (apiVersion) => {
    if (apiVersion === writer.apiVersion) return own;
    others ??= new Map();
    if (!others.has(apiVersion)) others.set(apiVersion, changeInVersion(apiVersion, options, difference));
    return others.get(apiVersion);
  };
}

function changeInVersion(
  apiVersion: string,
  { versions, ignore }: VersionOptions,
  { previous, next }: Difference,
): VersionedChange | undefined {
  const schema = versions?.schemaFor(apiVersion);
  if (schema === undefined || versions === undefined) return undefined;
  const comparison = compareObjects(schema, versions.convert(previous, apiVersion), versions.convert(next, apiVersion));
  return changeOf(schema, comparison, ignore);
}

function changeOf(schema: ObjectSchema, comparison: Comparison, ignore: IgnoredFields | undefined): VersionedChange {
  const changed = withoutIgnored(comparison.modified.union(comparison.added), ignore);
  const removed = withoutIgnored(comparison.removed, ignore);
  return { schema, changed, removed, touched: changed.union(removed) };
}
