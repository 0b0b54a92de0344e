/**
 * The data of a ControllerRevision: a strategic merge patch that restores the Pod template of a StatefulSet or DaemonSet. Its text is, byte
 * for byte, that of upstream's controllers, which compare revisions by it, and so does kubectl. Pure.
 */
import type { ControllerRevision } from "../../../api/generated/apps/v1.ts";
import type { PodTemplateSpec } from "../../../api/generated/core/v1.ts";
import { writeStableJson } from "../../../api/machinery/codec/stable-json.ts";
import type { Json, JsonObject } from "../../../api/machinery/object.ts";

const DIRECTIVE = "$patch";

/** Members are sorted at every level, so that the stored object is served with upstream's bytes. */
export function revisionData(template: PodTemplateSpec): JsonObject {
  return JSON.parse(revisionText(template)) as JsonObject;
}

/** The text of a template's data. */
export function revisionText(template: PodTemplateSpec): string {
  return dataText({ spec: { template: { ...template, [DIRECTIVE]: "replace" } } });
}

/** The text of a revision's data. */
export function textOf({ data = null }: ControllerRevision): string {
  return dataText(data);
}

function dataText(data: Json): string {
  return writeStableJson(data);
}

/** The template that a revision restores; undefined if its data has none, as one that a user created. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const template = memberOf(memberOf(data, "spec"), "template");
  if (!isObject(template)) return undefined;
  const { [DIRECTIVE]: _, ...kept } = template;
  return kept;
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
