/** Common parts of OpenAPI v2 and v3 documents: header, media types, and referenced types. */
import { BUILT_IN_TYPES, JSON_TYPE, streamTypes, YAML_TYPE } from "../../../api/machinery/codec/media-type.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { KUBERNETES_VERSION } from "../../shared/kubernetes-version.ts";
import type { Dialect } from "./own-type.ts";
import { reference } from "./type-schemas.ts";
import type { ApiPath, Operation } from "./api-path.ts";

/** The title is upstream's, since tools look for it; the version is that of the API. */
export const INFO = { title: "Kubernetes", version: `${KUBERNETES_VERSION.major}.${KUBERNETES_VERSION.minor}` };

export const BEARER_TOKEN = { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" };

const STRATEGIC_MERGE = "application/strategic-merge-patch+json";
const PATCH_TYPES: readonly string[] = [
  "application/json-patch+json",
  "application/merge-patch+json",
  STRATEGIC_MERGE,
  "application/apply-patch+yaml",
];

export function patchTypes({ isUntyped }: Operation): readonly string[] {
  return isUntyped === true ? PATCH_TYPES.filter((type) => type !== STRATEGIC_MERGE) : PATCH_TYPES;
}

const ANSWER_TYPES: Readonly<Record<Operation["form"], readonly string[]>> = {
  object: BUILT_IN_TYPES,
  untyped: [JSON_TYPE, YAML_TYPE],
  stream: [...BUILT_IN_TYPES, ...streamTypes(BUILT_IN_TYPES)],
  text: ["text/plain", ...BUILT_IN_TYPES],
  json: [JSON_TYPE],
  any: ["*/*"],
};

export function answerTypes({ form }: Operation): readonly string[] {
  return ANSWER_TYPES[form];
}

export const REASON_PHRASES = { 200: "OK", 201: "Created", 202: "Accepted" } as const;

/** Returns all types that the operations reference. */
export function typeNames(paths: readonly ApiPath[]): Set<string> {
  return new Set(paths.flatMap(({ operations }) => operations.flatMap(({ answer, body }) => [answer ?? [], body?.type ?? []].flat())));
}

/** Returns the response type of an operation. */
export function answerSchema(dialect: Dialect, { answer }: Operation): JsonObject {
  return answer === undefined ? { type: "string" } : reference(dialect, answer);
}
