/**
 * PodTopologySpread: spreads matching Pods evenly over zones, nodes or other topology domains. Hard constraints reject nodes; soft ones
 * lower their score. Pods without constraints are spread by default over nodes and zones.
 *
 * All counts are maintained from cycle to cycle (node-sums.ts); a state is valid until the plugin is called with another snapshot. Upstream
 * behaviour: kube-scheduler plugin "PodTopologySpread".
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { NodeHistory, NodeSums } from "../../framework/node-sums.ts";
import type { Plugin, PluginFactory, PreFilterAnswer, PreScoreAnswer } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { Snapshot } from "../../framework/snapshot.ts";
import { readPodTopologySpreadArguments, type PodTopologySpreadArguments } from "./arguments.ts";
import { hasOwnConstraints, ownConstraints, type SpreadConstraint, type WhenUnsatisfiable } from "./constraints.ts";
import { defaultConstraints, HOSTNAME_LABEL, SYSTEM_CONSTRAINTS } from "./default-constraints.ts";
import type { Domains } from "./domains.ts";
import { changeSpreadState, copySpreadState, filterBySpread, spreadState, type SpreadState } from "./filtering.ts";
import { spreadRetryRules } from "./hints.ts";
import type { PodsByNode } from "./pods-by-node.ts";
import { domainsOf, podsByNode } from "./questions.ts";
import { domainWeights, evenScores, scoreSpread, type SpreadScoring } from "./scoring.ts";

const NAME = "PodTopologySpread";
const SKIP = { is: "skip" } as const;

export const podTopologySpread: PluginFactory<PodTopologySpreadArguments> = {
  name: NAME,
  readArguments: readPodTopologySpreadArguments,
  make: ({ cluster }, args): Plugin<SpreadState, SpreadScoring> => {
    const isSystem = args.defaultingType === "System";
    const written = isSystem ? SYSTEM_CONSTRAINTS : args.defaultConstraints;
    const constraintsOf = (pod: Pod, when: WhenUnsatisfiable): readonly SpreadConstraint[] =>
      hasOwnConstraints(pod) ? ownConstraints(pod, when) : defaultConstraints(pod, when, written, cluster);
    const counts = new Counts();
    return {
      name: NAME,
      retryOn: spreadRetryRules((pod) => constraintsOf(pod, "DoNotSchedule")),
      preFilter: (pod, snapshot) => preFilter(counts, pod, constraintsOf(pod.pod, "DoNotSchedule"), snapshot),
      filter: (state, _pod, node) => filterBySpread(state, node),
      copyState: copySpreadState,
      podAdded: (state, _pod, added, node) => changeSpreadState(state, added, node, 1),
      podRemoved: (state, _pod, removed, node) => changeSpreadState(state, removed, node, -1),
      preScore: (pod, nodes, snapshot) => {
        const constraints = constraintsOf(pod.pod, "ScheduleAnyway");
        return preScore(counts, pod, { constraints, nodes, snapshot, needsAllKeys: hasOwnConstraints(pod.pod) || !isSystem });
      },
      score: (scoring, _pod, node) => scoreSpread(scoring, node),
      normalizeScores: (scoring, _pod, scores, nodes) => evenScores(scoring, scores, nodes),
    };
  },
};

/** Maintained from cycle to cycle. */
class Counts {
  readonly #history = new NodeHistory();
  readonly byDomain = new NodeSums<Domains>(this.#history);
  readonly byNode = new NodeSums<PodsByNode>(this.#history);
}

function preFilter(
  { byDomain }: Counts,
  pod: PodInfo,
  constraints: readonly SpreadConstraint[],
  snapshot: Snapshot,
): PreFilterAnswer<SpreadState> {
  if (constraints.length === 0) return SKIP;
  const domains = constraints.map((constraint) => domainsOf(byDomain, pod, constraint, { snapshot, needed: constraints }));
  return { is: "ready", state: spreadState(pod, constraints, domains) };
}

interface ScoringTask extends Pick<SpreadScoring, "constraints" | "needsAllKeys"> {
  readonly nodes: readonly NodeInfo[];
  readonly snapshot: Snapshot;
}

function preScore({ byDomain, byNode }: Counts, pod: PodInfo, task: ScoringTask): PreScoreAnswer<SpreadScoring> {
  const { constraints, needsAllKeys, nodes, snapshot } = task;
  if (constraints.length === 0) return SKIP;
  const needed = needsAllKeys ? constraints : [];
  const counts = constraints.map((constraint) =>
    constraint.topologyKey === HOSTNAME_LABEL
      ? podsByNode(byNode, pod, constraint, snapshot)
      : domainsOf(byDomain, pod, constraint, { snapshot, needed }),
  );
  return { is: "ready", state: { constraints, needsAllKeys, counts, weights: domainWeights(constraints, nodes, task) } };
}
