/**
 * Encodes the OpenAPI v2 document as protobuf, in gnostic's messages (openapi.v2.Document), which kubectl requests. Covers only what our
 * document uses; bounds of numbers, which need a wire type of their own, are left out. Free-form values (enumerations, extensions) are YAML text there; JSON is YAML, so they are written as JSON.
 */
import { encode, type FieldDescriptor, type MessageDescriptor } from "../../../base/protobuf/messages.ts";
import type { Json, JsonObject } from "../../../api/machinery/object.ts";

function message(name: string, fields: Record<string, FieldDescriptor>): MessageDescriptor {
  return { name, fields };
}

function named(name: string, type: MessageDescriptor): MessageDescriptor {
  return message(name, { name: { number: 1, type: "string" }, value: { number: 2, type } });
}

const text = (number: number): FieldDescriptor => ({ number, type: "string" });
const texts = (number: number): FieldDescriptor => ({ number, type: "string", repeated: true });
const number = (fieldNumber: number): FieldDescriptor => ({ number: fieldNumber, type: "int64" });
const flag = (number: number): FieldDescriptor => ({ number, type: "bool" });
const one = (number: number, type: MessageDescriptor): FieldDescriptor => ({ number, type });
const many = (number: number, type: MessageDescriptor): FieldDescriptor => ({ number, type, repeated: true });

const ANY = message("Any", { yaml: text(2) });
const EXTENSION = named("NamedAny", ANY);

/** Schemas are recursive, so the fields are set afterwards. */
const schemaFields: Record<string, FieldDescriptor> = {};
const SCHEMA = message("Schema", schemaFields);
const PROPERTIES = message("Properties", { entries: many(1, named("NamedSchema", SCHEMA)) });
Object.assign(schemaFields, {
  ref: text(1),
  format: text(2),
  title: text(3),
  description: text(4),
  maxLength: number(11),
  minLength: number(12),
  pattern: text(13),
  maxItems: number(14),
  minItems: number(15),
  maxProperties: number(17),
  minProperties: number(18),
  required: texts(19),
  enum: many(20, ANY),
  additionalProperties: one(21, message("AdditionalPropertiesItem", { schema: one(1, SCHEMA) })),
  type: one(22, message("TypeItem", { value: texts(1) })),
  items: one(23, message("ItemsItem", { schema: many(1, SCHEMA) })),
  properties: one(25, PROPERTIES),
  extensions: many(31, EXTENSION),
});

const BODY = message("BodyParameter", { name: text(2), in: text(3), required: flag(4), schema: one(5, SCHEMA) });
const QUERY = message("QueryParameterSubSchema", {
  in: text(2),
  description: text(3),
  name: text(4),
  type: text(6),
  uniqueItems: flag(20),
});
const PATH = message("PathParameterSubSchema", {
  required: flag(1),
  in: text(2),
  description: text(3),
  name: text(4),
  type: text(5),
  uniqueItems: flag(19),
});
const NON_BODY = message("NonBodyParameter", { query: one(3, QUERY), path: one(4, PATH) });
const PARAMETER = message("ParametersItem", { parameter: one(1, message("Parameter", { body: one(1, BODY), nonBody: one(2, NON_BODY) })) });

const RESPONSE = message("Response", { description: text(1), schema: one(2, message("SchemaItem", { schema: one(1, SCHEMA) })) });
const RESPONSES = message("Responses", {
  codes: many(1, named("NamedResponseValue", message("ResponseValue", { response: one(1, RESPONSE) }))),
});

const OPERATION = message("Operation", {
  tags: texts(1),
  description: text(3),
  operationId: text(5),
  produces: texts(6),
  consumes: texts(7),
  parameters: many(8, PARAMETER),
  responses: one(9, RESPONSES),
  schemes: texts(10),
  extensions: many(13, EXTENSION),
});
const PATH_ITEM = message("PathItem", {
  get: one(2, OPERATION),
  put: one(3, OPERATION),
  post: one(4, OPERATION),
  delete: one(5, OPERATION),
  options: one(6, OPERATION),
  head: one(7, OPERATION),
  patch: one(8, OPERATION),
  parameters: many(9, PARAMETER),
});

const API_KEY = message("ApiKeySecurity", { type: text(1), name: text(2), in: text(3), description: text(4) });
const SECURITY = named("NamedSecurityDefinitionsItem", message("SecurityDefinitionsItem", { apiKey: one(2, API_KEY) }));
const REQUIREMENT = message("SecurityRequirement", {
  entries: many(1, named("NamedStringArray", message("StringArray", { value: texts(1) }))),
});

