/**
 * How much a node is wished for: by what the Pod prefers to be near to or far from, and by what the Pods that are there think of it. Each
 * Pod that counts gives its term's weight to every node of its domain.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import { SCORE_MAX } from "../../framework/plugin.ts";
import type { AffinityTerm, PodInfo } from "../../framework/pod-info.ts";
import type { TermsOf } from "./existing-terms.ts";
import { domainOf } from "./terms.ts";

/** What the Pods of each domain of one topology key are worth. */
export interface Wish {
  readonly topologyKey: string;
  readonly sums: ReadonlyMap<string, number>;
  /** Of each unit of `sums`; below 0: to keep away from. */
  readonly weight: number;
}

/** What the Pods that are there think of a newcomer. What one must be near to it was near to when it was placed; more of it is still welcome. */
export function wishesOfExisting(hardPodAffinityWeight: number): TermsOf {
  return (pod: PodInfo, tell: (term: AffinityTerm, weight: number) => void): void => {
    if (hardPodAffinityWeight > 0) for (const term of pod.requiredAffinity) tell(term, hardPodAffinityWeight);
    for (const { term, weight } of pod.preferredAffinity) tell(term, weight);
    for (const { term, weight } of pod.preferredAntiAffinity) tell(term, -weight);
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
