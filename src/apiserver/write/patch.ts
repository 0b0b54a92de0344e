/**
 * Applies a patch to the stored object. JSON patch, merge patch and strategic merge change the object in the version of the request;
 * server-side apply merges by field ownership. The result is decoded and defaulted like a whole object.
 */
import { applySteps } from "../../api/machinery/apply/apply.ts";
import { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import { decodeBySchema } from "../../api/machinery/codec/decode.ts";
import { DecodeError } from "../../api/machinery/codec/decode-error.ts";
import { isJsonSyntaxError, writeJson } from "../../api/machinery/codec/json.ts";
import type { NumberLiterals } from "../../api/machinery/codec/json-parser.ts";
import { parseContentType, unsupportedMediaType } from "../../api/machinery/codec/media-type.ts";
import {
  describeMistake,
  jsonPatchSentences,
  mistakeSentences,
  patchError,
  strictApplyError,
  strictPatchError,
  strictWarnings,
} from "../../api/machinery/codec/strict.ts";
import { required } from "../../api/machinery/field-error.ts";
import { parseApiVersion, type Json, type JsonObject, type KubeObject } from "../../api/machinery/object.ts";
import { applyJsonPatch, unknownJsonPatchFields } from "../../api/machinery/patch/json-patch.ts";
import { jsonPatchLiterals } from "../../api/machinery/patch/json-patch-literals.ts";
import { applyMergePatch, mergePatchOf } from "../../api/machinery/patch/merge-patch.ts";
import { goText, wrongGoType } from "../../api/machinery/patch/patch-error.ts";
import { applyStrategicMergePatch, strategicMergePatchOf } from "../../api/machinery/patch/strategic-merge.ts";
import type { ObjectSchema } from "../../api/machinery/schema.ts";
import { badRequest, StatusError } from "../../api/machinery/status-error.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { PatchType } from "../../api/machinery/transport.ts";
import type { ApiRequest, RequestBody } from "../framework/request.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { fieldValidationOf, wrongKind, type ExpectedType } from "./decode-body.ts";
import { parsedJson, parsedYaml, type BytesBody } from "./parsed-bytes.ts";
import { fieldWriter, type OtherVersions } from "./field-manager.ts";
import { checkWriteOptions } from "./write-options.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import type { NextObject } from "../framework/storage/writes.ts";
import { ignoredFields } from "../framework/storage/ignored-fields.ts";

const MEDIA_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** Types without a strategic merge. */
const UNTYPED_PATCHES = Object.keys(MEDIA_TYPES).filter((mediaType) => MEDIA_TYPES[mediaType] !== "strategic");

export interface Patch {
  readonly type: PatchType;
  readonly value: Json;
  /** Errors of strict field validation in the patch itself, before it is applied. */
  readonly mistakes: readonly string[];
  /** Duplicate keys of an apply, which is YAML. */
  readonly yamlDuplicates: readonly string[];
  /** By the paths of the numbers in the patched object. */
  readonly literals?: NumberLiterals;
}

export function readPatch(body: RequestBody | undefined): Patch {
  if (body === undefined || body.form === "object") throw unsupportedMediaType(Object.keys(MEDIA_TYPES));
  if (body.form === "patch") return { type: body.type, value: body.patch, mistakes: [], yamlDuplicates: [] };
  const mediaType = parseContentType(body.contentType)?.mediaType ?? "";
  const type = Object.hasOwn(MEDIA_TYPES, mediaType) ? MEDIA_TYPES[mediaType] : undefined;
  if (type === undefined) throw new StatusError("UnsupportedMediaType", "415: Unsupported Media Type", { details: {} });
  if (type === "apply") return readApply(body);
  try {
    const { value, duplicates, literals } = parsedJson(body);
    const patch = { type, value, mistakes: patchMistakes(type, value, duplicates), yamlDuplicates: [] };
    return literals === undefined ? patch : { ...patch, ...patchedLiterals(type, value, literals) };
  } catch (error) {
    if (isJsonSyntaxError(error)) throw badRequest(type === "strategic" ? error.message : `error decoding patch: ${error.message}`, error);
    throw error;
  }
}

function patchMistakes(type: PatchType, value: Json, duplicates: readonly string[]): readonly string[] {
  const repeated = duplicates.map((path) => ({ what: "duplicate", path }) as const);
  return type === "json" ? [...jsonPatchSentences(repeated), ...unknownJsonPatchFields(value)] : repeated.map(describeMistake);
}

/** A strategic merge accepts `1.0` as an integer, as upstream, and so does YAML. */
function patchedLiterals(type: PatchType, value: Json, literals: NumberLiterals): Pick<Patch, "literals"> {
  if (type === "strategic") return {};
  return { literals: type === "json" ? jsonPatchLiterals(value, literals) : literals };
}

function readApply(body: BytesBody): Patch {
  try {
    const { value, duplicates } = parsedYaml(body);
    return { type: "apply", value, mistakes: [], yamlDuplicates: duplicates };
  } catch (error) {
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${(error as Error).message}`, error);
  }
}

/** The patch type must suit the resource, and the options the patch type. */
export function checkPatchOptions({ type }: Patch, { options }: ApiRequest, { resource }: Endpoint): void {
  if (type === "strategic" && resource.isTyped === false) throw unsupportedMediaType(UNTYPED_PATCHES);
  const errors = [];
  if (type === "apply" && (options.fieldManager ?? "") === "") {
    errors.push(required("fieldManager", "is required for apply patch"));
  }
  if (type !== "apply" && options.force !== undefined) {
    errors.push({ type: "FieldValueForbidden", field: "force", body: "Forbidden: may not be specified for non-apply patch" } as const);
  }
  checkWriteOptions(options, "PatchOptions", errors);
}

export interface PatchCall extends OtherVersions {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  readonly patch: Patch;
}

/** In steps, between which a large request yields. */
export function patchedObject(server: ServerContext, call: PatchCall, current: StoredObject | undefined): Generator<void, NextObject> {
  const { endpoint, request, patch } = call;
  return patch.type === "apply" ? applied(server, call, current) : patched(endpoint, request, patch, current as StoredObject);
}

function* patched(endpoint: Endpoint, request: ApiRequest, patch: Patch, current: StoredObject): Generator<void, NextObject> {
  const shown = shownTo(patch, current, endpoint) as JsonObject;
  const changed = patchValue(patch, shown, endpoint.schema);
  yield;
  const { schema, served, resource } = endpoint;
  const object = decodePatchedValue({ schema, kind: resource.kind, decode: served.decode }, request, patch, { shown, changed });
  const { managedFields, ...metadata } = object.metadata;
  const sent = sentClaims(changed) ?? managedFields;
  yield;
  const isSameClaims = managedFields === (shown["metadata"] as JsonObject)["managedFields"];
  const next = endpoint.served.defaults?.({ ...object, metadata }) ?? { ...object, metadata };
  return {
    object: next,
    // Removing managedFields leaves the ownership unchanged, as for a client that does not know them.
    ...(isSameClaims || sent === undefined ? {} : { sentManagedFields: sent }),
    // A patch without a resourceVersion keeps that of the stored object, which then is the newest.
    resourceVersion: metadata.resourceVersion ?? "",
  };
}

/** An empty list, which decoding drops, clears all ownership. */
function sentClaims(changed: Json): readonly [] | undefined {
  const metadata = (changed as JsonObject)["metadata"] as JsonObject | undefined;
  const claims = metadata?.["managedFields"];
  return Array.isArray(claims) && claims.length === 0 ? [] : undefined;
}

/** The document that a patch applies to. It has managedFields only if the patch refers to them, since they must be parsed. */
function shownTo(patch: Patch, current: StoredObject, { served }: Endpoint): KubeObject {
  const object = current.in(served);
  if (!mentionsManagedFields(patch)) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: current.managed().entries() } };
}

function mentionsManagedFields({ type, value }: Patch): boolean {
  if (type === "json") return writeJson(value).includes("/metadata/managedFields");
  const metadata = (value as JsonObject | null)?.["metadata"];
  return typeof metadata === "object" && metadata !== null && Object.hasOwn(metadata, "managedFields");
}

/** The result of a patch other than apply. */
export function patchValue({ type, value }: Patch, shown: JsonObject, schema: ObjectSchema): Json {
  switch (type) {
    case "json":
      return applyJsonPatch(shown, value);
    case "merge":
      return applyMergePatch(shown, mergePatchOf(value));
    default:
      return applyStrategicMergePatch(shown, strategicMergePatchOf(value), schema);
  }
}

/** An empty document has no kind and applies nothing. */
export function configurationOf(value: Json): JsonObject {
  if (value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as JsonObject;
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${wrongGoType(value, "map[string]interface {}")}`);
}

export function decodePatchedValue(
  { schema, kind, decode }: Pick<ExpectedType, "schema" | "decode"> & { readonly kind: string },
  { options, context }: ApiRequest,
  patch: Patch,
  { shown, changed }: { readonly shown: JsonObject; readonly changed: Json },
): KubeObject {
  if (changed === shown && patch.mistakes.length === 0) return shown as KubeObject;
  const validation = fieldValidationOf(options);
  const repeated = () => (patch.type === "strategic" ? goText(patch.value) : writeJson(changed));
  try {
    if (patch.type !== "strategic") checkUnchangedKind(changed, { kind, shown: shown as KubeObject, isTyped: decode === undefined });
    const { object, unknownFields } = decode?.(changed) ?? decodeBySchema(changed, schema, patch.literals);
    // Upstream visits the patched fields by name.
    const unknown = mistakeSentences({ body: new Uint8Array(), schema, unknownFields: unknownFields.toSorted() });
    const sentences = [...patch.mistakes, ...unknown];
    if (sentences.length > 0 && validation === "Strict") throw strictPatchError(sentences, repeated());
    if (sentences.length > 0 && validation === "Warn") strictWarnings(sentences).forEach((warning) => context.warn(warning));
    // A strategic merge knows its type from the path.
    const next = { ...(object as KubeObject), kind, apiVersion: (shown as KubeObject).apiVersion };
    return next.metadata === undefined ? { ...next, metadata: { name: "" } } : next;
  } catch (error) {
    if (error instanceof DecodeError) throw patchError(error.message, repeated());
    throw error;
  }
}

/** Upstream looks up the type that the patched object names, and finds none. */
function checkUnchangedKind(
  changed: Json,
  { kind, shown, isTyped }: { readonly kind: string; readonly shown: KubeObject; readonly isTyped: boolean },
): void {
  if (typeof changed !== "object" || changed === null) return;
  const next = changed as JsonObject;
  if (next["kind"] === kind && next["apiVersion"] === shown.apiVersion) return;
  const [asKind, asVersion] = [textOf(next["kind"]), textOf(next["apiVersion"])];
  const [expected, found] = [parseApiVersion(shown.apiVersion), parseApiVersion(asVersion)];
  if (!isTyped && asKind !== "" && expected !== undefined && found !== undefined) {
    throw wrongKind({ ...expected, kind }, { ...found, kind: asKind }, changed);
  }
  throw new DecodeError(
    `no kind ${JSON.stringify(asKind)} is registered for version ${JSON.stringify(asVersion)} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function* applied(
  server: ServerContext,
  { endpoint, request, patch, versions }: PatchCall,
  current: StoredObject | undefined,
): Generator<void, NextObject> {
  const { options, context } = request;
  const { schema, served } = endpoint;
  const config = configurationOf(patch.value);
  const { object, managed } = yield* applySteps({
    schema,
    applied: config,
    live: current === undefined ? undefined : current.in(served),
    liveManaged: current?.managed() ?? ManagedFields.none,
    force: options.force ?? false,
    writer: fieldWriter(request, endpoint, formatTime(server.clock.now())),
    ignore: ignoredFields(endpoint, request.subresource),
    ...(versions === undefined ? {} : { versions }),
  });
  if (patch.yamlDuplicates.length > 0 && fieldValidationOf(options) === "Strict") throw strictApplyError(patch.yamlDuplicates);
  if (patch.yamlDuplicates.length > 0 && fieldValidationOf(options) === "Warn") patch.yamlDuplicates.forEach((line) => context.warn(line));
  yield;
  const decoded = decodeApplied(object, endpoint);
  yield;
  return {
    object: served.defaults?.(decoded) ?? decoded,
    managed,
    // A configuration without a resourceVersion applies to the stored one.
    resourceVersion: decoded.metadata.resourceVersion ?? "",
  };
}

/** Errors that the merge does not detect, such as invalid base64; upstream's error for them has no reason. */
function decodeApplied(object: JsonObject, { schema, served, resource }: Endpoint): KubeObject {
  try {
    return (served.decode?.(object) ?? decodeBySchema(object, schema)).object as KubeObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { metadata } = object as KubeObject;
    const kind = `${served.group}/${served.version}, Kind=${resource.kind}`;
    const what = `failed to convert new object (${metadata.namespace ?? ""}/${metadata.name}; ${kind}) to proper version`;
    throw new StatusError(
      "Unknown",
      `${what}: unable to convert unstructured object to ${kind}: error decoding from json: ${error.message}`,
    );
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
