/** TaintToleration: rejects nodes with untolerated taints. Untolerated PreferNoSchedule taints lower the score. */
import { isTolerated, untoleratedTaint } from "../../../api/core/v1/pod/tolerations.ts";
import type { Node, Pod, Toleration } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { normalizeCounts } from "../../framework/normalize-scores.ts";
import type { Plugin, PluginFactory, PreScoreAnswer, Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";

const UNTOLERATED: Rejection = { reasons: ["node(s) had untolerated taint(s)"], resolvable: false };

const NO_TOLERATIONS: readonly Toleration[] = [];

const plugin: Plugin<undefined, readonly Toleration[]> = {
  name: "TaintToleration",

  retryOn: [
    {
      of: "node",
      changes: ["added", "taints"],
      isWorthIt: (pod, { node, previous }) => (previous === undefined || !tolerates(pod, previous)) && tolerates(pod, node),
    },
    // Tolerations can only be added.
    { of: "waiting-pod", changes: ["tolerations"] },
  ],

  filter(_state: undefined, { pod }: PodInfo, { taints }: NodeInfo): Rejection | undefined {
    if (taints.length === 0) return undefined;
    return untoleratedTaint(taints, pod.spec?.tolerations ?? NO_TOLERATIONS) === undefined ? undefined : UNTOLERATED;
  },

  preScore({ pod }: PodInfo, nodes: readonly NodeInfo[]): PreScoreAnswer<readonly Toleration[]> {
    // Without any such taint all nodes score equally, as usual.
    if (!nodes.some(isAvoided)) return { is: "skip" };
    return { is: "ready", state: pod.spec?.tolerations ?? NO_TOLERATIONS };
  },

  score(tolerations: readonly Toleration[], _pod: PodInfo, { taints }: NodeInfo): number {
    let count = 0;
    for (const taint of taints) {
      if (taint.effect === "PreferNoSchedule" && !isTolerated(taint, tolerations)) count++;
    }
    return count;
  },

  normalizeScores(_state: readonly Toleration[], _pod: PodInfo, scores: Float64Array): void {
    normalizeCounts(scores, { reverse: true });
  },
};

export const taintToleration: PluginFactory = {
  name: plugin.name,
  make: () => plugin,
};

function tolerates({ spec: podSpec }: Pod, { spec }: Node): boolean {
  const taints = spec?.taints;
  return taints === undefined || untoleratedTaint(taints, podSpec?.tolerations ?? NO_TOLERATIONS) === undefined;
}

function isAvoided({ taints }: NodeInfo): boolean {
  return taints.some(({ effect }) => effect === "PreferNoSchedule");
}
