/**
 * The annotations in which autoscaling/v1 carries the fields that it lacks. They exist in that version only: objects of other versions, and
 * stored ones, do not have them.
 */
import type { ObjectMeta } from "../../machinery/object.ts";

export const METRICS = "autoscaling.alpha.kubernetes.io/metrics";
export const CURRENT_METRICS = "autoscaling.alpha.kubernetes.io/current-metrics";
export const CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions";
export const BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior";

const ALL: readonly string[] = [
  METRICS,
  CURRENT_METRICS,
  CONDITIONS,
  BEHAVIOR,
  "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
  "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

export type Annotations = Readonly<Record<string, string>>;

/** Without these; itself if it has none of them. */
export function withoutRoundTripAnnotations(metadata: ObjectMeta): ObjectMeta {
  const { annotations } = metadata;
  if (annotations === undefined || !ALL.some((name) => Object.hasOwn(annotations, name))) return metadata;
  const kept = Object.entries(annotations).filter(([name]) => !ALL.includes(name));
  const { annotations: _, ...rest } = metadata;
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

/** With these added; itself if none exist. */
export function withAnnotations(metadata: ObjectMeta, added: Annotations): ObjectMeta {
  return Object.keys(added).length === 0 ? metadata : { ...metadata, annotations: { ...metadata.annotations, ...added } };
}
