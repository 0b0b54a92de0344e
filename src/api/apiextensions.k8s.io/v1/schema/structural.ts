/**
 * Rules of structural schemas, with upstream's messages: every field and item has a type, so that unknown fields can be pruned and defaults
 * applied, and allOf, anyOf, oneOf and not only restrict values. Not here: unsupported parts of OpenAPI
 * (../custom-resource-definition/validate-schema.ts).
 */
import { deepEqual } from "../../../../base/deep.ts";
import { firstCauses } from "../../../machinery/validation-errors.ts";
import { child, describeFieldError, element, forbidden, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { tooCostly } from "./budget.ts";
import type { Patterns } from "./expression/match.ts";
import { additionalPropertiesOf, itemsOf, type JsonSchema, otherPropertiesOf, placesOf, propertiesOf, propertyOf } from "./json-schema.ts";

/** Position of a schema, which determines the message for a missing type. */
const MISSING_TYPE = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
} as const;

type Level = keyof typeof MISSING_TYPE;

/**
 * The first non-structural part. The other rules require a schema without. `known`: cached results, for callers that check a schema and
 * schemas below it.
 */
export function unstructurable(schema: JsonSchema | undefined, known?: Map<JsonSchema, string | undefined>): string | undefined {
  if (schema === undefined || known?.has(schema) === true) return schema && known?.get(schema);
  const problem = unstructurableIn(schema, known);
  known?.set(schema, problem);
  return problem;
}

