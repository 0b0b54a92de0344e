/** Builds the OpenAPI v2 document: all paths, and all types that they reference. */
import { BUILT_IN_TYPES, JSON_TYPE, YAML_TYPE } from "../../../api/machinery/codec/media-type.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { answerSchema, answerTypes, BEARER_TOKEN, REASON_PHRASES, INFO, patchTypes, typeNames } from "./document-parts.ts";
import { parametersOf, type PathParameters } from "./path-parameters.ts";
import type { NamedParameter } from "./query-parameters.ts";
import type { DocumentContent } from "./sources.ts";
import { reference, type TypeSchemas } from "./type-schemas.ts";
import type { ApiPath, Operation } from "./api-path.ts";

export function v2Document(contents: readonly DocumentContent[], types: TypeSchemas): JsonObject {
  const paths = contents.flatMap(({ paths: some }) => some).sort((a, b) => (a.path < b.path ? -1 : 1));
  const own = new Map(contents.flatMap(({ own: some }) => [...some]));
  return {
    swagger: "2.0",
    info: INFO,
    paths: Object.fromEntries(paths.map((path) => [path.path, pathItem(path, types)])),
    definitions: Object.fromEntries(types.reachable(typeNames(paths), own)),
    securityDefinitions: { BearerToken: BEARER_TOKEN },
    security: [{ BearerToken: [] }],
  };
}

function pathItem(path: ApiPath, types: TypeSchemas): JsonObject {
  const parameters = parametersOf(path, types);
  return {
    ...Object.fromEntries(path.operations.map((operation) => [operation.method, operationValue(operation, parameters)])),
    ...(parameters.common.length === 0 ? {} : { parameters: parameters.common.map(parameterValue) }),
  };
}

function operationValue(operation: Operation, parameters: PathParameters): JsonObject {
  const { tag, description, id, body, action, kind } = operation;
  const own = [...(body === undefined ? [] : [bodyParameter(body)]), ...parameters.of(operation).map(parameterValue)];
  return {
    description,
    ...consumes(operation),
    produces: answerTypes(operation),
    schemes: ["https"],
    tags: [tag],
    operationId: id,
    ...(own.length === 0 ? {} : { parameters: own }),
    responses: responses(operation),
    ...(action === undefined ? {} : { "x-kubernetes-action": action }),
    ...(kind === undefined ? {} : { "x-kubernetes-group-version-kind": { group: kind.group, kind: kind.kind, version: kind.version } }),
  };
}

function consumes(operation: Operation): JsonObject {
  const { body, action, form } = operation;
  if (form === "json") return { consumes: [JSON_TYPE] };
  if (action === undefined) return { consumes: BUILT_IN_TYPES };
  return { consumes: body?.isPatch === true ? patchTypes(operation) : form === "untyped" ? [JSON_TYPE, YAML_TYPE] : ["*/*"] };
}

function bodyParameter({ type, isRequired }: NonNullable<Operation["body"]>): JsonObject {
  return { name: "body", in: "body", ...(isRequired ? { required: true } : {}), schema: reference("v2", type) };
}

function responses(operation: Operation): JsonObject {
  return {
    ...Object.fromEntries(
      operation.codes.map((code) => [code, { description: REASON_PHRASES[code], schema: answerSchema("v2", operation) }] as const),
    ),
    401: { description: "Unauthorized" },
  };
}

function parameterValue({ name, in: place, description, type }: NamedParameter): JsonObject {
  return { uniqueItems: true, type, description, name, in: place, ...(place === "path" ? { required: true } : {}) };
}
