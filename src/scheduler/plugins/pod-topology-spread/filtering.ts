/**
 * Hard topology spread constraints: no domain may exceed the emptiest by more than maxSkew. The cluster-wide counts are maintained
 * elsewhere; what-if changes are kept beside them, so that a copy is free. Where upstream keeps the two emptiest domains (which is correct
 * as long as only Pods of one node change), the emptiest is computed exactly here, whatever changes.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import { addTo } from "../../framework/node-sums.ts";
import type { Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { domainOf, type SpreadConstraint } from "./constraints.ts";
import { isCounted, type Domains } from "./domains.ts";

const REASON = "node(s) didn't match pod topology spread constraints";
const TOO_FAR_AHEAD: Rejection = { reasons: [REASON], resolvable: true };
const IN_NO_DOMAIN: Rejection = { reasons: [`${REASON} (missing required label)`], resolvable: false };

/** One constraint with its domains. */
export interface Spread {
  readonly constraint: SpreadConstraint;
  readonly domains: Domains;
  /** 1 if the Pod itself matches. */
  readonly self: 0 | 1;
  /** Differences of this what-if, by domain. */
  changes: Map<string, number> | undefined;
  /** Maximum Pods of a domain before this one is added; undefined: to be computed. */
  podsMax: number | undefined;
}

export type SpreadState = readonly Spread[];

export function spreadState(pod: PodInfo, constraints: readonly SpreadConstraint[], domains: readonly Domains[]): SpreadState {
  return constraints.map((constraint, index) => ({
    constraint,
    domains: domains[index] as Domains,
    self: constraint.selector.matches(pod.labels) ? 1 : 0,
    changes: undefined,
    podsMax: undefined,
  }));
}

export function copySpreadState(state: SpreadState): SpreadState {
  return state.map(({ constraint, domains, self, changes, podsMax }) => ({
    constraint,
    domains,
    self,
    changes: changes === undefined ? undefined : new Map(changes),
    podsMax,
  }));
}

export function filterBySpread(state: SpreadState, { labels }: NodeInfo): Rejection | undefined {
  for (const spread of state) {
    const domain = domainOf(labels, spread.constraint.topologyKey);
    if (domain === undefined) return IN_NO_DOMAIN;
    const podsMax = (spread.podsMax ??= podsMaxOf(spread));
    if (podsIn(spread, domain) > podsMax) return TOO_FAR_AHEAD;
  }
  return undefined;
}

function podsIn({ domains, changes }: Spread, domain: string): number {
  const pods = domains.pods(domain);
  return changes === undefined ? pods : pods + (changes.get(domain) ?? 0);
}

function podsMaxOf(spread: Spread): number {
  const { constraint, domains, self } = spread;
  const lowest = domains.size < constraint.minDomains ? 0 : lowestPods(spread);
  return lowest + constraint.maxSkew - self;
}

function lowestPods(spread: Spread): number {
  const { domains, changes } = spread;
  const { pods, domains: equals } = domains.lowest();
  if (changes === undefined) return pods;
  let lowest = Infinity;
  let leftLowest = 0;
  for (const domain of changes.keys()) {
    lowest = Math.min(lowest, podsIn(spread, domain));
    if (domains.pods(domain) === pods) leftLowest++;
  }
  // Unless all of the emptiest have changed, one of them is still as empty.
  if (leftLowest < equals) return Math.min(lowest, pods);
  for (const [domain] of domains.entries()) lowest = Math.min(lowest, podsIn(spread, domain));
  return lowest;
}

/** Updates the state as if `other` had been added to the node (1) or removed (-1). */
export function changeSpreadState(state: SpreadState, other: PodInfo, node: NodeInfo, sign: 1 | -1): void {
  for (const spread of state) {
    const { question } = spread.domains;
    if (!isCounted(question, other)) continue;
    const domain = question.domainOf(node);
    if (domain === undefined) continue;
    spread.changes ??= new Map();
    addTo(spread.changes, domain, sign);
    spread.podsMax = undefined;
  }
}
