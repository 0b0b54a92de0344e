/**
 * Owners speak of fields in the version in which they wrote. What a write changed is therefore compared once per version that occurs
 * among the owners; owners in a version that is served no more are dropped, as upstream does.
 */
import type { JsonObject } from "../object.ts";
import type { ObjectSchema } from "../schema.ts";
import { compareObjects, type Comparison } from "./compare.ts";
import type { FieldSet } from "./field-set.ts";
import { withoutIgnored, type IgnoredFields } from "./ignored-fields.ts";
import { reconciled } from "./remove.ts";

/** How a kind that is served in several versions is read in another one. */
export interface Versions {
  /** Undefined: the kind is not served in that version. */
  schemaFor(apiVersion: string): ObjectSchema | undefined;
  /** The object, whatever version it is in, in another one. Called only for versions with a schema. */
  convert(object: JsonObject, toApiVersion: string): JsonObject;
}

/** What a write changed, as one version shows it. */
export interface VersionedChange {
  readonly schema: ObjectSchema;
  /** Modified or added. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
  /** Both together: made once, not once per owner. */
  readonly touched: FieldSet;
}

/** What is left of an owner's fields once others have changed and removed some of them. */
export function fieldsLeft(fields: FieldSet, { schema, changed, removed, touched }: VersionedChange): FieldSet {
  return reconciled(schema, fields, touched).difference(changed).difference(removed);
}

export interface VersionOptions {
  /** Of the writer's version. */
  readonly schema: ObjectSchema;
  readonly writer: { readonly apiVersion: string };
  readonly ignore?: IgnoredFields;
  readonly versions?: Versions;
}

/** Two objects in the writer's version, and how they differ. */
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
