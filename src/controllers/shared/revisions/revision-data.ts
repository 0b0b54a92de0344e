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
export function revisionData(template: PodTemplateSpec): Json {
  return sorted(patchOf(template));
}

/** The text of a template's data. */
export function revisionText(template: PodTemplateSpec): string {
  return writeStableJson(patchOf(template));
}

function patchOf(template: PodTemplateSpec): Json {
  return { spec: { template: { ...template, [DIRECTIVE]: "replace" } } };
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] ?? null)]));
}

/** The text of a revision's data. */
export function textOf({ data = null }: ControllerRevision): string {
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
