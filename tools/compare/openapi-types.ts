/** Compares fields, their types, required fields, enumerations, defaults and kinds of all types in the snapshots' OpenAPI documents. */
import type { GroupVersionKind } from "../../src/api/machinery/object.ts";
import type { ObjectSchema, Schema } from "../../src/api/machinery/schema.ts";
import { schemas } from "../../src/api/schemas.ts";
import type { Comparison } from "./comparison.ts";
import { SCALAR_NAMES } from "./scalar-names.ts";
import { type OpenApiSchema, readOpenApiSchemas } from "./openapi-snapshot.ts";

export const openApiTypes: Comparison = {
  name: "openapi-types",

  async compare(directory) {
    return [...readOpenApiSchemas(directory)].flatMap(([name, theirs]) => typeDifferences(name, theirs));
  },
};

function typeDifferences(name: string, theirs: OpenApiSchema): string[] {
  const ours = schemas.get(name);
  if (ours === undefined) return [`${name}: we do not have it`];
  if (ours.type !== "object") return theirs.properties === undefined ? [] : [`${name}: we have ${ours.type}, they have fields`];
  return [
    ...differing(`${name}, kinds`, kindsText(ours.groupVersionKinds), kindsText(theirs["x-kubernetes-group-version-kind"])),
    ...differing(`${name}, required`, [...ours.required].sort().join(" "), [...(theirs.required ?? [])].sort().join(" ")),
    ...fieldDifferences(name, ours, theirs.properties ?? {}),
  ];
}

function fieldDifferences(name: string, ours: ObjectSchema, theirs: NonNullable<OpenApiSchema["properties"]>): string[] {
  const fields = new Set([...ours.fields.keys(), ...Object.keys(theirs)]);
  return [...fields].flatMap((key) => {
    const field = ours.fields.get(key);
    const property = theirs[key];
    if (field === undefined) return [`${name}.${key}: we do not have it`];
    if (property === undefined) return [`${name}.${key}: they do not have it`];
    return [
      ...differing(`${name}.${key}, type`, ourType(field.schema), theirType(property)),
      ...differing(`${name}.${key}, enum`, enumText(ourEnum(field.schema)), enumText(theirEnum(property))),
      ...differing(`${name}.${key}, default`, defaultText(field.default), defaultText(property.default)),
    ];
  });
}

function differing(place: string, ours: string, theirs: string): string[] {
  return ours === theirs ? [] : [`${place}: ours ${JSON.stringify(ours)}, theirs ${JSON.stringify(theirs)}`];
}

function ourType(schema: Schema): string {
  const name = schema.type === "object" ? schema.name : SCALAR_NAMES.get(schema);
  if (name !== undefined) return name;
  if (schema.type === "list") return `list of ${ourType(schema.items)}`;
  if (schema.type === "map") return `map of ${ourType(schema.values)}`;
  return "format" in schema ? `${schema.type} ${schema.format}` : schema.type;
}

function theirType(schema: OpenApiSchema): string {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return reference.slice(reference.lastIndexOf("/") + 1);
  if (schema.items !== undefined) return `list of ${theirType(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${theirType(schema.additionalProperties)}`;
  return schema.format === undefined ? (schema.type ?? "any") : `${schema.type} ${schema.format}`;
}

function ourEnum(schema: Schema): readonly string[] | undefined {
  if (schema.type === "list") return ourEnum(schema.items);
  if (schema.type === "map") return ourEnum(schema.values);
  return "enum" in schema ? schema.enum : undefined;
}

function theirEnum(schema: OpenApiSchema): readonly string[] | undefined {
  const inner = schema.items ?? schema.additionalProperties;
  return inner === undefined ? schema.enum : theirEnum(inner);
}

function enumText(values: readonly string[] | undefined): string {
  return values?.toSorted().join(" ") ?? "";
}

/** Zero values are defaults in documents where Go has no pointer: they are derived when a document is generated. */
function defaultText(value: unknown): string {
  const isZero = value === undefined || value === 0 || value === "" || value === false || JSON.stringify(value) === "{}";
  return isZero ? "" : JSON.stringify(value);
}

function kindsText(kinds: readonly GroupVersionKind[] | undefined): string {
  const texts = (kinds ?? []).map(({ group, version, kind }) => `${group}/${version} ${kind}`);
  return [...new Set(texts)].sort().join(", ");
}
