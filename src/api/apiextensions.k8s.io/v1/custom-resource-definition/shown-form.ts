/** Formats versions and schemas as in upstream's messages: with its type names, and all possible members. */
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from "../../../generated/apiextensions.k8s.io/v1.ts";
import { escapeForPages } from "../../../machinery/codec/stable-json.ts";
import { invalid, type FieldError } from "../../../machinery/field-error.ts";
import type { Json, JsonObject } from "../../../machinery/object.ts";
import { type Additional, additionalItemsOf, additionalPropertiesOf, itemsOf, type JsonSchema, placesOf } from "../schema/json-schema.ts";

/** An error that quotes such a value. */
export function invalidShown(field: string, shown: Json, detail: string): FieldError {
  return { ...invalid(field, "", detail), body: `Invalid value: ${escapeForPages(JSON.stringify(shown))}: ${detail}` };
}

export function shownVersion(version: CustomResourceDefinitionVersion): JsonObject {
  const { name, served, storage, deprecated = false, deprecationWarning = null } = version;
  const { schema, subresources, additionalPrinterColumns, selectableFields } = version;
  return {
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated,
    DeprecationWarning: deprecationWarning,
    Schema: schema === undefined ? null : { OpenAPIV3Schema: orNull(schema.openAPIV3Schema, shownSchema) },
    Subresources: orNull(subresources, shownSubresources),
    AdditionalPrinterColumns: orNull(additionalPrinterColumns, (columns) => columns.map(shownColumn)),
    SelectableFields: orNull(selectableFields, (fields) => fields.map(({ jsonPath }) => ({ JSONPath: jsonPath }))),
  };
}

function orNull<T>(value: T | undefined, show: (value: T) => Json): Json {
  return value === undefined ? null : show(value);
}

function shownSubresources({ status, scale }: CustomResourceSubresources): JsonObject {
  return {
    Status: status === undefined ? null : {},
    Scale: orNull(scale, ({ specReplicasPath, statusReplicasPath, labelSelectorPath = null }) => ({
      SpecReplicasPath: specReplicasPath,
      StatusReplicasPath: statusReplicasPath,
      LabelSelectorPath: labelSelectorPath,
    })),
  };
}

function shownColumn(column: CustomResourceColumnDefinition): JsonObject {
  const { name, type, format = "", description = "", priority = 0, jsonPath } = column;
  return { Name: name, Type: type, Format: format, Description: description, Priority: priority, JSONPath: jsonPath };
}

export function shownSchema(schema: JsonSchema): JsonObject {
  return {
    ID: schema.id ?? "",
    Schema: schema.$schema ?? "",
    Ref: schema.$ref ?? null,
    Description: schema.description ?? "",
    Type: schema.type ?? "",
    Nullable: schema.nullable ?? false,
    Format: schema.format ?? "",
    Title: schema.title ?? "",
    Default: schema.default ?? null,
    ...shownLimits(schema),
    Enum: schema.enum ?? null,
    MaxProperties: schema.maxProperties ?? null,
    MinProperties: schema.minProperties ?? null,
    Required: schema.required ?? null,
    Items: schema.items === undefined ? null : shownItems(schema),
    AllOf: orNull(schema.allOf, shownSchemas),
    OneOf: orNull(schema.oneOf, shownSchemas),
    AnyOf: orNull(schema.anyOf, shownSchemas),
    Not: orNull(schema.not, shownSchema),
    Properties: orNull(schema.properties, shownMap),
    AdditionalProperties: orNull(additionalPropertiesOf(schema), shownAdditional),
    PatternProperties: orNull(schema.patternProperties, shownMap),
    Dependencies: schema.dependencies ?? null,
    AdditionalItems: orNull(additionalItemsOf(schema), shownAdditional),
    Definitions: orNull(schema.definitions, shownMap),
    ExternalDocs: orNull(schema.externalDocs, ({ description = "", url = "" }) => ({ Description: description, URL: url })),
    Example: schema.example ?? null,
    ...shownExtensions(schema),
  };
}

function shownLimits(schema: JsonSchema): JsonObject {
  return {
    Maximum: schema.maximum ?? null,
    ExclusiveMaximum: schema.exclusiveMaximum ?? false,
    Minimum: schema.minimum ?? null,
    ExclusiveMinimum: schema.exclusiveMinimum ?? false,
    MaxLength: schema.maxLength ?? null,
    MinLength: schema.minLength ?? null,
    Pattern: schema.pattern ?? "",
    MaxItems: schema.maxItems ?? null,
    MinItems: schema.minItems ?? null,
    UniqueItems: schema.uniqueItems ?? false,
    MultipleOf: schema.multipleOf ?? null,
  };
}

function shownExtensions(schema: JsonSchema): JsonObject {
  return {
    XPreserveUnknownFields: schema["x-kubernetes-preserve-unknown-fields"] ?? null,
    XEmbeddedResource: schema["x-kubernetes-embedded-resource"] ?? false,
    XIntOrString: schema["x-kubernetes-int-or-string"] ?? false,
    XListMapKeys: schema["x-kubernetes-list-map-keys"] ?? null,
    XListType: schema["x-kubernetes-list-type"] ?? null,
    XMapType: schema["x-kubernetes-map-type"] ?? null,
    XValidations: orNull(schema["x-kubernetes-validations"], (rules) =>
      rules.map(({ rule, message = "", messageExpression = "", reason = null, fieldPath = "", optionalOldSelf = null }) => ({
        Rule: rule,
        Message: message,
        MessageExpression: messageExpression,
        Reason: reason,
        FieldPath: fieldPath,
        OptionalOldSelf: optionalOldSelf,
      })),
    ),
  };
}

export function shownItems(schema: JsonSchema): JsonObject {
  const places = placesOf(schema);
  return { Schema: orNull(itemsOf(schema), shownSchema), JSONSchemas: places.length === 0 ? null : shownSchemas(places) };
}

function shownSchemas(schemas: readonly JsonSchema[]): Json {
  return schemas.map(shownSchema);
}

/** Go maps are printed sorted by key. */
function shownMap(schemas: Readonly<Record<string, JsonSchema>>): Json {
  const sorted = Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, schema]) => [name, shownSchema(schema)]));
}

function shownAdditional({ allowed, schema }: Additional): Json {
  return { Allows: allowed, Schema: orNull(schema, shownSchema) };
}
