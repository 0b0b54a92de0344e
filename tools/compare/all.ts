/** What is compared with the yardsticks. One more is its file here and one line in this list. */
import type { Comparison } from "./comparison.ts";
import { descriptionTexts } from "./description-texts.ts";
import { listSemantics } from "./list-semantics.ts";
import { openApiTypes } from "./openapi-types.ts";
import { protobufFields } from "./protobuf-fields.ts";

export const all: readonly Comparison[] = [openApiTypes, descriptionTexts, listSemantics, protobufFields];
