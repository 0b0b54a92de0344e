/**
 * The template generation of a DaemonSet: how often its template has changed, counted from 1. It was a field in removed API versions; in
 * apps/v1 it is an annotation, which every DaemonSet has and only the server changes.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { DaemonSet } from "../../generated/apps/v1.ts";
import { badRequest } from "../../machinery/status-error.ts";
import { readInt64 } from "./annotated-number.ts";

export const TEMPLATE_GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";

/** Normalized as upstream does: absent means 0. */
export function withReadableGeneration(daemonSet: DaemonSet): DaemonSet {
  return withGeneration(daemonSet, generationOf(daemonSet));
}

export function withFirstGeneration(daemonSet: DaemonSet): DaemonSet {
  return generationOf(daemonSet) < 1n ? withGeneration(daemonSet, 1n) : daemonSet;
}

/** The client's value is ignored. */
export function withNextGeneration(next: DaemonSet, previous: DaemonSet): DaemonSet {
  const isSame = deepEqual(next.spec?.template, previous.spec?.template);
  return withGeneration(next, generationOf(previous) + (isSame ? 0n : 1n));
}

export function withGenerationOf(previous: DaemonSet, next: DaemonSet): DaemonSet {
  return withGeneration(next, generationOf(previous));
}

export function isSameGeneration(a: DaemonSet, b: DaemonSet): boolean {
  return generationOf(a) === generationOf(b);
}

function generationOf({ metadata }: DaemonSet): bigint {
  const text = metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  if (text === undefined) return 0n;
  return readInt64(text, (parsing) => badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ${parsing}`));
}

function withGeneration(daemonSet: DaemonSet, generation: bigint): DaemonSet {
  const { metadata } = daemonSet;
  const text = generation.toString();
  if (metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION] === text) return daemonSet;
  return { ...daemonSet, metadata: { ...metadata, annotations: { ...metadata.annotations, [TEMPLATE_GENERATION_ANNOTATION]: text } } };
}
