/**
 * Required pod affinity and anti-affinity. A node is in one domain per topology key (a zone, a rack, itself), so the question is asked per
 * domain: how many matching Pods are there? The cluster-wide counts are maintained elsewhere; what-if changes are kept beside them, so that
 * a copy is free.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Rejection } from "../../framework/plugin.ts";
import { addTo } from "../../framework/node-sums.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { DomainSums } from "./existing-terms.ts";
import type { PodCounts } from "./pod-counts.ts";
import { allCover, covers, termCovers, domainOf, type PlainTerm } from "./terms.ts";

type Labels = Readonly<Record<string, string>>;

/** Removing Pods never satisfies affinity. */
const TOO_FAR: Rejection = { reasons: ["node(s) didn't match pod affinity rules"], resolvable: false };
const TOO_NEAR: Rejection = { reasons: ["node(s) didn't match pod anti-affinity rules"], resolvable: true };
const UNWELCOME: Rejection = { reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], resolvable: true };

/** Number of matching Pods per domain of one topology key. */
export interface Presence {
  readonly topologyKey: string;
  /** They add up. */
  readonly counts: readonly ReadonlyMap<string, number>[];
  /** Differences of this what-if. */
  changes: Map<string, number> | undefined;
}

export interface AffinityState {
  readonly affinity: readonly PlainTerm[];
  readonly antiAffinity: readonly PlainTerm[];
  readonly namespaceLabels: Labels | undefined;
  /** Whether the Pod matches its own affinity terms: then it may be the first of its group. */
  readonly coversItself: boolean;
  /** Pods that match all affinity terms: one per topology key. */
  readonly friends: Presence[];
  /** Over all keys. */
  friendsTotal: number;
  /** Pods that match an anti-affinity term. */
  readonly foes: Presence[];
  /** Pods with an anti-affinity term that matches this one. */
  readonly refusing: Presence[];
}

/** Inputs of the state. */
export interface AffinityFacts extends Pick<AffinityState, "affinity" | "antiAffinity" | "namespaceLabels"> {
  readonly friends: PodCounts | undefined;
  readonly foes: readonly PodCounts[];
  readonly refusing: readonly DomainSums[];
}

export function affinityState(pod: PodInfo, { friends, foes, refusing, ...terms }: AffinityFacts): AffinityState {
  return {
    ...terms,
    coversItself: allCover(terms.affinity, pod),
    friends: friends === undefined ? [] : presences(countsOf(friends)),
    friendsTotal: friends?.total ?? 0,
    foes: presences(foes.flatMap(countsOf)),
    refusing: presences(refusing),
  };
}

function countsOf(counts: PodCounts): DomainSums[] {
  return [...counts.byKey].map(([topologyKey, sums]) => ({ topologyKey, sums }));
}

function presences(all: readonly DomainSums[]): Presence[] {
  const byKey = new Map<string, ReadonlyMap<string, number>[]>();
  for (const { topologyKey, sums } of all) {
    const counts = byKey.get(topologyKey);
    if (counts === undefined) byKey.set(topologyKey, [sums]);
    else counts.push(sums);
  }
  return [...byKey].map(([topologyKey, counts]) => ({ topologyKey, counts, changes: undefined }));
}

export function copyAffinityState(state: AffinityState): AffinityState {
  return { ...state, friends: state.friends.map(copy), foes: state.foes.map(copy), refusing: state.refusing.map(copy) };
}

function copy({ topologyKey, counts, changes }: Presence): Presence {
  return { topologyKey, counts, changes: changes === undefined ? undefined : new Map(changes) };
}

export function filterByAffinity(state: AffinityState, { labels }: NodeInfo): Rejection | undefined {
  if (state.friends.length > 0 && !hasFriends(state, labels)) return TOO_FAR;
  if (isPresent(state.foes, labels)) return TOO_NEAR;
  if (isPresent(state.refusing, labels)) return UNWELCOME;
  return undefined;
}

function hasFriends(state: AffinityState, labels: Labels): boolean {
  let areThere = true;
  for (const presence of state.friends) {
    const domain = domainOf(labels, presence.topologyKey);
    if (domain === undefined) return false;
    if (areThere && count(presence, domain) <= 0) areThere = false;
  }
  return areThere || (state.friendsTotal === 0 && state.coversItself);
}

function isPresent(presences: readonly Presence[], labels: Labels): boolean {
  for (const presence of presences) {
    const domain = domainOf(labels, presence.topologyKey);
    if (domain !== undefined && count(presence, domain) > 0) return true;
  }
  return false;
}

function count({ counts, changes }: Presence, domain: string): number {
  let sum = changes === undefined ? 0 : (changes.get(domain) ?? 0);
  for (const some of counts) sum += some.get(domain) ?? 0;
  return sum;
}

/** Updates the state as if `other` had been added to the node (1) or removed (-1). */
export function changeAffinityState(state: AffinityState, pod: PodInfo, other: PodInfo, { labels }: NodeInfo, sign: 1 | -1): void {
  if (allCover(state.affinity, other)) {
    for (const presence of state.friends) {
      if (change(presence, labels, sign)) state.friendsTotal += sign;
    }
  }
  for (const term of state.antiAffinity) {
    if (covers(term, other)) change(presenceOf(state.foes, term.topologyKey), labels, sign);
  }
  for (const term of other.requiredAntiAffinity) {
    if (termCovers(term, pod, state.namespaceLabels)) change(presenceOf(state.refusing, term.topologyKey), labels, sign);
  }
}

function change(presence: Presence, labels: Labels, sign: 1 | -1): boolean {
  const domain = domainOf(labels, presence.topologyKey);
  if (domain === undefined) return false;
  presence.changes ??= new Map();
  addTo(presence.changes, domain, sign);
  return true;
}

function presenceOf(presences: Presence[], topologyKey: string): Presence {
  const found = presences.find((candidate) => candidate.topologyKey === topologyKey);
  if (found !== undefined) return found;
  const made: Presence = { topologyKey, counts: [], changes: undefined };
  presences.push(made);
  return made;
}
