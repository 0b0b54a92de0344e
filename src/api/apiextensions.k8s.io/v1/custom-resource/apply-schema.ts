/**
 * The schema of a version in the form that server-side apply, field ownership and encoders interpret. Values are not decoded by it
 * (decode.ts). Scalars that can have several types are free-form, as upstream deduces them.
 */
import type { GroupVersionKind } from "../../../machinery/object.ts";
import type { Field, ListSchema, ObjectSchema, ScalarSchema, Schema } from "../../../machinery/schema.ts";
import { schemaOf } from "../../../schemas.ts";
import { additionalPropertiesOf, itemsOf, type JsonSchema, propertiesOf } from "../schema/json-schema.ts";
import { RESOURCE_MEMBERS } from "../schema/prune.ts";

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const ANY: Schema = { type: "any", format: "json" };
const STRING: ScalarSchema = { type: "string" };
const SCALARS: ReadonlyMap<string, ScalarSchema> = new Map<string, ScalarSchema>([
  ["string", STRING],
  ["boolean", { type: "boolean" }],
  ["integer", { type: "integer" }],
  ["number", { type: "number" }],
]);
/** Any scalar. */
const INT_OR_STRING: ScalarSchema = { type: "string", format: "int-or-string" };

export interface RootSchema {
  readonly name: string;
  readonly kind: GroupVersionKind;
  /** Undefined, or unknown fields are preserved: everything that the schema does not describe is deduced. */
  readonly schema: JsonSchema | undefined;
  readonly preservesUnknown: boolean;
}

export function applySchemaOf({ name, kind, schema, preservesUnknown }: RootSchema): ObjectSchema {
  const described = schema === undefined ? [] : propertiesOf(schema).filter(([property]) => !RESOURCE_MEMBERS.has(property));
  const fields = [...resourceFields(), ...described.map(([property, inner]) => fieldOf(property, inner))];
  const keepsOthers = schema === undefined || preservesUnknown || schema["x-kubernetes-preserve-unknown-fields"] === true;
  return {
    type: "object",
    name,
    fields: new Map(fields.map((field) => [field.name, field])),
    required: [],
    ...(keepsOthers ? { preserveUnknownFields: true as const } : {}),
    groupVersionKinds: [kind],
  };
}

function resourceFields(): readonly Field[] {
  return [
    { name: "apiVersion", schema: STRING, zero: "keep" },
    { name: "kind", schema: STRING, zero: "keep" },
    { name: "metadata", schema: schemaOf(OBJECT_META), zero: "keep" },
  ];
}

function fieldOf(name: string, schema: JsonSchema): Field {
  return { name, schema: convert(schema), zero: "keep", ...(schema.default === undefined ? {} : { default: schema.default }) };
}

function convert(schema: JsonSchema): Schema {
  if (schema["x-kubernetes-int-or-string"] === true) return INT_OR_STRING;
  switch (schema.type) {
    case "object":
      return objectSchema(schema);
    case "array":
      return listSchema(schema);
    default:
      return SCALARS.get(schema.type ?? "") ?? (schema["x-kubernetes-preserve-unknown-fields"] === true ? objectSchema(schema) : ANY);
  }
}

function objectSchema(schema: JsonSchema): Schema {
  const atomic = schema["x-kubernetes-map-type"] === "atomic" ? { atomic: true as const } : {};
  const properties = propertiesOf(schema);
  const others = additionalPropertiesOf(schema);
  if (properties.length === 0 && others?.schema !== undefined) return { type: "map", values: convert(others.schema), ...atomic };
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const described = properties.filter(([name]) => !isResource || !RESOURCE_MEMBERS.has(name));
  const fields = [...(isResource ? resourceFields() : []), ...described.map(([name, inner]) => fieldOf(name, inner))];
  const keepsOthers = schema["x-kubernetes-preserve-unknown-fields"] === true || others?.allowed === true;
  if (fields.length === 0 && keepsOthers) return atomic.atomic === true ? { type: "map", values: ANY, ...atomic } : ANY;
  return {
    type: "object",
    fields: new Map(fields.map((field) => [field.name, field])),
    required: [],
    ...(keepsOthers ? { preserveUnknownFields: true as const } : {}),
    ...atomic,
  };
}

function listSchema(schema: JsonSchema): ListSchema {
  const items = itemsOf(schema);
  const listType = schema["x-kubernetes-list-type"];
  const mapKeys = schema["x-kubernetes-list-map-keys"];
  return {
    type: "list",
    items: items === undefined ? ANY : convert(items),
    listType: listType === "set" || listType === "map" ? listType : "atomic",
    ...(listType === "map" && mapKeys !== undefined ? { mapKeys } : {}),
  };
}
