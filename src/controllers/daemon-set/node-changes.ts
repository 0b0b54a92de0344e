/**
 * Which DaemonSets are queued by a change of a node: those that it starts or stops to run on. Heartbeats change neither labels nor taints
 * and queue nothing.
 */
import { daemonSets } from "../../api/apps/v1/daemon-set.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Change, KeysOf } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { placementsOf } from "./placement.ts";

export const daemonSetsOfNode: KeysOf<Node> = function* (change, read) {
  if (isIrrelevant(change)) return;
  const { is, object, previous } = change;
  for (const daemonSet of read.list(daemonSets)) {
    const placements = placementsOf(daemonSet);
    const before = is === "deleted" ? placements.on(object) : previous === undefined ? "away" : placements.on(previous);
    const now = is === "deleted" ? "away" : placements.on(object);
    if (before !== now) yield keyOf(daemonSet);
  }
};

function isIrrelevant({ is, object, previous }: Change<Node>): boolean {
  if (is !== "updated" || previous === undefined) return false;
  return deepEqual(object.metadata.labels, previous.metadata.labels) && deepEqual(object.spec?.taints, previous.spec?.taints);
}
