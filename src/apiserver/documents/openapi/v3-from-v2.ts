/**
 * Converts an OpenAPI v2 document to v3: for aggregated API servers that have no v3 documents, as upstream does. Bodies and responses get
 * media types, types of parameters become schemas, and references lead to components. Pure.
 */
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";

const OPERATIONS = ["get", "put", "post", "delete", "options", "head", "patch"];
const REFERENCES: readonly (readonly [v2: string, v3: string])[] = [
  ["#/definitions/", "#/components/schemas/"],
  ["#/parameters/", "#/components/parameters/"],
  ["#/responses/", "#/components/responses/"],
];

export function v3FromV2({ info, paths, definitions }: JsonObject): JsonObject {
  return {
    openapi: "3.0.0",
    info: info ?? { title: "Kubernetes", version: "unversioned" },
    paths: mapped(paths, pathOf),
    components: { schemas: mapped(definitions, schemaOf) },
  };
}

function pathOf(path: JsonObject): JsonObject {
  return Object.fromEntries(
    entriesOf(path).map(([name, value]) => {
      if (name === "parameters") return [name, objectsOf(value).map(parameterOf)];
      const operation = OPERATIONS.includes(name) ? asObject(value) : undefined;
      return [name, operation === undefined ? value : operationOf(operation)];
    }),
  );
}

function operationOf({ consumes, produces, schemes: _schemes, parameters, responses, ...others }: JsonObject): JsonObject {
  const all = objectsOf(parameters);
  const body = asObject(all.find(isBody)?.["schema"]);
  const remaining = all.filter((parameter) => !isBody(parameter)).map(parameterOf);
  return {
    ...others,
    ...(remaining.length === 0 ? {} : { parameters: remaining }),
    ...(body === undefined ? {} : { requestBody: { content: contentOf(consumes, body) } }),
    responses: mapped(responses, (response) => responseOf(response, produces)),
  };
}

function isBody({ in: place, schema }: JsonObject): boolean {
  return place === "body" && asObject(schema) !== undefined;
}

function responseOf({ schema, examples: _examples, ...others }: JsonObject, produces: Json | undefined): JsonObject {
  const response = schemaOf(others) as JsonObject;
  const type = asObject(schema);
  return type === undefined ? response : { ...response, content: contentOf(produces, type) };
}

function contentOf(types: Json | undefined, schema: JsonObject): JsonObject {
  return Object.fromEntries(listOf(types).flatMap((type) => (typeof type === "string" ? [[type, { schema: schemaOf(schema) }]] : [])));
}

/** Members of a v2 parameter that are about its value: in v3 they are in its schema. */
const VALUE_MEMBERS = ["type", "format", "uniqueItems", "items", "enum", "default", "minimum", "maximum", "pattern"];

function parameterOf(parameter: JsonObject): JsonObject {
  if (typeof parameter["$ref"] === "string") return schemaOf(parameter) as JsonObject;
  const { schema, ...rest } = parameter;
  const members = entriesOf(rest);
  const value = asObject(schema) ?? Object.fromEntries(members.filter(([name]) => VALUE_MEMBERS.includes(name)));
  const others = members.filter(([name]) => !VALUE_MEMBERS.includes(name) && name !== "collectionFormat");
  return { ...Object.fromEntries(others), schema: schemaOf(value) };
}

/** With references of v3. One that has other members beside it is wrapped, since v3 ignores these. */
function schemaOf(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(schemaOf);
  const object = asObject(value);
  if (object === undefined) return value;
  const members = entriesOf(object).map(([name, member]) => {
    return [name, name === "$ref" && typeof member === "string" ? referenceOf(member) : schemaOf(member)] as const;
  });
  const converted = Object.fromEntries(members) as JsonObject;
  const { $ref, ...others } = converted;
  if (typeof $ref !== "string" || Object.keys(others).length === 0) return converted;
  return { ...others, allOf: [{ $ref }] };
}

function referenceOf(reference: string): string {
  const known = REFERENCES.find(([v2]) => reference.startsWith(v2));
  return known === undefined ? reference : `${known[1]}${reference.slice(known[0].length)}`;
}

function mapped(value: Json | undefined, convert: (member: JsonObject) => Json): JsonObject {
  return Object.fromEntries(
    entriesOf(asObject(value) ?? {}).map(([name, member]) => {
      const object = asObject(member);
      return [name, object === undefined ? member : convert(object)];
    }),
  );
}

function entriesOf(object: JsonObject): readonly (readonly [string, Json])[] {
  return Object.entries(object).flatMap(([name, member]) => (member === undefined ? [] : [[name, member] as const]));
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).filter((member): member is JsonObject => isObject(member));
}

function asObject(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
