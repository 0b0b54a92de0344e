/**
 * Decodes a body into an object of the expected kind: by media type to JSON, checked against the schema, normalised, defaulted. Unknown and
 * duplicate fields become an error, warnings or nothing, as the client requested (fieldValidation).
 */
import { cannotBeHandled, completeKind, readTypeMeta, noTypeMeta, unrecognized } from "../../api/machinery/codec/body-error.ts";
import { decodeBySchema } from "../../api/machinery/codec/decode.ts";
import { DecodeError } from "../../api/machinery/codec/decode-error.ts";
import { invalid } from "../../api/machinery/field-error.ts";
import { isJsonSyntaxError, writeJson } from "../../api/machinery/codec/json.ts";
import type { NumberLiterals } from "../../api/machinery/codec/json-parser.ts";
import { BUILT_IN_TYPES, negotiateContentType, PROTOBUF_TYPE, YAML_TYPE } from "../../api/machinery/codec/media-type.ts";
import { decodeEnvelope, decodeProtobuf } from "../../api/machinery/codec/protobuf/protobuf.ts";
import {
  describeMistake,
  mistakeSentences,
  strictDecodingSentence,
  strictWarnings,
  type FieldValidation,
} from "../../api/machinery/codec/strict.ts";
import {
  apiVersionOf,
  type GroupVersionKind,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type ManagedFieldsEntry,
} from "../../api/machinery/object.ts";
import type { ServedVersion } from "../../api/machinery/resource.ts";
import type { ObjectSchema } from "../../api/machinery/schema.ts";
import { badRequest, invalidObject, type StatusError } from "../../api/machinery/status-error.ts";
import type { RequestOptions } from "../../api/machinery/transport.ts";
import type { RequestBody, RequestContext } from "../framework/request.ts";
import { parsedJson, parsedYaml, type BytesBody } from "./parsed-bytes.ts";

/** The type that a path expects. */
export interface ExpectedType {
  readonly kind: GroupVersionKind;
  /** Further accepted versions, which are not served. */
  readonly olderVersions?: readonly string[];
  readonly schema: ObjectSchema;
  /** Decodes in place of the schema. */
  readonly decode?: ServedVersion["decode"];
}

export interface SentObject {
  /** Without managedFields. */
  readonly object: KubeObject;
  /** Present if the client sent any, also an empty list, which clears all ownership. */
  readonly sentManagedFields?: readonly ManagedFieldsEntry[];
}

export function decodeBody(
  expected: ExpectedType,
  body: RequestBody | undefined,
  { options, context }: { readonly options: RequestOptions; readonly context: RequestContext },
): SentObject {
  const validation = fieldValidationOf(options);
  if (body === undefined) throw unrecognized(expected.kind.kind, "EOF", new Uint8Array());
  if (body.form === "patch") throw badRequest("a patch cannot be sent in place of an object");
  const parsed = body.form === "object" ? decodeObject(expected, body.object) : decodeBytes(expected, body, validation);
  context.trail?.audit?.received(parsed.object);
  const sentences = parsed.mistakes();
  if (sentences.length > 0 && validation === "Strict")
    throw cannotBeHandled(expected.kind, expected.kind.kind, strictDecodingSentence(sentences));
  if (sentences.length > 0 && validation === "Warn") strictWarnings(sentences).forEach((warning) => context.warn(warning));
  const sent = splitManagedFields(parsed.object);
  return parsed.clearsManagedFields === true ? { ...sent, sentManagedFields: [] } : sent;
}

/**
 * Options in a body (DeleteOptions). As old clients require, they may have a version of any group; unknown fields are ignored, and errors
 * do not name the type.
 */
export function decodeOptions({ kind, schema }: ExpectedType, body: RequestBody): JsonObject {
  if (body.form === "patch") throw badRequest("a patch cannot be sent in place of options");
  try {
    if (body.form === "object") return decodeBySchema(body.object, schema).object as JsonObject;
    const { found, value, literals } = readOptions(kind, body, schema);
    if (found.kind === kind.kind) return decodeBySchema(value ?? {}, schema, literals).object as JsonObject;
    const version = JSON.stringify(apiVersionOf(found));
    throw badRequest(`no kind ${JSON.stringify(found.kind)} is registered for version ${version} in scheme "pkg/runtime/scheme.go:111"`);
  } catch (error) {
    if (isJsonSyntaxError(error)) throw badRequest(noTypeMeta(error.message), error);
    if (error instanceof DecodeError) throw badRequest(error.message, error);
    throw error;
  }
}

