/** The remedy "roll back" of a Deployment whose previous template had available Pods: what `kubectl rollout undo` does. */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { ClusterView, Seen } from "./cluster-view.ts";
import { patch, type Remedy } from "./explainer.ts";
import type { PodSource } from "./pod-template.ts";

const REVISION = "deployment.kubernetes.io/revision";

export function rollBack(view: ClusterView, { subject, object }: PodSource): readonly Remedy[] {
  // Of an incomplete view nothing is tried.
  if (subject.resource !== "deployments.apps" || !view.isWhole) return [];
  const current = revisionOf(object);
  const sets = view.ownedBy(object, "replicasets.apps").filter((set) => revisionOf(set) < current);
  const [previous] = sets.toSorted((a, b) => revisionOf(b) - revisionOf(a));
  if (previous === undefined) return [];
  const template = withoutHash(previous.spec.template);
  const changes = [patch(subject, { spec: { template: exactly(object.spec.template, template) } })];
  return [{ text: `Roll back to revision ${revisionOf(previous)} (ReplicaSet ${previous.metadata.name})`, changes, goal: subject }];
}

function revisionOf(object: Seen): number {
  return Number(object.metadata.annotations?.[REVISION] ?? 0);
}

function withoutHash(template: Seen): Seen {
  const { "pod-template-hash": _hash, ...labels } = template.metadata.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** A merge patch that makes `from` equal to `to`: members that are missing in `to` are removed. */
function exactly(from: JsonObject, to: JsonObject): JsonObject {
  const isPlain = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
  const result: Record<string, JsonObject[string]> = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[name], to[name]];
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    result[name] = after === undefined ? null : isPlain(before) && isPlain(after) ? exactly(before, after) : after;
  }
  return result;
}
