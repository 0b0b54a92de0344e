/**
 * Removes the fields that an applier owned, no longer lists, and no other manager owns. As upstream in three steps: everything that was
 * owned is removed; what any manager owns now is restored, in every version of the owners; and so is what was removed along but never
 * owned.
 */
import type { JsonObject } from "../object.ts";
import type { ObjectSchema } from "../schema.ts";
import { fieldsOf } from "./fields-of.ts";
import { FieldSet } from "./field-set.ts";
import type { Owner } from "./owner.ts";
import { removeFields, withNamedFields } from "./remove.ts";
import { blankObject } from "./shape.ts";

/** An object in one version. */
interface Versioned {
  readonly apiVersion: string;
  readonly object: JsonObject;
}

/** Converts an object to another version; undefined if it is not served. */
export interface Converter {
  schemaFor(apiVersion: string): ObjectSchema | undefined;
  convert(object: JsonObject, toApiVersion: string): JsonObject;
}

export interface PruneOptions {
  /** Live and applied merged, in the version of `applier`. */
  readonly merged: JsonObject;
  /** All owners after the apply, with the fields that the applier lists now. */
  readonly owners: readonly Owner[];
  readonly applier: Owner;
  /** The previous fields of the applier. */
  readonly last: Owner | undefined;
  readonly converter: Converter;
}

export function prune({ merged, owners, applier, last, converter }: PruneOptions): JsonObject {
  if (last === undefined || isStillWanted(last, applier)) return merged;
  const schema = converter.schemaFor(last.apiVersion);
  if (schema === undefined) return merged;
  const whole: Versioned = {
    apiVersion: last.apiVersion,
    object: to(converter, { apiVersion: applier.apiVersion, object: merged }, last.apiVersion),
  };
  const lastFields = withNamedFields(schema, last.fields);
  const bare: Versioned = { ...whole, object: removeFields(schema, whole.object, lastFields) };
  const owned = to(converter, withOwned(whole, bare, owners, converter), last.apiVersion);
  const lost = allFields(schema, whole.object).difference(allFields(schema, owned)).intersection(lastFields);
  return to(converter, { apiVersion: last.apiVersion, object: removeFields(schema, whole.object, lost) }, applier.apiVersion);
}

/** The usual case: the applier sends what it sent before, or more. */
function isStillWanted(last: Owner, applier: Owner): boolean {
  return last.apiVersion === applier.apiVersion && last.fields.difference(applier.fields).isEmpty;
}

function to(converter: Converter, { apiVersion, object }: Versioned, toApiVersion: string): JsonObject {
  if (apiVersion === toApiVersion) return object;
  const schema = converter.schemaFor(apiVersion);
  // Conversions rely on fields that every object of the type has, which may just have been removed.
  return converter.convert(schema === undefined ? object : { ...blankObject(schema), ...object }, toApiVersion);
}

/** All fields of an object, with their named parents. */
function allFields(schema: ObjectSchema, object: JsonObject): FieldSet {
  return withNamedFields(schema, fieldsOf(schema, object));
}

/** `bare` with everything of `whole` that is owned. The version of `bare` first, since a conversion may need what is owned in it. */
function withOwned(whole: Versioned, bare: Versioned, owners: readonly Owner[], converter: Converter): Versioned {
  const owned = new Map<string, FieldSet[]>([[bare.apiVersion, []]]);
  for (const { apiVersion, fields } of owners) {
    const ofVersion = owned.get(apiVersion);
    if (ofVersion === undefined) owned.set(apiVersion, [fields]);
    else ofVersion.push(fields);
  }
  let pruned = bare;
  for (const [apiVersion, sets] of owned) {
    const schema = converter.schemaFor(apiVersion);
    const fields = FieldSet.unionOf(sets);
    if (schema === undefined || fields.isEmpty) continue;
    const everything = to(converter, whole, apiVersion);
    const kept = allFields(schema, to(converter, pruned, apiVersion)).union(withNamedFields(schema, fields));
    pruned = { apiVersion, object: removeFields(schema, everything, allFields(schema, everything).difference(kept)) };
  }
  return pruned;
}