function readOptions(
  expected: GroupVersionKind,
  body: BytesBody,
  schema: ObjectSchema,
): { readonly found: GroupVersionKind; readonly value: Json; readonly literals?: NumberLiterals } {
  const mediaType = negotiateContentType(body.contentType, BUILT_IN_TYPES);
  if (mediaType === PROTOBUF_TYPE) {
    const envelope = decodeEnvelope(body.bytes);
    return { found: completeKind(envelope, expected), value: decodeProtobuf(envelope.raw, schema) };
  }
  const source: Source = mediaType === YAML_TYPE ? parsedYaml(body) : parsedJson(body, { duplicates: false });
  return { ...source, found: completeKind(readTypeMeta(source.value), expected) };
}

/** Validated by write-options.ts. */
export function fieldValidationOf({ fieldValidation }: RequestOptions): FieldValidation {
  return fieldValidation === "Strict" || fieldValidation === "Ignore" ? fieldValidation : "Warn";
}

interface Parsed {
  readonly object: JsonObject;
  /** An empty list of managedFields was sent, which decoding drops. */
  readonly clearsManagedFields?: boolean;
  mistakes(): readonly string[];
}

const NO_MISTAKES = () => [];

function decodeObject({ schema, kind, decode }: ExpectedType, object: JsonObject): Parsed {
  const decoded = decodeAs({ schema, kind, decode }, object, kind);
  return { object: decoded.object, mistakes: NO_MISTAKES };
}

function decodeBytes(expected: ExpectedType, body: BytesBody, validation: FieldValidation): Parsed {
  const mediaType = negotiateContentType(body.contentType, BUILT_IN_TYPES);
  if (mediaType === PROTOBUF_TYPE) return { object: fromProtobuf(expected, body.bytes), mistakes: NO_MISTAKES };
  const source: Source = mediaType === YAML_TYPE ? fromYaml(expected, body) : fromJson(expected, body, validation);
  const found = typeOf(expected, source.value, body.bytes);
  const { object, unknownFields } = decodeAs(expected, source.value, found, source.literals);
  return {
    object,
    clearsManagedFields: hasEmptyManagedFields(source.value),
    mistakes: () => guidedMistakes(body) ?? mistakesOf(expected, body, source, unknownFields),
  };
}

/** A type with its own decoder finds unknown fields after all duplicates, as upstream. */
function mistakesOf({ schema, decode }: ExpectedType, { bytes }: BytesBody, source: Source, unknownFields: readonly string[]) {
  const { duplicates = [], ...rest } = source;
  if (decode === undefined) return mistakeSentences({ body: bytes, schema, ...source, unknownFields });
  const repeated = duplicates.map((path) => describeMistake({ what: "duplicate", path }));
  return [...repeated, ...mistakeSentences({ body: bytes, schema, ...rest, unknownFields })];
}

/** A large body, which was parsed by its type. */
function guidedMistakes({ parsed }: BytesBody): readonly string[] | undefined {
  return parsed?.as === "json" && parsed.isGuided ? parsed.json.mistakes.map(describeMistake) : undefined;
}

interface Source {
  readonly value: Json;
  readonly duplicates?: readonly string[];
  readonly yamlDuplicates?: readonly string[];
  readonly literals?: NumberLiterals;
}

function hasEmptyManagedFields(value: Json): boolean {
  const managedFields = ((value as JsonObject | null)?.["metadata"] as JsonObject | null | undefined)?.["managedFields"];
  return Array.isArray(managedFields) && managedFields.length === 0;
}

function fromJson({ kind }: ExpectedType, body: BytesBody, validation: FieldValidation): Source {
  try {
    return parsedJson(body, { duplicates: validation !== "Ignore" });
  } catch (error) {
    if (!isJsonSyntaxError(error)) throw error;
    throw unrecognized(kind.kind, noTypeMeta(error.message), body.bytes);
  }
}

function fromYaml({ kind }: ExpectedType, body: BytesBody): Source {
  try {
    const { value, duplicates } = parsedYaml(body);
    return { value, yamlDuplicates: duplicates };
  } catch (error) {
    throw unrecognized(kind.kind, error as Error, body.bytes);
  }
}

