import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { newObject, problems, problemsOfNew, type Sent } from "../../../testing/kind.ts";
import { customResourceDefinitions } from "../custom-resource-definition.ts";
import { withProperty, withSchema } from "../testing/definition.ts";
import { type RulesToCompile, validateSchema } from "./validate-schema.ts";

const S: JsonObject = { type: "string" };

function rules(...list: readonly JsonObject[]): JsonObject {
  return { type: "object", properties: { b: S }, "x-kubernetes-validations": list };
}

const refused: readonly (readonly [it: string, sent: Sent, problems: readonly string[]])[] = [
  ["the root has no type", withSchema({}), ["spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"]],
  [
    "the root is no object",
    withSchema({ type: "string" }),
    ['spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
  ],
  [
    "the root may be null",
    withSchema({ type: "object", nullable: true }),
    ["spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root"],
  ],
  [
    "the root has additional properties",
    withSchema({ type: "object", additionalProperties: true }),
    ["spec.validation.openAPIV3Schema.additionalProperties: Forbidden: must not be used at the root"],
  ],
  [
    "there is a status and the root is no object",
    withSchema({ type: "string" }, { subresources: { status: {} } }),
    [
      'spec.validation.openAPIV3Schema.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      'spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
    ],
  ],
  [
    "there is a status and the root says what the status could break",
    withSchema({ type: "object", minProperties: 1, enum: ["<a>"] }, { subresources: { status: {} } }),
    [
      'spec.validation.openAPIV3Schema: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":["\\u003ca\\u003e"],"MaxProperties":null,"MinProperties":1,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ],
  ],
  [
    "there is a status and the root refers to another schema",
    withSchema({ type: "string", $ref: "x" }, { subresources: { status: {} } }),
    [
      'spec.validation.openAPIV3Schema: Invalid value: {"ID":"","Schema":"","Ref":"x","Description":"","Type":"string","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
      "spec.validation.openAPIV3Schema.$ref: Forbidden: $ref is not supported",
    ],
  ],
  [
    "a member of every resource has another type",
    withSchema({ type: "object", properties: { kind: { type: "integer" }, apiVersion: { type: "object" }, metadata: { type: "string" } } }),
    [
      'spec.validation.openAPIV3Schema.properties[apiVersion].type: Invalid value: "object": must be string',
      'spec.validation.openAPIV3Schema.properties[kind].type: Invalid value: "integer": must be string',
      'spec.validation.openAPIV3Schema.properties[metadata].type: Invalid value: "string": must be object',
    ],
  ],
  [
    "metadata says more than names",
    withSchema({
      type: "object",
      properties: { metadata: { type: "object", description: "d", properties: { name: S, labels: { type: "object" } } } },
    }),
    [
      "spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
    ],
  ],
  [
    "members of every resource have defaults",
    withSchema({
      type: "object",
      properties: {
        metadata: { type: "object", default: { name: "x" }, properties: { name: { type: "string", default: "x" } } },
        kind: { type: "string", default: "X" },
      },
    }),
    [
      "spec.validation.openAPIV3Schema.properties[metadata].default: Forbidden: must not be set in top-level metadata",
      "spec.validation.openAPIV3Schema.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata",
      "spec.validation.openAPIV3Schema.properties[kind].default: Forbidden: must not be set in top-level kind",
    ],
  ],
  [
    "other members of metadata have defaults",
    withSchema({ type: "object", properties: { metadata: { type: "object", additionalProperties: { type: "string", default: "x" } } } }),
    [
      "spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
      "spec.validation.openAPIV3Schema.properties[metadata].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata",
    ],
  ],
  [
    "a property has no type",
    withProperty({}),
    ["spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields"],
  ],
  [
    "a property is null",
    withProperty({ type: "null" }),
    [
      'spec.validation.openAPIV3Schema.properties[a].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
      "spec.validation.openAPIV3Schema.properties[a].type: Forbidden: type cannot be set to null, use nullable as an alternative",
    ],
  ],
  [
    "items are not described",
    withProperty({ type: "array" }),
    ["spec.validation.openAPIV3Schema.properties[a].items: Required value: must be specified"],
  ],
  [
    "items have no type",
    withProperty({ type: "array", items: {} }),
    ["spec.validation.openAPIV3Schema.properties[a].items.type: Required value: must not be empty for specified array items"],
  ],
  [
    "items are described one by one",
    withProperty({ type: "array", items: [S, S] }),
    ["spec.validation.openAPIV3Schema.properties[a].items: Forbidden: items must be a schema object and not an array"],
  ],
  [
    "items must be unique",
    withProperty({ type: "array", items: S, uniqueItems: true }),
    [
      "spec.validation.openAPIV3Schema.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
    ],
  ],
  [
    "there are properties and additional ones",
    withProperty({ type: "object", properties: { b: S }, additionalProperties: S }),
    [
      "spec.validation.openAPIV3Schema.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
    ],
  ],
  [
    "members are there that custom resources do not have",
    withProperty({
      type: "object",
      id: "x",
      $ref: "#/x",
      patternProperties: { "^a": {} },
      dependencies: { a: ["b"], c: { type: "zzz" } },
      definitions: { x: { type: "zzz" } },
      additionalItems: false,
    }),
    [
      "spec.validation.openAPIV3Schema.properties[a].id: Forbidden: id is not supported",
      "spec.validation.openAPIV3Schema.properties[a].additionalItems: Forbidden: additionalItems is not supported",
      "spec.validation.openAPIV3Schema.properties[a].patternProperties: Forbidden: patternProperties is not supported",
      "spec.validation.openAPIV3Schema.properties[a].definitions: Forbidden: definitions is not supported",
      "spec.validation.openAPIV3Schema.properties[a].dependencies: Forbidden: dependencies is not supported",
      "spec.validation.openAPIV3Schema.properties[a].$ref: Forbidden: $ref is not supported",
      'spec.validation.openAPIV3Schema.properties[a].definitions[x].type: Unsupported value: "zzz": supported values: "array", "boolean", "integer", "number", "object", "string"',
      'spec.validation.openAPIV3Schema.properties[a].dependencies[c].type: Unsupported value: "zzz": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  [
    "only the address of another schema language is given",
    withProperty({ type: "string", $schema: "x" }),
    ["spec.validation.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"],
  ],
  [
    "a pattern is none",
    withProperty({ type: "string", pattern: "(" }),
    [
      'spec.validation.openAPIV3Schema.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
  ],
  [
    "unknown fields are said not to be preserved",
    withProperty({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
    ["spec.validation.openAPIV3Schema.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"],
  ],
  [
    "a number or text preserves unknown fields and is a resource",
    withProperty({
      "x-kubernetes-int-or-string": true,
      "x-kubernetes-preserve-unknown-fields": true,
      "x-kubernetes-embedded-resource": true,
    }),
    [
      "spec.validation.openAPIV3Schema.properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true",
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true",
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true",
    ],
  ],
  [
    "types of a number or text are not in order",
    withProperty({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "string" }, { type: "integer" }] }),
    [
      "spec.validation.openAPIV3Schema.properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
      "spec.validation.openAPIV3Schema.properties[a].anyOf[1].type: Forbidden: must be empty to be structural",
    ],
  ],
  [
    "an embedded resource is a text",
    withProperty({ type: "string", "x-kubernetes-embedded-resource": true }),
    [
      "spec.validation.openAPIV3Schema.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      'spec.validation.openAPIV3Schema.properties[a].type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
    ],
  ],
  [
    "an embedded resource has no type",
    withProperty({ "x-kubernetes-embedded-resource": true }),
    [
      "spec.validation.openAPIV3Schema.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      "spec.validation.openAPIV3Schema.properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true",
    ],
  ],
  [
    "an embedded resource is empty",
    withProperty({ type: "object", "x-kubernetes-embedded-resource": true }),
    [
      "spec.validation.openAPIV3Schema.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
    ],
  ],
  [
    "an embedded resource has additional properties",
    withProperty({ type: "object", "x-kubernetes-embedded-resource": true, additionalProperties: S }),
    [
      "spec.validation.openAPIV3Schema.properties[a].additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set",
      "spec.validation.openAPIV3Schema.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
    ],
  ],
  [
    "metadata of an embedded resource has a resource in it",
    withProperty({
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: {
        metadata: {
          type: "object",
          properties: { a: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true } },
        },
      },
    }),
    [
      "spec.validation.openAPIV3Schema.properties[a].properties[metadata].properties[a].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta",
    ],
  ],
  [
    "allOf says what only the schema itself may say",
    withProperty({
      type: "object",
      allOf: [
        {
          type: "object",
          description: "d",
          title: "t",
          nullable: true,
          default: {},
          properties: { metadata: {} },
          additionalProperties: S,
          "x-kubernetes-preserve-unknown-fields": true,
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-int-or-string": true,
          "x-kubernetes-list-map-keys": ["a"],
          "x-kubernetes-list-type": "map",
          "x-kubernetes-map-type": "atomic",
          "x-kubernetes-validations": [{ rule: "true" }],
        },
      ],
    }),
    [
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].additionalProperties: Forbidden: must be undefined to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].default: Forbidden: must be undefined to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].description: Forbidden: must be empty to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].nullable: Forbidden: must be false to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].properties[metadata]: Forbidden: must not be specified in a nested context",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].title: Forbidden: must be empty to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].type: Forbidden: must be empty to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].x-kubernetes-embedded-resource: Forbidden: must be false to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].x-kubernetes-int-or-string: Forbidden: must be false to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].x-kubernetes-list-map-keys: Forbidden: must be empty to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].x-kubernetes-list-type: Forbidden: must be undefined to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].x-kubernetes-map-type: Forbidden: must be undefined to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural",
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
      'spec.validation.openAPIV3Schema.properties[a].allOf[0].type: Invalid value: "object": must be array if x-kubernetes-list-type is specified',
      "spec.validation.openAPIV3Schema.properties[a].allOf[0].items: Required value: must have a schema if x-kubernetes-list-type is map",
    ],
  ],
  [
    "anyOf, oneOf and not speak of what the schema does not have",
    withProperty({
      type: "object",
      properties: { b: S },
      anyOf: [{ items: { minLength: 1 } }],
      oneOf: [{ properties: { b: { pattern: "[" } } }],
      not: { properties: { q: {} } },
    }),
    [
      'spec.validation.openAPIV3Schema.properties[a].oneOf[0].properties[b].pattern: Invalid value: "[": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ]: `[`',
    ],
  ],
  [
    "defaults do not fit their schemas",
    withProperty({
      type: "object",
      properties: { b: { type: "integer", minimum: 5, default: 1 }, c: { type: "string", default: 1 } },
      required: ["q"],
      default: { b: "x" },
    }),
    [
      'spec.validation.openAPIV3Schema.properties[a].default.b: Invalid value: "string": b in body must be of type integer: "string"',
      "spec.validation.openAPIV3Schema.properties[a].default.q: Required value",
      "spec.validation.openAPIV3Schema.properties[a].properties[b].default: Invalid value: 1:  in body should be greater than or equal to 5",
      'spec.validation.openAPIV3Schema.properties[a].properties[c].default: Invalid value: "integer":  in body must be of type string: "integer"',
    ],
  ],
  [
    "defaults have unknown fields",
    withProperty({ type: "object", properties: { b: S }, default: { c: 1, b: "x" } }),
    ['spec.validation.openAPIV3Schema.properties[a].default: Invalid value: {"b":"x","c":1}: must not have unknown fields'],
  ],
  [
    "the default of an embedded resource is none",
    withProperty({
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
      default: { apiVersion: "a/b/c", kind: "x_", metadata: { name: "a/b" } },
    }),
    [
      'spec.validation.openAPIV3Schema.properties[a].default.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      "spec.validation.openAPIV3Schema.properties[a].default.kind: Invalid value: \"x_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      "spec.validation.openAPIV3Schema.properties[a].default.metadata.name: Invalid value: \"a/b\": may not contain '/'",
    ],
  ],
  [
    "the default of an embedded resource has wrong types",
    withProperty({
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
      default: { apiVersion: "v1", kind: "x", metadata: { name: 1 } },
    }),
    [
      'spec.validation.openAPIV3Schema.properties[a].default.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    ],
  ],
  [
    "defaults within an embedded resource's metadata make it invalid",
    withProperty({
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: {
        metadata: {
          type: "object",
          properties: {
            name: { type: "string", default: "a/b" },
            finalizers: { type: "array", items: { type: "string", default: "a b" } },
          },
        },
      },
    }),
    [
      'spec.validation.openAPIV3Schema.properties[a].properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain \'/\'',
      "spec.validation.openAPIV3Schema.properties[a].properties[metadata].properties[finalizers].items.default: Invalid value: \"a b\": must result in valid metadata: metadata.finalizers: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "a map type is none, or of what is no map",
    withProperty({ type: "string", "x-kubernetes-map-type": "foo" }),
    [
      'spec.validation.openAPIV3Schema.properties[a].type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-map-type: Unsupported value: "foo": supported values: "atomic", "granular"',
    ],
  ],
  [
    "a map type is of what has no type",
    withProperty({ "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" }),
    ["spec.validation.openAPIV3Schema.properties[a].type: Required value: must be object if x-kubernetes-map-type is specified"],
  ],
  [
    "a list type is none",
    withProperty({ type: "array", items: S, "x-kubernetes-list-type": "bag" }),
    [
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
    ],
  ],
  [
    "a list type is of what is no list",
    withProperty({ type: "object", "x-kubernetes-list-type": "set" }),
    ['spec.validation.openAPIV3Schema.properties[a].type: Invalid value: "object": must be array if x-kubernetes-list-type is specified'],
  ],
  [
    "a list type is of what has no type",
    withProperty({ "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-list-type": "set" }),
    ["spec.validation.openAPIV3Schema.properties[a].type: Required value: must be array if x-kubernetes-list-type is specified"],
  ],
  [
    "items of a set are maps",
    withProperty({ type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } }),
    [
      "spec.validation.openAPIV3Schema.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
    ],
  ],
  [
    "items of a set are sets",
    withProperty({ type: "array", "x-kubernetes-list-type": "set", items: { type: "array", items: S, "x-kubernetes-list-type": "set" } }),
    [
      'spec.validation.openAPIV3Schema.properties[a].items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  [
    "items of a set may be null",
    withProperty({ type: "array", "x-kubernetes-list-type": "set", items: { type: "string", nullable: true } }),
    ["spec.validation.openAPIV3Schema.properties[a].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set"],
  ],
  [
    "there are keys and no list type",
    withProperty({ type: "array", items: { type: "object" }, "x-kubernetes-list-map-keys": ["a"] }),
    [
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty",
    ],
  ],
  [
    "there are keys and another list type",
    withProperty({ type: "array", items: S, "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["a"] }),
    [
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty',
    ],
  ],
  [
    "there are no keys",
    withProperty({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "map" }),
    [
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
    ],
  ],
  [
    "there are keys and no items",
    withProperty({ type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] }),
    [
      "spec.validation.openAPIV3Schema.properties[a].items: Required value: must be specified",
      "spec.validation.openAPIV3Schema.properties[a].items: Required value: must have a schema if x-kubernetes-list-type is map",
    ],
  ],
  [
    "a list of type map has one schema per index",
    withProperty({ type: "array", items: [{}], "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] }),
    [
      "spec.validation.openAPIV3Schema.properties[a].items: Forbidden: items must be a schema object and not an array",
      'spec.validation.openAPIV3Schema.properties[a].items: Invalid value: {"Schema":null,"JSONSchemas":[{"ID":"","Schema":"","Ref":null,"Description":"","Type":"","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}]}: must only have a single schema if x-kubernetes-list-type is map',
    ],
  ],
  [
    "there are keys and items one by one",
    withProperty({ type: "array", items: [], "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] }),
    [
      "spec.validation.openAPIV3Schema.properties[a].items: Required value: must be specified",
      "spec.validation.openAPIV3Schema.properties[a].items: Required value: must have a schema if x-kubernetes-list-type is map",
    ],
  ],
  [
    "there are keys and the items are texts",
    withProperty({ type: "array", items: S, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] }),
    [
      'spec.validation.openAPIV3Schema.properties[a].items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
    ],
  ],
  [
    "keys are no scalars, optional, nullable, twice there or nowhere",
    withProperty({
      type: "array",
      items: {
        type: "object",
        nullable: true,
        properties: { a: { type: "object" }, b: { type: "string", nullable: true }, c: { type: "string", default: "x" }, d: S },
        required: ["d"],
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a", "b", "b", "zz", "c", "d"],
    }),
    [
      'spec.validation.openAPIV3Schema.properties[a].items.properties[a].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-map-keys: Invalid value: ["a","b","b","zz","c","d"]: must not contain duplicate entries',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-map-keys: Invalid value: ["a","b","b","zz","c","d"]: entries must all be names of item properties',
      "spec.validation.openAPIV3Schema.properties[a].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map",
      "spec.validation.openAPIV3Schema.properties[a].items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
      "spec.validation.openAPIV3Schema.properties[a].items.properties[b].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
      "spec.validation.openAPIV3Schema.properties[a].items.properties[b].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
      "spec.validation.openAPIV3Schema.properties[a].items.properties[b].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
      "spec.validation.openAPIV3Schema.properties[a].items.properties[b].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
    ],
  ],
  [
    "rules have no text, or texts that cannot be shown",
    withProperty(
      rules(
        { rule: " " },
        { rule: "true", message: " " },
        { rule: "true", message: "a\nb" },
        { rule: "true &&\ntrue" },
        { rule: "true", messageExpression: " " },
      ),
    ),
    [
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified",
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[1].message: Invalid value: " ": must be non-empty if specified',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[2].message: Invalid value: "a\\nb": must not contain line breaks',
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[3].message: Required value: message must be specified if rule contains line breaks",
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[4].messageExpression: Required value: messageExpression must be non-empty if specified",
    ],
  ],
  [
    "rules have reasons and paths that are none",
    withProperty(
      rules(
        { rule: "true", reason: "Foo" },
        { rule: "true", fieldPath: " " },
        { rule: "true", fieldPath: ".b\n" },
        { rule: "true", fieldPath: ".zz" },
      ),
    ),
    [
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].reason: Unsupported value: "Foo": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[1].fieldPath: Invalid value: " ": must be non-empty if specified',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[1].fieldPath: Invalid value: " ": must be a valid path',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[2].fieldPath: Invalid value: ".b\\n": must not contain line breaks',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[2].fieldPath: Invalid value: ".b\\n": must be a valid path',
      'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[3].fieldPath: Invalid value: ".zz": must be a valid path',
    ],
  ],
  [
    "types of OpenAPI are not those of JSON",
    withProperty({ type: "file" }),
    [
      'spec.validation.openAPIV3Schema.properties[a].type: Unsupported value: "file": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
];
for (const [it, sent, expected] of refused) {
  test(`a schema is rejected if ${it}`, () => {
    assert.deepEqual(problemsOfNew(customResourceDefinitions, sent), expected);
  });
}

const accepted: readonly (readonly [it: string, schema: JsonObject])[] = [
  ["preserves unknown fields", { "x-kubernetes-preserve-unknown-fields": true }],
  ["is a number or a text", { "x-kubernetes-int-or-string": true }],
  ["says so in anyOf too", { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }],
  [
    "says so in allOf, and more",
    { "x-kubernetes-int-or-string": true, allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "a" }] },
  ],
  ["embeds a resource", { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }],
  ["has properties and allows others", { type: "object", properties: { b: S }, additionalProperties: true }],
  ["allows no others", { type: "object", additionalProperties: false }],
  ["has a default of null, which is none", { type: "string", default: null }],
  ["has rules", rules({ rule: "self.b == 'x' ||\ntrue", message: "m" }, { rule: "true", fieldPath: ".b", reason: "FieldValueRequired" })],
];
for (const [it, schema] of accepted) {
  test(`a schema is accepted that ${it}`, () => {
    assert.deepEqual(problemsOfNew(customResourceDefinitions, withProperty(schema)), []);
  });
}

test("errors in the schema of one of several versions name its version", () => {
  const sent = withProperty({});
  const spec = sent["spec"] as { versions: readonly JsonObject[] };
  const second = { name: "v2", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } };

  const found = problemsOfNew(customResourceDefinitions, { ...sent, spec: { ...spec, versions: [...spec.versions, second] } });

  assert.deepEqual(found, [
    "spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields",
  ]);
});

const LENIENT = { requireValidTypes: false, requireAtomicSetItems: false, requireMapListKeys: false };

test("validation rules are compiled where the schema and all below it are valid, the inner ones first", () => {
  const compiled: RulesToCompile[] = [];
  const inner = { ...rules({ rule: "inner" }) };
  const schema = { type: "object", properties: { list: { type: "array", items: inner }, ok: rules({ rule: "ok" }) } } as const;

  const errors = [...validateSchema(schema, "s", { ...LENIENT, compileRules: (given) => (compiled.push(given), []) }, true)];

  assert.deepEqual(errors, []);
  assert.deepEqual(
    compiled.map(({ at, uncorrelatedAt, ancestry }) => ({ at, uncorrelatedAt, depth: ancestry.length })),
    [
      { at: "s.properties[list].items", uncorrelatedAt: "s.properties[list]", depth: 3 },
      { at: "s.properties[ok]", uncorrelatedAt: undefined, depth: 2 },
    ],
  );
});

test("validation rules of an invalid schema are not compiled", () => {
  const schema = { type: "object", properties: { a: { ...rules({ rule: "a" }), uniqueItems: true } } };
  const compileRules = () => assert.fail("compiled");

  const errors = [...validateSchema(schema, "s", { ...LENIENT, compileRules }, true)];

  assert.deepEqual(problems(errors), [
    "s.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
  ]);
});

test("a stored definition that violates newer rules may be changed elsewhere", () => {
  const schema = { type: "object", properties: { a: { type: "file" } } };

  assert.deepEqual([...validateSchema(schema, "s", LENIENT, false)], []);
  assert.equal(newObject(customResourceDefinitions, withSchema({ type: "object" })).kind, "CustomResourceDefinition");
});
