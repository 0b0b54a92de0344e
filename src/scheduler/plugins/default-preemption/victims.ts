/**
 * Whom to evict from one node so that a Pod fits. Everybody of lower priority is taken off in thought; if the Pod then fits, they are put
 * back one by one, as long as it still does: first those whose eviction would violate a budget, and the more important ones first. Who
 * cannot be put back is a victim. So there are never more than needed, though not always the fewest possible: upstream's trade.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { FilterStates, WhatIf } from "../../framework/plugin.ts";
import { Cost, leastCost } from "./cost.ts";
import type { DisruptionBudgets } from "./disruption-budgets.ts";
import type { Rankings } from "./importance.ts";

/** The Pod that looks for a place, and what it knows. */
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
  /** It would do, but it is no better than the best so far; found out before all victims were known. */
  | { readonly is: "no-better"; readonly isViolating: boolean }
  | { readonly is: "refused"; readonly reasons: readonly string[] }
  /** The Pod fits without evicting anybody, though a filter has refused the node: two filters contradict each other. */
  | { readonly is: "fits" };

const NO_VICTIMS: NodeAnswer = { is: "refused", reasons: ["No preemption victims found for incoming pod"] };
const NO_BETTER: NodeAnswer = { is: "no-better", isViolating: false };
const NO_BETTER_VIOLATING: NodeAnswer = { is: "no-better", isViolating: true };
const FITS: NodeAnswer = { is: "fits" };

/** `best`: what the best node so far costs. Whatever is certain not to cost less is not looked at to the end. */
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

/** A node without those who might be evicted. */
interface ClearedNode {
  readonly node: NodeInfo;
  readonly cleared: NodeInfo;
  /** As they are for `cleared`; they are changed. */
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