function fromProtobuf(expected: ExpectedType, bytes: Uint8Array): JsonObject {
  const envelope = openEnvelope(expected, bytes);
  const found = completeKind(envelope, expected.kind);
  checkKind(expected, found, null);
  if (expected.decode !== undefined) throw cannotBeHandled(found, expected.kind.kind, NO_PROTOBUF);
  const object = decodeProtobuf(envelope.raw, expected.schema);
  return { ...object, apiVersion: apiVersionOf(found), kind: found.kind };
}

const NO_PROTOBUF =
  "object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message";

function openEnvelope({ kind }: ExpectedType, bytes: Uint8Array): ReturnType<typeof decodeEnvelope> {
  try {
    return decodeEnvelope(bytes);
  } catch (error) {
    throw unrecognized(kind.kind, error as Error, bytes);
  }
}

function typeOf(expected: ExpectedType, value: Json, bytes: Uint8Array): GroupVersionKind {
  try {
    const typeMeta = readTypeMeta(value);
    // A custom resource has no Go type that could be decoded without its kind.
    if (expected.decode !== undefined && typeMeta.kind === "") throw new DecodeError(`Object 'Kind' is missing in '${writeJson(value)}'`);
    // And without a type nothing completes its version.
    if (expected.decode !== undefined && typeMeta.apiVersion === "") throw wrongVersion(expected.kind, "");
    return completeKind(typeMeta, expected.kind);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unrecognized(expected.kind.kind, error, bytes);
  }
}

function decodeAs(
  expected: ExpectedType,
  value: Json,
  found: GroupVersionKind,
  literals?: NumberLiterals,
): { readonly object: JsonObject; readonly unknownFields: readonly string[] } {
  checkKind(expected, found, value);
  try {
    const { object, unknownFields } = expected.decode?.(value ?? {}) ?? decodeBySchema(value ?? {}, expected.schema, literals);
    return { object: typed(object as JsonObject, found), unknownFields };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw cannotBeHandled(found, expected.kind.kind, error);
  }
}

/** With the kind and version that the path implies, if the body omits them. */
function typed(object: JsonObject, { group, version, kind }: GroupVersionKind): JsonObject {
  const apiVersion = apiVersionOf({ group, version });
  const metadata = object["metadata"] ?? {};
  if (object["kind"] === kind && object["apiVersion"] === apiVersion && object["metadata"] === metadata) return object;
  return { ...object, kind, apiVersion, metadata };
}

/** Upstream decodes a custom resource of any kind and rejects it when it validates it. */
export function wrongKind(expected: GroupVersionKind, found: GroupVersionKind, value: Json): StatusError {
  const metadata = isObject(value) ? value["metadata"] : undefined;
  const name = isObject(metadata) ? metadata["name"] : undefined;
  const errors =
    found.kind === expected.kind
      ? [invalid("apiVersion", apiVersionOf(found), `must be ${apiVersionOf(expected)}`)]
      : [invalid("kind", found.kind, `must be ${expected.kind}`)];
  return invalidObject(found, typeof name === "string" ? name : "", errors);
}

function checkKind({ kind, olderVersions = [], decode }: ExpectedType, found: GroupVersionKind, value: Json): void {
  const { group, version } = kind;
  if (found.group !== group || (found.version !== version && !olderVersions.includes(found.version))) {
    throw wrongVersion(kind, apiVersionOf(found));
  }
  if (found.kind === kind.kind) return;
  if (decode !== undefined) throw wrongKind(kind, found, value);
  throw cannotBeHandled(
    found,
    kind.kind,
    `converting (${version}.${found.kind}) to (${group === "" ? "core" : group}.${kind.kind}): unknown conversion`,
  );
}

function wrongVersion(expected: GroupVersionKind, found: string): StatusError {
  return badRequest(`the API version in the data (${found}) does not match the expected API version (${apiVersionOf(expected)})`);
}

function splitManagedFields(object: JsonObject): SentObject {
  const sent = object as KubeObject;
  const { managedFields } = sent.metadata;
  if (managedFields === undefined) return { object: sent };
  const { managedFields: _managedFields, ...metadata } = sent.metadata;
  return { object: { ...sent, metadata }, sentManagedFields: managedFields };
}
