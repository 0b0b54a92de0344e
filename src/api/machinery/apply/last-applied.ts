/**
 * The bridge from `kubectl apply` without to `kubectl apply` with --server-side: the annotation in which the former keeps what it applied.
 * What it says and the live object still has is kubectl's own, so kubectl may take it without a conflict; and as long as an object has
 * the annotation, an apply by kubectl keeps it up to date, so that the way back works too.
 */
import type { Json, JsonObject } from "../object.ts";
import type { ObjectSchema } from "../schema.ts";
import { compareObjects } from "./compare.ts";
import { jsonOf } from "./field-path.ts";
import { FieldSet } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { isObject } from "./shape.ts";
import { describeMistakes } from "./validate.ts";

/** Only kubectl, under its default name, is taken for the author of the annotation. */
export const KUBECTL = "kubectl";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** All annotations of an object together; a larger object is refused. Upstream's number. */
const ANNOTATIONS_MAX_BYTES = 256 * 1024;

/** The fields that the annotation of `live` says kubectl applied and that still are as it applied them. */
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
    // Anybody may write the annotation; one that is no JSON says nothing.
    return undefined;
  }
}

/** `object`, its annotation saying what was applied just now; unchanged if it has none. */
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
