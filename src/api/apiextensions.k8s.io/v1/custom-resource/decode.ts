/**
 * Decodes custom resources: metadata as of every object, everything else by the structural schema of the version. Unknown fields are
 * reported and dropped, nulls that count as absent are removed, and metadata of embedded resources becomes canonical. Types are not checked
 * here: that is validation, with its own messages. Unchanged parts keep their identity.
 */
import { DecodeError } from "../../../machinery/codec/decode-error.ts";
import { decodeBySchema, type Decoded } from "../../../machinery/codec/decode.ts";
import { describeFieldError } from "../../../machinery/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { schemaOf } from "../../../schemas.ts";
import { pruneNulls } from "../schema/default.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { coerceMetadata, MetadataError } from "../schema/metadata.ts";
import { pruneUnknownFields } from "../schema/prune.ts";

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

export interface DecoderOptions {
  /** Undefined: the version has no structural schema. */
  readonly schema: JsonSchema | undefined;
  /** `spec.preserveUnknownFields` of definitions that older servers stored. */
  readonly preservesUnknown: boolean;
}

/** Decodes a body. Throws DecodeError. */
export function decodeCustomResource(value: Json, options: DecoderOptions): Decoded {
  if (!isObject(value)) throw new DecodeError("json: cannot unmarshal into Go value of type map[string]interface {}");
  const unknownFields: string[] = [];
  const metadata = decodeMetadata(value["metadata"], unknownFields);
  const rest = decodeRest(value, options, unknownFields);
  return { object: withMetadata(rest, metadata), unknownFields };
}

/** Decodes a stored object: invalid metadata fields of very old objects are dropped, and a missing generation is repaired. */
export function decodeStoredCustomResource(value: Json, options: DecoderOptions): Decoded {
  if (!isObject(value)) throw new DecodeError("it is not an object");
  const { metadata } = value;
  const decoded = decodeMetadataLeniently(metadata);
  const repaired = (decoded?.["generation"] ?? 0) === 0 ? { ...decoded, generation: 1 } : decoded;
  const rest = decodeRest(value, options, undefined);
  return { object: withMetadata(rest, repaired), unknownFields: [] };
}

function decodeMetadata(metadata: Json | undefined, unknownFields: string[]): JsonObject | undefined {
  if (metadata === undefined) return undefined;
  const { object, unknownFields: unknown } = decodeBySchema(metadata ?? {}, schemaOf(OBJECT_META));
  unknownFields.push(...unknown.map((path) => `metadata.${path}`));
  return object as JsonObject;
}

function decodeMetadataLeniently(metadata: Json | undefined): JsonObject | undefined {
  try {
    return decodeMetadata(metadata, []);
  } catch (error) {
    if (!(error instanceof DecodeError) || !isObject(metadata)) throw error;
    const valid = Object.entries(metadata).flatMap(([name, member = null]) => Object.entries(decodedField(name, member)));
    return Object.fromEntries(valid);
  }
}

/** The decoded field alone, or nothing if it is invalid. */
function decodedField(name: string, member: Json): JsonObject {
  try {
    return decodeMetadata(Object.fromEntries([[name, member]]), []) ?? {};
  } catch (error) {
    if (error instanceof DecodeError) return {};
    throw error;
  }
}

/** `unknownFields`: absent if they need not be reported. */
function decodeRest(object: JsonObject, { schema, preservesUnknown }: DecoderOptions, unknownFields: string[] | undefined): JsonObject {
  const pruned = preservesUnknown ? object : pruneAndReport(object, schema, unknownFields);
  try {
    return coerceMetadata(pruned, schema, "", (path) => void unknownFields?.push(path)) as JsonObject;
  } catch (error) {
    if (error instanceof MetadataError) throw new DecodeError(describeFieldError(error.error));
    throw error;
  }
}

function pruneAndReport(object: JsonObject, schema: JsonSchema = {}, unknownFields: string[] | undefined): JsonObject {
  const unknown: string[] = [];
  const kept = pruneUnknownFields(object, schema, { isResource: true, onUnknown: (path) => void unknown.push(path) });
  unknownFields?.push(...unknown.sort());
  return pruneNulls(kept, schema) as JsonObject;
}

function withMetadata(object: JsonObject, metadata: JsonObject | undefined): JsonObject {
  return metadata === undefined || metadata === object["metadata"] ? object : { ...object, metadata };
}
