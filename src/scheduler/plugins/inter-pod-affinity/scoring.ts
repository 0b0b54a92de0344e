/**
 * Preferred pod affinity: scores a node by the Pod's preferences, and by those of existing Pods. Each matching Pod adds its term's weight
 * to every node of its domain.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import { SCORE_MAX } from "../../framework/plugin.ts";
import type { AffinityTerm, PodInfo } from "../../framework/pod-info.ts";
import type { TermsOf } from "./existing-terms.ts";
import { domainOf } from "./terms.ts";

/** Weight of the Pods per domain of one topology key. */
export interface Wish {
  readonly topologyKey: string;
  readonly sums: ReadonlyMap<string, number>;
  /** Per unit of `sums`; below 0: anti-affinity. */
  readonly weight: number;
}

/**
 * Terms of existing Pods about an incoming one. A required term was satisfied when its Pod was placed; more matches are still preferred.
 */
export function wishesOfExisting(hardPodAffinityWeight: number): TermsOf {
  return (pod: PodInfo, yieldTerm: (term: AffinityTerm, weight: number) => void): void => {
    if (hardPodAffinityWeight > 0) for (const term of pod.requiredAffinity) yieldTerm(term, hardPodAffinityWeight);
    for (const { term, weight } of pod.preferredAffinity) yieldTerm(term, weight);
    for (const { term, weight } of pod.preferredAntiAffinity) yieldTerm(term, -weight);
  };
}

export function scoreWishes(wishes: readonly Wish[], { labels }: NodeInfo): number {
  let score = 0;
  for (const { topologyKey, sums, weight } of wishes) {
    const domain = domainOf(labels, topologyKey);
    if (domain !== undefined) score += weight * (sums.get(domain) ?? 0);
  }
  return score;
}

/** The best gets 100 and the worst 0; if all are equal, 0 each. */
export function stretchScores(scores: Float64Array): void {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const score of scores) {
    if (score < lowest) lowest = score;
    if (score > highest) highest = score;
  }
  const range = highest - lowest;
  for (let index = 0; index < scores.length; index++) {
    scores[index] = range > 0 ? Math.trunc(SCORE_MAX * (((scores[index] as number) - lowest) / range)) : 0;
  }
}
