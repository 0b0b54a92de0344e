/**
 * Selects the victims of one node so that a Pod fits. All Pods of lower priority are removed hypothetically; if the Pod then fits, they are
 * reprieved one by one as long as it still does: first those whose eviction would violate a budget, and more important ones first. The rest
 * are victims. So there are never more than needed, though not always the fewest possible: upstream's trade-off.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { FilterStates, WhatIf } from "../../framework/plugin.ts";
import { Cost, leastCost } from "./cost.ts";
import type { DisruptionBudgets } from "./disruption-budgets.ts";
import type { Rankings } from "./importance.ts";

/** The preemptor with its context. */
export interface Search {
  readonly pod: PodInfo;
  readonly whatIf: Pick<WhatIf, "filter">;
  /** The states of all filters for the cluster as it is; never changed. */
  readonly base: FilterStates;
  readonly rankings: Rankings;
  readonly budgets: DisruptionBudgets;
}

export interface Candidate {
  readonly nodeName: string;
  /** Most important first; at least one. */
  readonly victims: readonly PodInfo[];
  readonly cost: Cost;
}

export type NodeAnswer =
  | { readonly is: "candidate"; readonly candidate: Candidate }
  /** Feasible, but no better than the best so far; found before all victims were known. */
  | { readonly is: "no-better"; readonly isViolating: boolean }
  | { readonly is: "refused"; readonly reasons: readonly string[] }
  /** The Pod fits without evictions, though a filter has rejected the node: two filters contradict each other. */
  | { readonly is: "fits" };

const NO_VICTIMS: NodeAnswer = { is: "refused", reasons: ["No preemption victims found for incoming pod"] };
const NO_BETTER: NodeAnswer = { is: "no-better", isViolating: false };
const NO_BETTER_VIOLATING: NodeAnswer = { is: "no-better", isViolating: true };
const FITS: NodeAnswer = { is: "fits" };

/** `best`: cost of the best node so far. A node that certainly costs no less is not examined completely. */
export function selectVictims(search: Search, node: NodeInfo, best: Cost | undefined): NodeAnswer {
  const { pod, whatIf, base, rankings } = search;
  const potential = rankings.below(pod.priority, node);
  const leastImportant = potential.at(-1);
  if (leastImportant === undefined) return NO_VICTIMS;

  const states = base.copy();
  const cleared = node.withoutPods(potential);
  for (const removed of potential) states.podRemoved(removed, cleared);
  const rejection = whatIf.filter(states, cleared);
  if (rejection !== undefined) return { is: "refused", reasons: rejection.reasons };

  if (best !== undefined && !leastCost(leastImportant).isBelow(best)) return NO_BETTER;
  return spare(search, { node, cleared, states, potential }, best);
}

/** A node without its potential victims. */
interface ClearedNode {
  readonly node: NodeInfo;
  readonly cleared: NodeInfo;
  /** Those for `cleared`; modified. */
  readonly states: FilterStates;
  readonly potential: readonly PodInfo[];
}

function spare({ whatIf, budgets }: Search, { node, cleared, states, potential }: ClearedNode, best: Cost | undefined): NodeAnswer {
  const order = budgets.sparingOrder(potential);
  const victims: PodInfo[] = [];
  const cost = new Cost();
  let current = cleared;
  for (let index = 0; index < order.pods.length; index++) {
    const pod = order.pods[index] as PodInfo;
    const next = current.withPod(pod);
    states.podAdded(pod, next);
    if (whatIf.filter(states, next) === undefined) {
      current = next;
      continue;
    }
    states.podRemoved(pod, current);
    victims.push(pod);
    cost.add(pod, { isViolation: index < order.violating });
    if (best !== undefined && !cost.isBelow(best)) return cost.violations > 0 ? NO_BETTER_VIOLATING : NO_BETTER;
  }
  if (victims.length === 0) return FITS;
  const isMixed = order.violating > 0 && order.violating < order.pods.length;
  const sorted = isMixed ? potential.filter((pod) => victims.includes(pod)) : victims;
  return { is: "candidate", candidate: { nodeName: node.name, victims: sorted, cost } };
}
