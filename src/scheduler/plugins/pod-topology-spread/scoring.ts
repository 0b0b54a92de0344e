/**
 * Soft topology spread constraints: few matching Pods in a node's domains are good. A topology key with few domains has many Pods in each,
 * so the counts are weighted by (the logarithm of) the number of domains: nodes would otherwise not matter beside zones.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import { SCORE_MAX } from "../../framework/plugin.ts";
import { domainOf, hasAllKeys, type SpreadConstraint } from "./constraints.ts";
import { HOSTNAME_LABEL } from "./default-constraints.ts";

export interface PodCounts {
  pods(domain: string): number;
}

export interface SpreadScoring {
  readonly constraints: readonly SpreadConstraint[];
  /** Whether nodes without one of the keys get 0. Not so for the system defaults: nodes without a zone are used, too. */
  readonly needsAllKeys: boolean;
  /** In constraint order: by domain, and for host names by node name. */
  readonly counts: readonly PodCounts[];
  /** In the order of the constraints. */
  readonly weights: readonly number[];
}

/** Weights of the constraints among the feasible nodes. */
export function domainWeights(
  constraints: readonly SpreadConstraint[],
  nodes: readonly NodeInfo[],
  { needsAllKeys }: Pick<SpreadScoring, "needsAllKeys">,
): readonly number[] {
  const seen = constraints.map(() => new Set<string | undefined>());
  let counted = 0;
  for (const { labels } of nodes) {
    if (needsAllKeys && !hasAllKeys(labels, constraints)) continue;
    counted++;
    for (let index = 0; index < constraints.length; index++) {
      const { topologyKey } = constraints[index] as SpreadConstraint;
      // As upstream, a missing label is a domain too.
      if (topologyKey !== HOSTNAME_LABEL) seen[index]?.add(domainOf(labels, topologyKey));
    }
  }
  return constraints.map(({ topologyKey }, index) => Math.log((topologyKey === HOSTNAME_LABEL ? counted : (seen[index]?.size ?? 0)) + 2));
}

/** The higher, the more Pods are there already: `evenScores` reverses it. */
export function scoreSpread(scoring: SpreadScoring, { name, labels }: NodeInfo): number {
  const { constraints, needsAllKeys, counts, weights } = scoring;
  if (needsAllKeys && !hasAllKeys(labels, constraints)) return 0;
  let score = 0;
  for (let index = 0; index < constraints.length; index++) {
    const { topologyKey, maxSkew } = constraints[index] as SpreadConstraint;
    const domain = domainOf(labels, topologyKey);
    if (domain === undefined) continue;
    const pods = (counts[index] as PodCounts).pods(topologyKey === HOSTNAME_LABEL ? name : domain);
    // maxSkew reduces the difference.
    score += pods * (weights[index] as number) + (maxSkew - 1);
  }
  return Math.round(score);
}

/** The emptiest gets most. */
export function evenScores({ constraints, needsAllKeys }: SpreadScoring, scores: Float64Array, nodes: readonly NodeInfo[]): void {
  const isLeftOut = (index: number): boolean => needsAllKeys && !hasAllKeys((nodes[index] as NodeInfo).labels, constraints);
  let lowest = Infinity;
  let highest = 0;
  for (let index = 0; index < scores.length; index++) {
    if (isLeftOut(index)) continue;
    const score = scores[index] as number;
    if (score < lowest) lowest = score;
    if (score > highest) highest = score;
  }
  for (let index = 0; index < scores.length; index++) {
    if (isLeftOut(index)) scores[index] = 0;
    else if (highest === 0) scores[index] = SCORE_MAX;
    else scores[index] = Math.trunc((SCORE_MAX * (highest + lowest - (scores[index] as number))) / highest);
  }
}
