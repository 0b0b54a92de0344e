/**
 * Migration from client-side to server-side `kubectl apply`: the annotation with the last applied configuration. The fields in it that the
 * live object still has are kubectl's own, so kubectl may take them over without a conflict; and as long as an object has the annotation, a
 * server-side apply by kubectl updates it, so that the way back works too.
 */
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ObjectSchema } from "../schema.ts";
import { compareObjects } from "./compare.ts";
import { jsonOf } from "./field-path.ts";
import { FieldSet } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { describeMistakes } from "./validate.ts";

/** Only kubectl, under its default manager name, is treated as the author of the annotation. */
export const KUBECTL = "kubectl";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Maximum size of all annotations of an object; a larger object is rejected. Upstream's number. */
const ANNOTATIONS_MAX_BYTES = 256 * 1024;

/** The fields in the annotation of `live` that still have the value that kubectl applied. */
export function fieldsOfLastApplied(schema: ObjectSchema, live: JsonObject, apiVersion: string): FieldSet {
  const lastApplied = parse(lastAppliedOf(live));
  if (lastApplied === undefined || lastApplied["apiVersion"] !== apiVersion) return FieldSet.empty;
  if (describeMistakes(schema, lastApplied) !== undefined || describeMistakes(schema, live) !== undefined) return FieldSet.empty;
  const { added, modified, removed } = compareObjects(schema, lastApplied, live);
  return fieldsOf(schema, lastApplied).difference(modified).difference(added).difference(removed);
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const { metadata } = object;
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  return isObject(annotations) ? annotations : undefined;
}

function lastAppliedOf(object: JsonObject): string {
  const text = annotationsOf(object)?.[LAST_APPLIED];
  return typeof text === "string" ? text : "";
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    // Any client may write the annotation; malformed JSON is ignored.
    return undefined;
  }
}

/** `object` with its annotation set to the applied configuration; unchanged if it has none. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  if (lastAppliedOf(object) === "") return object;
  const text = `${jsonOf(withoutLastApplied(applied))}\n`;
  if (text === lastAppliedOf(object)) return object;
  const { [LAST_APPLIED]: _old, ...others } = annotationsOf(object) ?? {};
  const annotations = { ...others, [LAST_APPLIED]: text };
  return withAnnotations(object, sizeBytes(annotations) > ANNOTATIONS_MAX_BYTES ? others : annotations);
}

function withoutLastApplied(applied: JsonObject): JsonObject {
  const annotations = annotationsOf(applied);
  if (annotations?.[LAST_APPLIED] === undefined) return applied;
  const { [LAST_APPLIED]: _old, ...others } = annotations;
  return withAnnotations(applied, others);
}

function withAnnotations(object: JsonObject, annotations: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), annotations } };
}

function sizeBytes(annotations: JsonObject): number {
  const encoder = new TextEncoder();
  let size = 0;
  for (const [name, value] of Object.entries(annotations)) size += encoder.encode(name + (typeof value === "string" ? value : "")).length;
  return size;
}