function unstructurableIn(schema: JsonSchema, known: Map<JsonSchema, string | undefined> | undefined): string | undefined {
  const parts = [schema.not, ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const inner = [itemsOf(schema), ...propertiesOf(schema).map(([, property]) => property), otherPropertiesOf(schema)];
  return (
    unsupportedMember(schema) ??
    firstOf(parts, known) ??
    (schema["x-kubernetes-preserve-unknown-fields"] === false
      ? "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
      : undefined) ??
    (placesOf(schema).length > 0 ? "OpenAPIV3Schema 'items' must be a schema, but is an array" : undefined) ??
    firstOf(inner, known)
  );
}

function firstOf(schemas: readonly (JsonSchema | undefined)[], known?: Map<JsonSchema, string | undefined>): string | undefined {
  for (const schema of schemas) {
    const problem = unstructurable(schema, known);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const UNSUPPORTED: readonly (readonly [keyof JsonSchema, string])[] = [
  ["id", "id"],
  ["$schema", "schema"],
  ["$ref", "$ref"],
  ["patternProperties", "patternProperties"],
  ["dependencies", "dependencies"],
  ["additionalItems", "additionalItems"],
  ["definitions", "definitions"],
];

function unsupportedMember(schema: JsonSchema): string | undefined {
  const found = UNSUPPORTED.find(([member]) => schema[member] !== undefined && schema[member] !== "");
  return found && `OpenAPIV3Schema '${found[1]}' is not supported`;
}

/** Sorted, because properties have no order. */
export function validateStructural(schema: JsonSchema, at: string, patterns: Patterns): readonly FieldError[] {
  const errors = firstCauses(validateShape(schema, "root", at, patterns), validateCompleteness(schema, schema, at, at));
  const texts = new Map(errors.map((error) => [error, describeFieldError(error)]));
  return errors.toSorted((a, b) => ((texts.get(a) ?? "") < (texts.get(b) ?? "") ? -1 : 1));
}

function* validateShape(schema: JsonSchema, level: Level, at: string, patterns: Patterns): Iterable<FieldError> {
  const items = itemsOf(schema);
  if (schema.type === "array" && items === undefined) yield required(child(at, "items"), "must be specified");
  if (items !== undefined) yield* validateShape(items, "item", child(at, "items"), patterns);
  for (const [name, property] of propertiesOf(schema)) yield* validateShape(property, "field", propertyAt(at, name), patterns);
  const additional = additionalPropertiesOf(schema);
  if (additional !== undefined && level === "root") yield forbidden(child(at, "additionalProperties"), "must not be used at the root");
  if (additional?.schema !== undefined) yield* validateShape(additional.schema, "field", child(at, "additionalProperties"), patterns);
  yield* validateExtensions(schema, at);
  yield* validateParts(schema, isIntOrString(schema.anyOf), at, patterns);
  yield* validateType(schema, level, at);
  yield* validateResource(schema, level, at);
}

function* validateExtensions(schema: JsonSchema, at: string): Iterable<FieldError> {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  for (const extension of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (schema[extension] === true) yield invalid(child(at, extension), true, "must be false if x-kubernetes-int-or-string is true");
  }
}

function* validateType(schema: JsonSchema, level: Level, at: string): Iterable<FieldError> {
  const { type = "" } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const needsNoType = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const embedded = "must be object if x-kubernetes-embedded-resource is true";
  if (isEmbedded && type !== "object")
    yield type === "" ? required(child(at, "type"), embedded) : invalid(child(at, "type"), type, embedded);
  else if (type === "" && !needsNoType) yield required(child(at, "type"), MISSING_TYPE[level]);
  if (isEmbedded && additionalPropertiesOf(schema) !== undefined) {
    yield forbidden(child(at, "additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set");
  }
  if (level === "root" && type !== "" && type !== "object") yield invalid(child(at, "type"), type, "must be object at the root");
}

/** Members of a whole object and of an embedded one: kind, apiVersion and metadata. */
function* validateResource(schema: JsonSchema, level: Level, at: string): Iterable<FieldError> {
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const isResource = level === "root" || isEmbedded;
  for (const name of ["kind", "apiVersion"]) {
    const property = isResource ? propertyOf(schema, name) : undefined;
    if (property !== undefined && property.type !== "string") {
      yield invalid(child(propertyAt(at, name), "type"), property.type ?? "", "must be string");
    }
  }
  const metadata = propertyOf(schema, "metadata");
  if (metadata !== undefined) {
    const metadataAt = propertyAt(at, "metadata");
    if (isResource && metadata.type !== "object") yield invalid(child(metadataAt, "type"), metadata.type ?? "", "must be object");
    if (level === "root" && saysMoreThanName(metadata)) {
      yield forbidden(metadataAt, "must not specify anything other than name and generateName, but metadata is implicitly specified");
    }
  }
  if (isEmbedded && schema["x-kubernetes-preserve-unknown-fields"] !== true && propertiesOf(schema).length === 0) {
    yield required(
      child(at, "properties"),
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
    );
  }
}

/** A default is rejected elsewhere. */
function saysMoreThanName(metadata: JsonSchema): boolean {
  const others = Object.keys(metadata).filter((member) => !["type", "default", "properties"].includes(member));
  return others.length > 0 || Object.keys(metadata.properties ?? {}).some((name) => name !== "name" && name !== "generateName");
}

/** allOf, anyOf, oneOf, not and pattern. The int-or-string form may have types in anyOf. */
function* validateParts(schema: JsonSchema, skipsAnyOf: boolean, at: string, patterns: Patterns): Iterable<FieldError> {
  const { allOf = [], anyOf = [], oneOf = [], not, pattern = "" } = schema;
  const validate = (part: JsonSchema, partAt: string, skips = false) => validatePart(part, skips, partAt, patterns);
  if (!skipsAnyOf) for (const [index, part] of anyOf.entries()) yield* validate(part, element(child(at, "anyOf"), index));
  for (const [index, part] of allOf.entries()) {
    yield* validate(part, element(child(at, "allOf"), index), index === 0 && isIntOrString(part.anyOf));
  }
  for (const [index, part] of oneOf.entries()) yield* validate(part, element(child(at, "oneOf"), index));
  if (not !== undefined) yield* validate(not, child(at, "not"));
  if (pattern !== "") yield* validatePattern(pattern, child(at, "pattern"), patterns);
}

/** One that costs too much is reported, and no other pattern is validated. */
function* validatePattern(pattern: string, at: string, patterns: Patterns): Iterable<FieldError> {
  if (patterns.budget.isSpent) return;
  try {
    const problem = patterns.problemOf(pattern);
    if (problem !== undefined) yield invalid(at, pattern, `must be a valid regular expression, but isn't: ${problem}`);
  } catch (error) {
    yield tooCostly(at, error);
  }
}

function isIntOrString(anyOf: readonly JsonSchema[] | undefined): boolean {
  return deepEqual(anyOf, [{ type: "integer" }, { type: "string" }]);
}

const NOT_IN_PARTS: readonly (readonly [keyof JsonSchema, string])[] = [
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

/** A schema within allOf and the like only restricts values. */
function* validatePart(part: JsonSchema, skipsAnyOf: boolean, at: string, patterns: Patterns): Iterable<FieldError> {
  yield* validateParts(part, skipsAnyOf, at, patterns);
  const items = itemsOf(part);
  if (items !== undefined) yield* validatePart(items, false, child(at, "items"), patterns);
  for (const [name, property] of propertiesOf(part)) yield* validatePart(property, false, propertyAt(at, name), patterns);
  if (part.type !== undefined) yield forbidden(child(at, "type"), "must be empty to be structural");
  if (additionalPropertiesOf(part)?.allowed === true) {
    yield forbidden(child(at, "additionalProperties"), "must be undefined to be structural");
  }
  for (const [member, words] of NOT_IN_PARTS) if (part[member] !== undefined) yield forbidden(child(at, member), words);
  if (propertyOf(part, "metadata") !== undefined) yield forbidden(propertyAt(at, "metadata"), "must not be specified in a nested context");
}

/** Properties and items in `part` must also be in `schema`. */
function* validateCompleteness(part: JsonSchema, schema: JsonSchema, at: string, partAt: string): Iterable<FieldError> {
  const { allOf = [], anyOf = [], oneOf = [], not } = part;
  if (not !== undefined) yield* validatePartCompleteness(not, schema, at, child(partAt, "not"));
  for (const [name, parts] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [index, inner] of parts.entries()) yield* validatePartCompleteness(inner, schema, at, element(child(partAt, name), index));
  }
}

function* validatePartCompleteness(part: JsonSchema, schema: JsonSchema, at: string, partAt: string): Iterable<FieldError> {
  yield* validateCompleteness(part, schema, at, partAt);
  const items = itemsOf(part);
  if (items !== undefined) yield* validateDefined(items, itemsOf(schema), child(at, "items"), child(partAt, "items"));
  for (const [name, property] of propertiesOf(part)) {
    yield* validateDefined(property, propertyOf(schema, name), propertyAt(at, name), propertyAt(partAt, name));
  }
}

function validateDefined(part: JsonSchema, schema: JsonSchema | undefined, at: string, partAt: string): Iterable<FieldError> {
  if (schema === undefined) return [required(at, `because it is defined in ${partAt}`)];
  return validatePartCompleteness(part, schema, at, partAt);
}

function propertyAt(at: string, name: string): string {
  return element(child(at, "properties"), name);
}
