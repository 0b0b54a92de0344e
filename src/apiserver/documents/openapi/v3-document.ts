/** Builds one OpenAPI v3 document: the paths of one group and version, and the types that they reference. */
import type { GroupVersion, GroupVersionKind, JsonObject } from "../../../api/machinery/object.ts";
import { answerSchema, answerTypes, BEARER_TOKEN, REASON_PHRASES, INFO, patchTypes, typeNames } from "./document-parts.ts";
import { META_TYPES } from "./operations.ts";
import { parametersOf, type PathParameters } from "./path-parameters.ts";
import type { NamedParameter } from "./query-parameters.ts";
import type { DocumentContent } from "./sources.ts";
import { reference, type TypeSchemas } from "./type-schemas.ts";
import type { ApiPath, Operation } from "./api-path.ts";

export function v3Document({ place, paths, own }: DocumentContent, types: TypeSchemas): JsonObject {
  const sorted = paths.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const schemas = [...types.reachable(typeNames(paths), own)].map(
    ([name, definition]) => [name, name.startsWith(`${META_TYPES}.`) ? withKindsOf(place, definition) : definition] as const,
  );
  return {
    openapi: "3.0.0",
    info: INFO,
    paths: Object.fromEntries(sorted.map((path) => [path.path, pathItem(path, types)])),
    components: { schemas: Object.fromEntries(schemas), securitySchemes: { BearerToken: BEARER_TOKEN } },
  };
}

const KINDS = "x-kubernetes-group-version-kind";

/** DeleteOptions and WatchEvent exist in every group; a document names its own and the core group. */
function withKindsOf(place: GroupVersion | undefined, definition: JsonObject): JsonObject {
  const kinds = definition[KINDS] as readonly GroupVersionKind[] | undefined;
  if (kinds === undefined) return definition;
  const isNamed = ({ group, version }: GroupVersion): boolean =>
    (group === "" && version === "v1") || (group === place?.group && version === place.version);
  return { ...definition, [KINDS]: kinds.filter(isNamed) };
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
  const own = parameters.of(operation).map(parameterValue);
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(own.length === 0 ? {} : { parameters: own }),
    ...(body === undefined ? {} : { requestBody: bodyValue(operation, body) }),
    responses: responses(operation),
    ...(action === undefined ? {} : { "x-kubernetes-action": action }),
    ...(kind === undefined ? {} : { [KINDS]: { group: kind.group, version: kind.version, kind: kind.kind } }),
  };
}

function bodyValue(operation: Operation, { type, isRequired, isPatch }: NonNullable<Operation["body"]>): JsonObject {
  return {
    content: contentOf(
      isPatch ? patchTypes(operation) : operation.form === "untyped" ? answerTypes(operation) : ["*/*"],
      reference("v3", type),
    ),
    ...(isRequired ? { required: true } : {}),
  };
}

function responses(operation: Operation): JsonObject {
  const content = contentOf(answerTypes(operation), answerSchema("v3", operation));
  return {
    ...Object.fromEntries(operation.codes.map((code) => [code, { description: REASON_PHRASES[code], content }] as const)),
    401: { description: "Unauthorized" },
  };
}

function contentOf(mediaTypes: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
}

function parameterValue({ name, in: place, description, type }: NamedParameter): JsonObject {
  return { name, in: place, description, ...(place === "path" ? { required: true } : {}), schema: { type, uniqueItems: true } };
}
