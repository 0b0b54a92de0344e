/** Declarations of structural schemas: types, fields by their escaped names, and the sizes that cost estimates need. */
import { REQUEST_SIZE_MAX, type CelSchema } from "../contract.ts";
import {
  DATE_SIZE,
  declared,
  declareList,
  declareMap,
  declareObject,
  declareSimple,
  MIN_DURATION_SIZE,
  MIN_STRING_SIZE,
  type Declaration,
} from "../types/declaration.ts";
import { BYTES, DURATION, DYN, STRING, TIMESTAMP } from "../types/type.ts";
import { escapeName } from "./escaping.ts";

/** Sizes in characters of JSON, quotation marks included. */
const DURATION_SIZE_MAX = 32;
const DATE_TIME_SIZE_MAX = 32;
const DATE_TIME_SIZE_MIN = 21;
const QUOTES = 2;
/** A character may be escaped to several bytes, which upstream counts as four. */
const BYTES_PER_CHARACTER = 4;
/** Quotation marks, colon and comma of a property. */
const PROPERTY_SIZE = 4;
const MAP_ENTRY_SIZE = 6;
const OBJECT_SIZE = 2;

export interface DeclareSchemaOptions {
  /** Name of the type of the root object; those of nested objects are derived from it. */
  readonly name: string;
  /** The root is a resource: apiVersion, kind and metadata.name are declared too. */
  readonly isResourceRoot?: boolean;
}

/** undefined: the schema has no type that CEL knows, so values of it cannot be used. */
export function declareSchema(schema: CelSchema, { name, isResourceRoot = false }: DeclareSchemaOptions): Declaration | undefined {
  return declare(schema, name, isResourceRoot);
}

function declare(schema: CelSchema, name: string, isResourceRoot: boolean): Declaration | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    return declareSimple(DYN, 1, schema.maxLength === undefined ? REQUEST_SIZE_MAX - QUOTES : charactersMax(schema.maxLength));
  }
  const full = isResourceRoot ? withTypeAndObjectMeta(schema) : schema;
  switch (full.type) {
    case "array":
      return declareArray(full, name);
    case "object":
      return typeof full.additionalProperties === "object" ? declareProperties(full, name) : declareFields(full, name);
    case "string":
      return declareString(full);
    case "boolean":
      return declared.bool;
    case "number":
      return declared.double;
    case "integer":
      return declared.int;
    default:
      return undefined;
  }
}

function declareArray({ items, maxItems }: CelSchema, name: string): Declaration | undefined {
  const element = items === undefined ? undefined : declare(items, `${name}.@idx`, items["x-kubernetes-embedded-resource"] === true);
  if (element === undefined) return undefined;
  return declareList(element, maxItems === undefined ? elementsMax(element.minSerializedSize + 1) : Math.max(0, maxItems));
}

function declareProperties({ additionalProperties, maxProperties }: CelSchema, name: string): Declaration | undefined {
  const properties = additionalProperties as CelSchema;
  const value = declare(properties, `${name}.@elem`, properties["x-kubernetes-embedded-resource"] === true);
  if (value === undefined) return undefined;
  const estimated = elementsMax(value.minSerializedSize + MAP_ENTRY_SIZE);
  return declareMap(declared.string, value, maxProperties === undefined ? estimated : Math.max(0, maxProperties));
}

function elementsMax(elementSize: number): number {
  return Math.floor((REQUEST_SIZE_MAX - QUOTES) / elementSize);
}

function declareFields({ properties = {}, required = [] }: CelSchema, name: string): Declaration {
  const isRequired = new Set(required);
  const fields = new Map<string, Declaration>();
  let minSize = OBJECT_SIZE;
  for (const [property, schema] of Object.entries(properties)) {
    const escaped = escapeName(property);
    const field = declare(schema, `${name}.${escaped ?? property}`, schema["x-kubernetes-embedded-resource"] === true);
    if (field === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, field);
    const isPresent = isRequired.has(property) && (schema.default === undefined || schema.default === null);
    if (isPresent) minSize += new TextEncoder().encode(property).length + field.minSerializedSize + PROPERTY_SIZE;
  }
  return declareObject(name, () => fields, minSize);
}

function declareString({ format, maxLength, enum: values = [] }: CelSchema): Declaration {
  const unbounded = REQUEST_SIZE_MAX - QUOTES;
  switch (format) {
    case "byte":
      return declareSimple(BYTES, MIN_STRING_SIZE, maxLength === undefined ? unbounded : Math.max(0, maxLength));
    case "duration":
      return declareSimple(DURATION, MIN_DURATION_SIZE, DURATION_SIZE_MAX);
    case "date":
      return declareSimple(TIMESTAMP, DATE_SIZE, DATE_SIZE);
    case "date-time":
      return declareSimple(TIMESTAMP, DATE_TIME_SIZE_MIN, DATE_TIME_SIZE_MAX);
    default: {
      const longest = values.reduce<number>((max, value) => (typeof value === "string" ? Math.max(max, byteLength(value)) : max), 0);
      const estimated = values.length > 0 ? longest : unbounded;
      return declareSimple(STRING, MIN_STRING_SIZE, maxLength === undefined ? estimated : charactersMax(maxLength));
    }
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function charactersMax(maxLength: number): number {
  return Math.max(0, maxLength) * BYTES_PER_CHARACTER;
}

const TEXT: CelSchema = { type: "string" };

/** Expressions of a resource see its kind, and name and generateName of its metadata, whatever the schema declares. */
export function withTypeAndObjectMeta(schema: CelSchema): CelSchema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const names = metadata?.properties ?? {};
  const isComplete =
    [kind, apiVersion, names["name"], names["generateName"]].every((property) => property?.type === "string") &&
    metadata?.type === "object";
  if (isComplete) return schema;
  const metadataSchema: CelSchema = { type: "object", properties: { name: TEXT, generateName: TEXT } };
  return { ...schema, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata: metadataSchema } };
}
