/**
 * NodeAffinity: `nodeSelector` and required terms restrict the nodes, preferred terms score them. A profile can add terms for all Pods
 * (`addedAffinity`), which apply besides the Pod's. An invalid required term matches no node. An invalid preferred term fails the attempt,
 * as upstream: the API server only warns about it.
 */
import { nodeNamesOf, NodeTerms, PreferredNodes, preferredNodesErrors, RequiredNodes } from "../../../api/core/v1/node/node-selector.ts";
import type { Node, NodeSelector, Pod, PreferredSchedulingTerm } from "../../../api/generated/core/v1.ts";
import { describeFieldError } from "../../../api/machinery/field-error.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { normalizeCounts } from "../../framework/normalize-scores.ts";
import type { Plugin, PluginContext, PluginFactory, PreFilterAnswer, PreScoreAnswer, Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { readNodeAffinityArguments, type NodeAffinityArguments } from "./arguments.ts";

const NAME = "NodeAffinity";
const UNWANTED: Rejection = { reasons: ["node(s) didn't match Pod's node affinity/selector"], resolvable: false };
const UNWANTED_BY_PROFILE: Rejection = { reasons: ["node(s) didn't match scheduler-enforced node affinity"], resolvable: false };
const CONTRADICTORY: Rejection = { reasons: ["pod affinity terms conflict"], resolvable: false };

export const nodeAffinity: PluginFactory<NodeAffinityArguments> = {
  name: NAME,
  readArguments: readNodeAffinityArguments,
  make: (_context: PluginContext, args: NodeAffinityArguments) => makePlugin(args),
};

function makePlugin({ addedAffinity = {} }: NodeAffinityArguments): Plugin<RequiredNodes, PreferredNodes | undefined> {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: wishes = [] } =
    addedAffinity;
  const added = needed === undefined ? undefined : new NodeTerms(needed);
  const addedWishes = wishes.length === 0 ? undefined : new PreferredNodes(wishes);

  return {
    name: NAME,

    retryOn: [
      {
        of: "node",
        changes: ["added", "labels"],
        isWorthIt: (pod, { node, previous }) => (added === undefined || added.matches(node)) && isNewlyMeant(pod, node, previous),
      },
    ],

    preFilter({ pod }: PodInfo): PreFilterAnswer<RequiredNodes> {
      const terms = requiredTerms(pod);
      if (pod.spec === undefined || (terms === undefined && pod.spec.nodeSelector === undefined && added === undefined))
        return { is: "skip" };
      const state = new RequiredNodes(pod.spec);
      const nodes = terms === undefined ? undefined : nodeNamesOf(terms);
      if (nodes === undefined) return { is: "ready", state };
      return nodes.size === 0 ? { is: "rejected", rejection: CONTRADICTORY } : { is: "ready", state, nodes };
    },

    filter(required: RequiredNodes, _pod: PodInfo, { node }: NodeInfo): Rejection | undefined {
      if (added !== undefined && !added.matches(node)) return UNWANTED_BY_PROFILE;
      return required.matches(node) ? undefined : UNWANTED;
    },

    preScore({ pod }: PodInfo): PreScoreAnswer<PreferredNodes | undefined> {
      const own = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
      if (own === undefined && addedWishes === undefined) return { is: "skip" };
      return { is: "ready", state: own === undefined ? undefined : understood(own) };
    },

    score(own: PreferredNodes | undefined, _pod: PodInfo, { node }: NodeInfo): number {
      return (addedWishes?.score(node) ?? 0) + (own?.score(node) ?? 0);
    },

    normalizeScores(_state: PreferredNodes | undefined, _pod: PodInfo, scores: Float64Array): void {
      normalizeCounts(scores, { reverse: false });
    },
  };
}

function requiredTerms({ spec }: Pod): NodeSelector | undefined {
  return spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
}

/** Throws with upstream's message. */
function understood(wishes: readonly PreferredSchedulingTerm[]): PreferredNodes {
  const problems = new Set(Array.from(preferredNodesErrors(wishes, ""), describeFieldError));
  if (problems.size === 0) return new PreferredNodes(wishes);
  const text = [...problems].join(", ");
  throw new Error(`running PreScore plugin "${NAME}": ${problems.size === 1 ? text : `[${text}]`}`);
}

/** Other changes of a matching node cannot help: this plugin has not rejected it. */
function isNewlyMeant({ spec }: Pod, node: Node, previous: Node | undefined): boolean {
  if (spec === undefined) return false;
  const required = new RequiredNodes(spec);
  return required.matches(node) && (previous === undefined || !required.matches(previous));
}
