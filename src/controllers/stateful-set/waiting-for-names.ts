/**
 * Which StatefulSets are queued when a Pod or claim is deleted whose name they need: a Pod that they do not own, or a claim that still
 * belonged to a former Pod. Upstream retries until the name is free.
 */
import { statefulSets } from "../../api/apps/v1/stateful-set.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import type { KeysOf } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { claimTemplates } from "./claims.ts";
import { parsePodName } from "./ordinals.ts";

export const setOfDeletedPod: KeysOf<Pod> = function* ({ is, object: { metadata } }, read) {
  const name = is === "deleted" ? parsePodName(metadata.name)?.parent : undefined;
  const set = name === undefined ? undefined : read.get(statefulSets, { namespace: metadata.namespace, name });
  if (set !== undefined) yield keyOf(set);
};

export const setsOfDeletedClaim: KeysOf<PersistentVolumeClaim> = function* ({ is, object: { metadata } }, read) {
  const parent = is === "deleted" ? parsePodName(metadata.name)?.parent : undefined;
  if (parent === undefined) return;
  for (const set of read.list(statefulSets, metadata.namespace)) {
    if (claimTemplates(set).some((template) => parent === `${template.metadata.name}-${set.metadata.name}`)) yield keyOf(set);
  }
};
