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
}

/** What is left of an owner's fields once others have changed and removed some of them. */
export function fieldsLeft(fields: FieldSet, { schema, changed, removed }: VersionedChange): FieldSet {
  return reconciled(schema, fields, changed.union(removed)).difference(changed).difference(removed);
}

export interface ComparisonOptions {
  /** Of the writer's version, as are the two objects. */
  readonly schema: ObjectSchema;
  readonly previous: JsonObject;
  readonly next: JsonObject;
  readonly comparison: Comparison;
  readonly writer: { readonly apiVersion: string };
  readonly ignore?: IgnoredFields;
  readonly versions?: Versions;
}

/** Undefined for a version that is not served. */
export function changesByVersion(options: ComparisonOptions): (apiVersion: string) => VersionedChange | undefined {
  const { schema, previous, next, comparison, writer, ignore, versions } = options;
  const known = new Map<string, VersionedChange | undefined>([[writer.apiVersion, changeOf(schema, comparison, ignore)]]);
  return (apiVersion) => {
    if (known.has(apiVersion)) return known.get(apiVersion);
    const other = versions?.schemaFor(apiVersion);
    const change =
      other === undefined || versions === undefined
        ? undefined
        : changeOf(other, compareObjects(other, versions.convert(previous, apiVersion), versions.convert(next, apiVersion)), ignore);
    known.set(apiVersion, change);
    return change;
  };
}

function changeOf(schema: ObjectSchema, { added, modified, removed }: Comparison, ignore: IgnoredFields | undefined): VersionedChange {
  return { schema, changed: withoutIgnored(modified.union(added), ignore), removed: withoutIgnored(removed, ignore) };
}