const DOCUMENT = message("Document", {
  swagger: text(1),
  info: one(2, message("Info", { title: text(1), version: text(2) })),
  paths: one(8, message("Paths", { entries: many(2, named("NamedPathItem", PATH_ITEM)) })),
  definitions: one(9, message("Definitions", { entries: many(1, named("NamedSchema", SCHEMA)) })),
  security: many(12, REQUIREMENT),
  securityDefinitions: one(13, message("SecurityDefinitions", { entries: many(1, SECURITY) })),
});

/** Map entries per chunk: a few milliseconds. */
const PIECE_ENTRIES = 32;

/**
 * `document` is built by v2-document.ts. Encoded in chunks with event-loop ticks in between: decoders merge consecutive parts of a message.
 */
export function* encodeV2Document({ swagger, info, paths, definitions, securityDefinitions, security }: JsonObject): Iterable<Uint8Array> {
  yield encodePart({
    swagger,
    info,
    security: (security as readonly JsonObject[]).map((names) => ({ entries: entriesOf(names, (scopes) => ({ value: scopes })) })),
    securityDefinitions: { entries: entriesOf(securityDefinitions, (apiKey) => ({ apiKey })) },
  });
  for (const piece of piecesOf(paths)) yield encodePart({ paths: { entries: entriesOf(piece, pathItemMessage) } });
  for (const piece of piecesOf(definitions)) yield encodePart({ definitions: { entries: entriesOf(piece, schemaMessage) } });
}

function encodePart(part: Message): Uint8Array {
  return encode(DOCUMENT, part as Readonly<Record<string, never>>);
}

function* piecesOf(map: Json | undefined): Iterable<JsonObject> {
  const entries = Object.entries(map as JsonObject);
  for (let from = 0; from < entries.length; from += PIECE_ENTRIES) yield Object.fromEntries(entries.slice(from, from + PIECE_ENTRIES));
}

type Message = Readonly<Record<string, unknown>>;

/** A map is a list of names and values. */
function entriesOf(
  map: Json | undefined,
  toMessage: (value: JsonObject) => Message,
): readonly { readonly name: string; readonly value: Message }[] {
  return Object.entries(map as Readonly<Record<string, JsonObject>>).map(([name, value]) => ({ name, value: toMessage(value) }));
}

function pathItemMessage({ parameters = [], ...operations }: JsonObject): Message {
  const methods = Object.entries(operations).map(([method, operation]) => [method, operationMessage(operation as JsonObject)] as const);
  return { ...Object.fromEntries(methods), parameters: (parameters as readonly JsonObject[]).map(parameterMessage) };
}

function operationMessage(operation: JsonObject): Message {
  const { parameters = [], responses, ...rest } = operation;
  return {
    ...rest,
    parameters: (parameters as readonly JsonObject[]).map(parameterMessage),
    responses: { codes: entriesOf(responses, (response) => ({ response: responseMessage(response) })) },
    extensions: extensionsOf(operation),
  };
}

function responseMessage({ description, schema }: JsonObject): Message {
  return { description, ...(schema === undefined ? {} : { schema: { schema: schemaMessage(schema as JsonObject) } }) };
}

function parameterMessage(parameter: JsonObject): Message {
  if (parameter["in"] === "body")
    return { parameter: { body: { ...parameter, schema: schemaMessage(parameter["schema"] as JsonObject) } } };
  return { parameter: { nonBody: parameter["in"] === "path" ? { path: parameter } : { query: parameter } } };
}

function schemaMessage(schema: JsonObject): Message {
  const { $ref, type, items, properties, additionalProperties, format, title, description, required } = schema;
  const { maxLength, minLength, pattern, maxItems, minItems, maxProperties, minProperties } = schema;
  const values = (schema["enum"] ?? []) as readonly Json[];
  return {
    ref: $ref,
    format,
    title,
    description,
    ...{ maxLength, minLength, pattern, maxItems, minItems, maxProperties, minProperties },
    required,
    enum: values.map(anyMessage),
    ...(type === undefined ? {} : { type: { value: [type] } }),
    ...(items === undefined ? {} : { items: { schema: [schemaMessage(items as JsonObject)] } }),
    ...(typeof additionalProperties !== "object"
      ? {}
      : { additionalProperties: { schema: schemaMessage(additionalProperties as JsonObject) } }),
    ...(properties === undefined ? {} : { properties: { entries: entriesOf(properties, schemaMessage) } }),
    extensions: extensionsOf(schema),
  };
}

function extensionsOf(object: JsonObject): readonly Message[] {
  return Object.entries(object)
    .filter(([name]) => name.startsWith("x-"))
    .map(([name, value]) => ({ name, value: anyMessage(value) }));
}

function anyMessage(value: Json | undefined): Message {
  return { yaml: `${JSON.stringify(value)}\n` };
}
