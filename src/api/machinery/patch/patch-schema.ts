/**
 * Schema lookups of strategic merge: the type of a member, and the patch strategy of its field. Needed only where the object and the patch
 * both have an object or a list, so new unknown fields pass and are left to the decoder. The errors are upstream's, which name Go types.
 */
import type { Field, Schema } from "../schema.ts";
import { cannotMerge } from "./patch-error.ts";

/** Merge strategy of the items of a list. */
export interface ListRule {
  readonly items: Schema;
  readonly isMerged: boolean;
  /** The merge key. Absent for lists of scalars. */
  readonly mergeKey: string | undefined;
}

/** Merge strategy of an object in the member `name`. */
export function objectRule(schema: Schema, name: string): { readonly schema: Schema; readonly isReplaced: boolean } {
  const field = fieldOf(schema, name);
  return { schema: field.schema, isReplaced: field.patchStrategy?.includes("replace") ?? false };
}

/** Merge strategy of a list in the member `name`. */
export function listRule(schema: Schema, name: string): ListRule {
  const field = fieldOf(schema, name);
  const isMerged = field.patchStrategy?.includes("merge") ?? false;
  return { items: itemsOf(field, schema), isMerged, mergeKey: field.patchMergeKey };
}

function fieldOf(schema: Schema, name: string): Field {
  const field = schema.type === "object" ? schema.fields.get(name) : undefined;
  if (field !== undefined) return field;
  if (schema.type === "object" || schema.type === "any") {
    throw cannotMerge(`unable to find api field in struct ${structName(schema)} for the json field ${JSON.stringify(name)}`);
  }
  throw cannotMerge(`merging an object in json but data type is not struct, instead is: ${goKind(schema)}`);
}

function itemsOf({ schema }: Field, parent: Schema): Schema {
  if (schema.type === "any") return schema;
  if (schema.type !== "list") throw cannotMerge(`expected slice or array type, but got: ${goKind(parent)}`);
  if (schema.items.type === "list") throw cannotMerge("unexpected slice of slice");
  return schema.items;
}

const ANY_STRUCTS = { "raw-extension": "RawExtension", "fields-v1": "FieldsV1", json: "JSON" } as const;

/** "io.k8s.api.core.v1.PodSpec" → "PodSpec". */
function structName(schema: Extract<Schema, { type: "object" | "any" }>): string {
  if (schema.type === "any" && schema.format !== "choice") return ANY_STRUCTS[schema.format];
  const { name } = schema.type === "any" ? schema.message : schema;
  return name?.split(".").at(-1) ?? "";
}

/** The kind of upstream's Go type for this schema. */
export function goKind(schema: Schema): string {
  switch (schema.type) {
    case "object":
    case "any":
      return "struct";
    case "list":
      return "slice";
    case "integer":
      return schema.format === "int32" ? "int32" : "int64";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    default:
      return schema.type;
  }
}
