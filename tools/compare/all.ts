/** All comparisons with upstream snapshots. One more is its file here and one line in this list. */
import type { Comparison } from "./comparison.ts";
import { descriptionTexts } from "./description-texts.ts";
import { discovery } from "./discovery.ts";
import { listSemantics } from "./list-semantics.ts";
import { openApiDocuments } from "./openapi-documents.ts";
import { openApiTypes } from "./openapi-types.ts";
import { protobufFields } from "./protobuf-fields.ts";

export const all: readonly Comparison[] = [openApiTypes, descriptionTexts, listSemantics, protobufFields, discovery, openApiDocuments];
