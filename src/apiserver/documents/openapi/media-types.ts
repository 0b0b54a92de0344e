/** What operations take and answer, by media type. */
import { BUILT_IN_TYPES, JSON_TYPE, streamTypes } from "../../../api/machinery/codec/media-type.ts";
import type { Operation } from "./operations.ts";

export const PATCH_TYPES: readonly string[] = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

const ANSWER_TYPES: Readonly<Record<Operation["form"], readonly string[]>> = {
  object: BUILT_IN_TYPES,
  stream: [...BUILT_IN_TYPES, ...streamTypes(BUILT_IN_TYPES)],
  json: [JSON_TYPE],
};

export function answerTypes({ form }: Operation): readonly string[] {
  return ANSWER_TYPES[form];
}

export const CODE_WORDS = { 200: "OK", 201: "Created", 202: "Accepted" } as const;
